//! The text of the corpus: sentences and the Markdown blocks of a body.
//!
//! The sentences mean little, but they have the shape of real ones: word lengths, punctuation, inline
//! code, links, non-ASCII characters, tables, fences. Invariant: a body has no heading, link or fence
//! that its skill's traits did not ask for.

use super::random::Random;
use super::words::{ADJECTIVES, ASIDES, CJK, CLAUSES, CODE, COMMANDS, JSON, NOUNS, SOURCE, VERBS};

/// One sentence, without a line break.
pub(crate) fn sentence(random: &mut Random) -> String {
    let mut text = match random.below(4) {
        0 => format!(
            "{} the {} {} {}",
            capital(random.pick(&VERBS)),
            random.pick(&ADJECTIVES),
            random.pick(&NOUNS),
            random.pick(&CLAUSES)
        ),
        1 => format!(
            "The {} {} is the place to {} each {}",
            random.pick(&ADJECTIVES),
            random.pick(&NOUNS),
            random.pick(&VERBS),
            random.pick(&NOUNS)
        ),
        2 => format!(
            "Never {} a {} {}; {} it first",
            random.pick(&VERBS),
            random.pick(&ADJECTIVES),
            random.pick(&NOUNS),
            random.pick(&VERBS)
        ),
        _ => format!(
            "Run `{}` to {} the {} and the {} {}",
            random.pick(&CODE),
            random.pick(&VERBS),
            random.pick(&NOUNS),
            random.pick(&ADJECTIVES),
            random.pick(&NOUNS)
        ),
    };
    if random.chance(0.12) {
        text.push_str(random.pick(&ASIDES));
    }
    text.push('.');
    text
}

/// A phrase for a description: no character that means something to YAML, no trigger hint.
pub(crate) fn plain_phrase(random: &mut Random) -> String {
    format!(
        "{} {} {}s and {} the {} {}",
        random.pick(&VERBS),
        random.pick(&ADJECTIVES),
        random.pick(&NOUNS),
        random.pick(&VERBS),
        random.pick(&ADJECTIVES),
        random.pick(&NOUNS)
    )
}

/// A phrase in another script.
pub(crate) fn foreign_phrase(random: &mut Random) -> &'static str {
    random.pick(&CJK)
}

/// The word with a capital first letter; the word lists are ASCII.
pub(crate) fn capital(word: &str) -> String {
    let mut text = word.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// A heading that is not "When to use".
pub(crate) fn heading(random: &mut Random) -> String {
    format!(
        "{} the {} {}",
        capital(random.pick(&VERBS)),
        random.pick(&ADJECTIVES),
        random.pick(&NOUNS)
    )
}

/// Appends one Markdown block and a blank line.
pub(crate) fn block(random: &mut Random, out: &mut String) {
    match random.below(20) {
        0..=4 => paragraph(random, out),
        5..=9 => list(random, out),
        10 | 11 => numbered(random, out),
        12..=15 => fence(random, out),
        16 => table(random, out),
        17 => out.push_str(&format!("> **Note:** {}\n", sentence(random))),
        18 => out.push_str(&format!("### {}\n", heading(random))),
        _ => out.push_str(&format!("## {}\n", heading(random))),
    }
    out.push('\n');
}

fn paragraph(random: &mut Random, out: &mut String) {
    for number in 0..random.between(1, 3) {
        if number > 0 {
            out.push(if random.chance(0.3) { '\n' } else { ' ' });
        }
        out.push_str(&sentence(random));
    }
    if random.chance(0.05) {
        let page = random.below(500);
        out.push_str(&format!(" See the [guide](https://docs.example.com/guide/{page}#start)."));
    }
    out.push('\n');
}

fn list(random: &mut Random, out: &mut String) {
    for _ in 0..random.between(3, 7) {
        let short = format!("{} {}", random.pick(&ADJECTIVES), random.pick(&NOUNS));
        match random.below(4) {
            0 => out.push_str(&format!("- **{short}**: {}\n", sentence(random))),
            1 => out.push_str(&format!("  - `{}` for the {short}\n", random.pick(&CODE))),
            2 => out.push_str(&format!("- [ ] {} the {short}\n", random.pick(&VERBS))),
            _ => out.push_str(&format!(
                "- {} the {short} {}\n",
                random.pick(&VERBS),
                random.pick(&CLAUSES)
            )),
        }
    }
}

fn numbered(random: &mut Random, out: &mut String) {
    for number in 1..=random.between(3, 6) {
        out.push_str(&format!(
            "{number}. {} the {} {}\n",
            capital(random.pick(&VERBS)),
            random.pick(&NOUNS),
            random.pick(&CLAUSES)
        ));
    }
}

fn fence(random: &mut Random, out: &mut String) {
    let (language, lines): (&str, &[&str]) = match random.below(4) {
        0 => ("python", &SOURCE),
        1 => ("json", &JSON),
        2 => ("", &COMMANDS),
        _ => ("bash", &COMMANDS),
    };
    out.push_str(&format!("```{language}\n"));
    for line in lines.iter().skip(random.below(3)).take(random.between(3, 12)) {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("```\n");
}

fn table(random: &mut Random, out: &mut String) {
    out.push_str("| Option | Meaning | Default |\n|---|---|---|\n");
    for _ in 0..random.between(3, 8) {
        out.push_str(&format!(
            "| `{}` | {} {} | {} |\n",
            random.pick(&CODE),
            random.pick(&ADJECTIVES),
            random.pick(&NOUNS),
            random.pick(&NOUNS)
        ));
    }
}
