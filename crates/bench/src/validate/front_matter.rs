//! The front matter of a generated skill: the keys, and the description in each way of writing YAML.
//!
//! Invariant: the front matter is valid YAML unless the traits ask for the one mistake that real
//! authors make most, an unquoted colon and space in a plain description.

use super::prose;
use super::random::Random;
use super::skill::{Naming, Opening, Scalar, Traits, Trigger};
use super::words;

/// Keys outside the specification, the frequent ones first.
const EXTRA_KEYS: [fn(&mut Random) -> String; 12] = [
    |random| format!("version: {}.{}.{}\n", random.below(4), random.below(10), random.below(10)),
    |random| format!("version: \"1.{}\"\n", random.below(9)),
    |random| format!("author: {} team\n", prose::capital(random.pick(&words::DOMAINS))),
    |random| format!("author: {}-labs\n", random.pick(&words::DOMAINS)),
    |random| format!("tags: [{}, {}]\n", random.pick(&words::DOMAINS), random.pick(&words::TASKS)),
    |random| {
        format!("tags:\n  - {}\n  - {}\n", random.pick(&words::DOMAINS), random.pick(&words::TASKS))
    },
    |random| format!("category: {}\n", random.pick(&words::DOMAINS)),
    |random| format!("model: {}\n", random.pick(&["sonnet", "opus", "haiku", "inherit"])),
    |random| format!("homepage: https://example.com/{}\n", random.pick(&words::DOMAINS)),
    |random| format!("requires:\n  bins: [\"{}\"]\n", random.pick(&words::DOMAINS)),
    |random| format!("argument-hint: \"[{}]\"\n", random.pick(&words::TASKS)),
    |_| "disable-model-invocation: true\n".to_owned(),
];

/// Writes the front matter, both `---` lines included.
pub(crate) fn write(random: &mut Random, traits: &Traits, folder: &str) -> String {
    let mut out = format!("---\nname: {}\n", name(traits.naming, folder));
    description(random, traits, &mut out);
    if random.chance(0.20) {
        out.push_str(&format!(
            "license: {}\n",
            random.pick(&["MIT", "Apache-2.0", "Proprietary. LICENSE.txt has the terms"])
        ));
    }
    if random.chance(0.20) {
        allowed_tools(random, &mut out);
    }
    if random.chance(0.03) {
        out.push_str("compatibility: Needs git, docker and access to the internet\n");
    }
    if random.chance(0.40) {
        extra_keys(random, &mut out);
    }
    if random.chance(0.20) {
        metadata(random, &mut out);
    }
    out.push_str("---\n\n");
    out
}

/// The folder's name as a title: "pdf-review" is "Pdf Review".
pub(crate) fn title(folder: &str) -> String {
    folder.split('-').map(prose::capital).collect::<Vec<_>>().join(" ")
}

fn name(naming: Naming, folder: &str) -> String {
    match naming {
        Naming::Folder => folder.to_owned(),
        Naming::Shortened => folder.split_once('-').map_or(folder, |(_, rest)| rest).to_owned(),
        Naming::TitleCase => title(folder),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the count is positive and clamped"
)]
fn description(random: &mut Random, traits: &Traits, out: &mut String) {
    let count = random.long_tailed(2.2, 0.6).clamp(1.0, 9.0).round() as usize;
    let mut sentences: Vec<String> = (0..count).map(|_| plain_sentence(random)).collect();
    if random.chance(0.03) {
        sentences.push(prose::foreign_phrase(random).to_owned());
    }
    let phrase = prose::plain_phrase(random);
    match traits.trigger {
        Trigger::Hint => sentences.push(match random.below(3) {
            0 => format!("Use for tasks that {phrase}."),
            1 => format!("Use whenever you have to {phrase}."),
            _ => format!("Use when the user wants to {phrase}."),
        }),
        Trigger::Wordy => sentences.push(match random.below(2) {
            0 => format!("This skill should be used when the user asks to {phrase}."),
            _ => format!("Triggers on requests to {phrase}."),
        }),
        Trigger::Missing => {}
    }
    // Rare flaws of real descriptions: angle brackets, and more than 1,024 characters.
    if random.chance(0.0045) {
        sentences.push("Reads <file> and writes the result.".to_owned());
    }
    if random.chance(0.001) {
        while sentences.iter().map(String::len).sum::<usize>() < 1_100 {
            sentences.push(plain_sentence(random));
        }
    }
    if traits.opening == Opening::InvalidYaml {
        out.push_str(&format!("description: Important: {}\n", sentences.join(" ")));
    } else {
        scalar(traits.scalar, &sentences, out);
    }
}

fn plain_sentence(random: &mut Random) -> String {
    format!("{}.", prose::capital(&prose::plain_phrase(random)))
}

fn scalar(scalar: Scalar, sentences: &[String], out: &mut String) {
    match scalar {
        Scalar::Plain => out.push_str(&format!("description: {}\n", sentences.join(" "))),
        Scalar::DoubleQuoted => {
            out.push_str(&format!(
                "description: \"{} Note: \\\"as is\\\".\"\n",
                sentences.join(" ")
            ));
        }
        Scalar::SingleQuoted => {
            out.push_str(&format!("description: '{} It''s safe: always.'\n", sentences.join(" ")));
        }
        Scalar::PlainMultiLine => lines("description: ", sentences, out),
        Scalar::Literal => lines("description: |\n  ", sentences, out),
        Scalar::Folded => lines("description: >-\n  ", sentences, out),
    }
}

/// Wraps at words, so that a description of one sentence has several lines too.
fn lines(before: &str, sentences: &[String], out: &mut String) {
    out.push_str(before);
    let text = sentences.join(" ");
    let mut width = 0;
    for word in text.split(' ') {
        if width > 60 {
            out.push_str("\n  ");
            width = 0;
        } else if width > 0 {
            out.push(' ');
        }
        out.push_str(word);
        width += word.len() + 1;
    }
    out.push('\n');
}

fn allowed_tools(random: &mut Random, out: &mut String) {
    out.push_str(match random.below(20) {
        0 => "allowed-tools: [Read, Grep]\n",
        1 | 2 => "allowed-tools: Bash\n",
        3 => "allowed-tools: Read Grep Bash(git:*)\n",
        4 => "allowed-tools:\n  - Read\n  - Write\n  - Bash(git:*)\n",
        5..=9 => "allowed-tools: Read, Grep, Glob\n",
        _ => "allowed-tools: Read, Write, Edit, Bash, WebFetch\n",
    });
}

fn extra_keys(random: &mut Random, out: &mut String) {
    let first = random.below(EXTRA_KEYS.len());
    out.push_str(&EXTRA_KEYS[first](random));
    // A step of two never meets the other spelling of the same key.
    for step in 1..=random.below(3) {
        out.push_str(&EXTRA_KEYS[(first / 2 * 2 + 2 * step) % EXTRA_KEYS.len()](random));
    }
}

fn metadata(random: &mut Random, out: &mut String) {
    out.push_str(&format!("metadata:\n  owner: {}\n", random.pick(&words::DOMAINS)));
    if random.chance(0.43) {
        out.push_str(&format!("  priority: {}\n", random.below(9)));
    }
    if random.chance(0.5) {
        out.push_str(&format!("  short-description: {}\n", plain_sentence(random)));
    }
    if random.chance(0.3) {
        out.push_str("  install:\n    - kind: package\n      name: example-tools\n");
    }
}
