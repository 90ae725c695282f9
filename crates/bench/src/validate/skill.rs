//! One generated skill: its traits are drawn first, then its files are written from them.
//!
//! The shares are those of 20,002 public skills (the corpus that the mix was counted in). Invariant:
//! traits are drawn independently of each other, in a fixed order, so that a new trait at the end
//! leaves the others as they are.

use super::front_matter;
use super::prose;
use super::random::Random;
use super::words;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    FrontMatter,
    /// A front matter whose description holds an unquoted colon and space.
    InvalidYaml,
    /// The file starts with its first heading.
    Heading,
}

/// How the description is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Plain,
    PlainMultiLine,
    DoubleQuoted,
    SingleQuoted,
    Literal,
    Folded,
}

/// What the description says about when to use the skill.
#[derive(Clone, Copy)]
pub(crate) enum Trigger {
    Hint,
    /// "This skill should be used when ..." and the like.
    Wordy,
    Missing,
}

/// How the name relates to the folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    Folder,
    /// The folder has one word more.
    Shortened,
    /// "Pdf Review": also not kebab-case.
    TitleCase,
}

/// A flaw or oddity of the body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    None,
    LinkOutside,
    BrokenLink,
    UnclosedFence,
}

/// Everything that is drawn before a byte is written.
pub(crate) struct Traits {
    pub(crate) opening: Opening,
    pub(crate) scalar: Scalar,
    pub(crate) trigger: Trigger,
    pub(crate) naming: Naming,
    line_end: &'static str,
    when_to_use_heading: bool,
    oddity: Oddity,
    bytes: usize,
    /// The other files of the skill, by path.
    files: Vec<String>,
}

impl Traits {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are positive and clamped"
    )]
    fn draw(random: &mut Random) -> Self {
        let opening = match random.unit() {
            x if x < 0.010 => Opening::Heading,
            x if x < 0.015 => Opening::InvalidYaml,
            _ => Opening::FrontMatter,
        };
        let scalar = match random.unit() {
            x if x < 0.18 => Scalar::Literal,
            x if x < 0.24 => Scalar::Folded,
            x if x < 0.42 => Scalar::DoubleQuoted,
            x if x < 0.47 => Scalar::SingleQuoted,
            x if x < 0.51 => Scalar::PlainMultiLine,
            _ => Scalar::Plain,
        };
        let trigger = match random.unit() {
            x if x < 0.50 => Trigger::Hint,
            x if x < 0.68 => Trigger::Wordy,
            _ => Trigger::Missing,
        };
        let naming = match random.unit() {
            x if x < 0.027 => Naming::TitleCase,
            x if x < 0.091 => Naming::Shortened,
            _ => Naming::Folder,
        };
        let oddity = match random.unit() {
            x if x < 0.033 => Oddity::LinkOutside,
            x if x < 0.043 => Oddity::BrokenLink,
            x if x < 0.050 => Oddity::UnclosedFence,
            _ => Oddity::None,
        };
        Self {
            opening,
            scalar,
            trigger,
            naming,
            line_end: if random.chance(0.008) { "\r\n" } else { "\n" },
            when_to_use_heading: random.chance(0.32),
            oddity,
            bytes: random.long_tailed(5_520.0, 0.8).clamp(300.0, 120_000.0) as usize,
            files: other_files(random),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the count is positive and clamped"
)]
fn other_files(random: &mut Random) -> Vec<String> {
    let mut files = Vec::new();
    if random.chance(0.55) {
        let count = random.long_tailed(4.6, 0.9).clamp(1.0, 80.0).round() as usize;
        let kind = random.below(4);
        for number in 0..count {
            let word = words::TASKS[number % words::TASKS.len()];
            files.push(match (kind, random.below(10)) {
                (0, _) | (1, 0..=4) | (3, 0..=2) => format!("references/{word}-{number}.md"),
                (3, 3) => format!("assets/templates/{word}-{number}.json"),
                (3, 4) => format!("{word}-{number}.md"),
                (_, 9) => format!("scripts/{word}_{number}.sh"),
                _ => format!("scripts/{word}_{number}.py"),
            });
        }
    }
    if random.chance(0.105) {
        let in_root = files.is_empty() || random.chance(0.65);
        let folder = if in_root { "" } else { files[0].rsplit_once('/').map_or("", |(f, _)| f) };
        let slash = if folder.is_empty() { "" } else { "/" };
        files.push(format!("{folder}{slash}README.md"));
    }
    files
}

/// A skill in memory, ready to be written.
pub(crate) struct Skill {
    /// SKILL.md, byte for byte.
    pub(crate) text: String,
    /// The other files: path below the skill and content.
    pub(crate) files: Vec<(String, String)>,
}

/// Generates the skill that lives in `folder`.
pub(crate) fn generate(random: &mut Random, folder: &str) -> Skill {
    let traits = Traits::draw(random);
    let mut text = match traits.opening {
        Opening::Heading => String::new(),
        Opening::FrontMatter | Opening::InvalidYaml => front_matter::write(random, &traits, folder),
    };
    body(random, &traits, folder, &mut text);
    if traits.line_end != "\n" {
        text = text.replace('\n', traits.line_end);
    }
    let files = traits.files.iter().map(|path| (path.clone(), content(random, path))).collect();
    Skill { text, files }
}

fn body(random: &mut Random, traits: &Traits, folder: &str, out: &mut String) {
    out.push_str(&format!("# {}\n\n{}\n\n", front_matter::title(folder), prose::sentence(random)));
    if traits.when_to_use_heading {
        out.push_str("## When to use this skill\n\n");
        for _ in 0..random.between(2, 4) {
            out.push_str(&format!("- {}\n", prose::sentence(random)));
        }
        out.push('\n');
    }
    while out.len() < traits.bytes {
        prose::block(random, out);
    }
    let references = traits.files.iter().filter(|path| path.starts_with("references/"));
    for (number, path) in references.take(2).enumerate() {
        if number == 0 {
            out.push_str("## References\n\n");
        }
        out.push_str(&format!("- [{}]({path})\n", prose::heading(random)));
    }
    if let Some(script) = traits.files.iter().find(|path| path.starts_with("scripts/")) {
        out.push_str(&format!("\nRun `{script}` when the input is ready.\n"));
    }
    match traits.oddity {
        Oddity::None => {}
        Oddity::LinkOutside => out.push_str("\nSee [the shared guide](../../shared/guide.md).\n"),
        Oddity::BrokenLink => out.push_str("\nSee [the details](references/not-there.md).\n"),
        Oddity::UnclosedFence => out.push_str("\n```bash\nmake test\n"),
    }
}

fn content(random: &mut Random, path: &str) -> String {
    let mut out = match path.rsplit_once('.') {
        Some((_, "sh")) => "#!/usr/bin/env bash\nset -euo pipefail\n".to_owned(),
        Some((_, "py")) => "#!/usr/bin/env python3\n".to_owned(),
        Some((_, "json")) => return "{\"name\": \"template\", \"items\": []}\n".to_owned(),
        _ => format!("# {}\n\n", prose::heading(random)),
    };
    let comment = if path.starts_with("scripts/") { "# " } else { "" };
    for _ in 0..random.between(5, 40) {
        out.push_str(comment);
        out.push_str(&prose::sentence(random));
        out.push('\n');
    }
    out
}
