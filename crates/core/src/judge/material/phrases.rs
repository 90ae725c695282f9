//! Takes phrases about using a skill out of prose, and leaves the rest of each sentence as it was.
//!
//! Each mention of the skill ("the csv-tidy skill's rules") first becomes one sign. What stands around the sign then says how
//! much of the sentence is about using it: "Using X, " goes, and "the total is 42" stays. A mention that is part of no such
//! phrase becomes a pronoun, so that nothing beside it is lost; a sentence that says nothing but that goes as a whole.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::skill_mask::NAME;

/// What stands where the skill was spoken of.
const PRONOUN: &str = "it";

/// Stands for a mention of the skill.
const MENTION: char = '\u{E000}';
/// Stands for one without an English article, which may be in a sentence of another language.
const BARE: char = '\u{E001}';
/// Those from here on stand for its name alone, each for one place of the text.
const FIRST_NAME: u32 = 0xE002;
const LAST_NAME: u32 = 0xF8FF;
/// All of these, in a pattern.
const SIGN: &str = r"[\u{E000}-\u{F8FF}]";

fn is_sign(letter: char) -> bool {
    is_mention(letter) || is_name(letter)
}

fn is_mention(letter: char) -> bool {
    matches!(letter, MENTION | BARE)
}

fn is_name(letter: char) -> bool {
    (FIRST_NAME..=LAST_NAME).contains(&u32::from(letter))
}

/// Words before the skill.
const DETERMINER: &str = r"(?:\b(?:the|this|that|my|our|your|its)\s+(?:(?:available|relevant|provided|matching|appropriate|loaded|installed|bundled|right|existing)\s+)*)";
/// What a skill is called that somebody has found.
const FITTING: &str = r"(?:available|relevant|provided|matching|appropriate|loaded|installed|bundled|existing|speciali[sz]ed|dedicated|suitable|applicable|fitting)";
/// What belongs to a skill.
const BELONGINGS: &str = r"(?:files?|tools?|descriptions?|scripts?|folders?|director(?:y|ies))";
/// What a skill consists of, as people call it.
const KINDS: &str = r"(?:skills?|guides?|guidelines?|guidance|instructions?|rules?|conventions?|workflow|playbook|documentation|docs)";

/// A pattern with or without marks around it.
fn quoted(inner: &str) -> String {
    format!(r#"(?:{inner}|"{inner}"|'{inner}'|`{inner}`|\*+{inner}\*+|“{inner}”|‘{inner}’)"#)
}

/// Who is spoken of.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Patterns of the name with a word such as "skill" beside it, where any way of writing it counts.
    pub(super) beside: Vec<String>,
    /// Patterns of the name alone.
    pub(super) alone: Vec<String>,
    /// Whether "the skill" can only be this one.
    pub(super) any_skill: bool,
}

/// Which mentions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mentions {
    /// Those by name: "the skill" may be what a text is about.
    Named,
    All,
}

#[derive(Clone, Debug)]
pub(super) struct Phrases {
    named: Regex,
    /// None when the task is about skills.
    unnamed: Option<Regex>,
    alone: Option<Regex>,
}

impl Phrases {
    pub(super) fn new(names: &Names) -> Result<Self, regex::Error> {
        let name = quoted(&format!("(?:{})", names.beside.join("|")));
        let part = format!(r"(?:{DETERMINER}?\b{KINDS}\s+(?:in|of|from|for)\s+)?");
        let own = format!(r"(?:['’]s?(?:\s+(?:{KINDS}|{BELONGINGS})\b)?)?");
        let file = quoted(r"skill\.md");
        let kinds = if names.alone.is_empty() { "skills?" } else { KINDS };
        let with_name = format!(
            r"(?i){part}(?:{DETERMINER}|\ban?\s+|\b|\B){name}(?:\s+(?:agent\s+)?{kinds})+\b{own}(?:\s*\({file}\))?|\*{{0,2}}\bskills?\s+(?:used|applied|loaded|invoked|activated)\s*\*{{0,2}}[:=]\*{{0,2}}\s*{name}|{part}{DETERMINER}?\bskills?\s*(?:named|called|[:=(])?\s*{name}\)?"
        );
        let unnamed = format!(
            r"(?i)\bbase\s+directory\s+for\s+(?:this|the)\s+skill\b:?(?:\s*\S+)?|{part}(?:{DETERMINER}?{file}{own}(?:\s+files?\b)?|{DETERMINER}(?:agent\s+)?skills?\b{own}(?:\s+(?:{KINDS}|{BELONGINGS})\b)*)|\ban?\s+(?:{FITTING}\s+)+(?:agent\s+)?skills?\b|\bthere\s+(?:is|was)\s+an?\s+skill\b|\ban?\s+skill\s+(?:is\s+available|exists)\b|(?P<verb>\b(?:us(?:e|ed|ing)|load(?:ed|ing)?|check(?:ed|ing)?|invok(?:e|ed|ing)|launch(?:ed|ing)?|activat(?:e|ed|ing))\s+)(?:an?\s+|any\s+|available\s+|relevant\s+|agent\s+)*skills?\b|\bskills?\s+(?:(?:is|was)\s+)?(?:loaded|launched|activated|invoked)\b"
        );
        let alone = format!(
            r"(?i)(?P<before>(?:^|[^\p{{Alphabetic}}\d/._-])_*)(?P<name>{})(?P<after>_*(?:$|[^\p{{Alphabetic}}\d/._-]|\.(?:$|\s)))",
            names.alone.join("|")
        );
        Ok(Self {
            named: Regex::new(&with_name)?,
            unnamed: names.any_skill.then(|| Regex::new(&unnamed)).transpose()?,
            alone: (!names.alone.is_empty()).then(|| Regex::new(&alone)).transpose()?,
        })
    }

    /// The text without phrases about using the skill.
    pub(super) fn without<'t>(&self, text: &'t str, mentions: Mentions) -> Cow<'t, str> {
        let unnamed = self.unnamed.as_ref().filter(|_| mentions == Mentions::All);
        let patterns = [Some(&self.named), unnamed, self.alone.as_ref()];
        if !patterns.into_iter().flatten().any(|pattern| pattern.is_match(text)) {
            return Cow::Borrowed(text);
        }
        // Letters of our own, which mean nothing in a text.
        let mut signed: String = text.chars().filter(|letter| !is_sign(*letter)).collect();
        for pattern in [Some(&self.named), unnamed].into_iter().flatten() {
            let sign = |found: &Captures<'_>| {
                let verb = found.name("verb").map_or("", |verb| verb.as_str());
                let is_english = ARTICLE.as_ref().is_none_or(|article| article.is_match(&found[0]));
                format!("{verb}{}", if is_english { MENTION } else { BARE })
            };
            if let Cow::Owned(changed) = pattern.replace_all(&signed, sign) {
                signed = changed;
            }
        }
        let mut names = Vec::new();
        if let Some(pattern) = &self.alone {
            let sign = |found: &Captures<'_>| {
                let next =
                    u32::try_from(names.len()).ok().and_then(|count| FIRST_NAME.checked_add(count));
                let Some(sign) = next.and_then(char::from_u32).filter(|sign| is_name(*sign)) else {
                    return found[0].to_owned();
                };
                names.push(found["name"].to_owned());
                format!("{}{sign}{}", &found["before"], &found["after"])
            };
            if let Cow::Owned(changed) = pattern.replace_all(&signed, sign) {
                signed = changed;
            }
        }
        let mut kept = String::with_capacity(text.len());
        for letter in lines_without(&signed).chars() {
            let name =
                u32::from(letter).checked_sub(FIRST_NAME).and_then(|at| names.get(at as usize));
            match name {
                Some(name) => kept.push_str(name),
                None => kept.push(letter),
            }
        }
        Cow::Owned(kept)
    }
}

/// One way to speak of using the skill.
struct Step {
    pattern: Regex,
    shape: Shape,
}

/// What becomes of a phrase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// "(made with X)": goes, if nothing else is said in it.
    Aside,
    /// "generated by X" on its own, "the X says that", "X: " goes.
    Whole,
    /// "using X, ", ", as X says,": goes with its commas.
    Adverbial,
    /// "I used X to": the subject stays, if what follows needs one.
    Use,
}

/// "says", and the like: what follows is what matters.
const SAYS: &str = r"(?:says?|said|states?|tells?|told|recommends?|instructs?|requires?|suggests?|notes|explains?|asks|wants|specif(?:ies|y)|mentions?|advises|prescribes|dictates|calls\s+for)";
const BASE: &str = r"(?:use|load|follow|invoke|activate|launch|consult|apply|read|check|open|review|look\s+(?:at|for)|run|call|try|see|find)";
const PAST: &str = r"(?:used|loaded|followed|invoked|activated|launched|consulted|applied|checked|opened|reviewed|looked\s+(?:at|for)|ran|called|tried|saw|found)";
const DOING: &str = r"(?:using|loading|following|invoking|activating|launching|consulting|applying|reading|checking|opening|reviewing|looking\s+(?:at|for)|running|calling|trying)";
const ADVERBS: &str = r"(?:with\s+(?:the\s+)?help\s+(?:of|from)|with|via|through|by|(?:as\s+)?per|according\s+to|based\s+on|thanks\s+to|in\s+(?:line|accordance)\s+with|guided\s+by|as\s+(?:described|instructed|required|recommended|suggested|specified|explained|stated|told|directed|outlined|defined|laid\s+out)\s+(?:in|by)|under)";
const MADE: &str = r"(?:generated|made|created|written|produced|computed|calculated|prepared|formatted|built|powered|done|tidied|cleaned|derived)";
/// What adds nothing behind the skill.
const FILLER: &str = r"(?:\s+(?:now|first|here|again|carefully|closely|exactly|too|as\s+well|as\s+(?:a\s+|my\s+)?(?:guide|guidance|reference|instructed|described|required)|for\s+(?:(?:the|this)\s+(?:task|job|work)|this|that|it|help|guidance|reference|instructions)|to\s+(?:help|guide)(?:\s+(?:me|us))?(?:\s+with\s+(?:this|it))?)\b)*";
const SUBJECT: &str = r"\b(?:I|we|you|they|let\s+me|let['’]s|let\s+us)(?:['’](?:ll|ve|m|d|re))?(?:\s+(?:have|had|will|would|can|could|should|must|am|was|are|were|be|been|going\s+to|need\s+to|want\s+to|plan\s+to|have\s+to|first|now|then|also|just|already|next))*";

fn steps() -> Result<Vec<Step>, regex::Error> {
    let skill = quoted(SIGN);
    let link = r"(?P<link>\s+to\s+|\s*(?:[,;:—–]|\s-\s)\s*(?:(?:and|so|then|which)\b\s*)*|\s+(?:and|so)\b\s*(?:then\b\s*)?)?";
    let step = |pattern: String, shape| Ok(Step { pattern: Regex::new(&pattern)?, shape });
    let verbs = format!("(?P<base>{BASE})|(?P<past>{PAST})|(?P<doing>{DOING})");
    [
        (format!(r"\s*[(\[](?P<inner>[^()\[\]\n]*{skill}[^()\[\]\n]*)[)\]]"), Shape::Aside),
        (
            format!(
                r#"(?i)(?P<before>^|[,;—–|("'`]\s*|\s-\s+)(?:(?:automatically|report|file|page)\s+)?{MADE}(?:\s+automatically)?\s+(?:by|with|using|via|from|following|{ADVERBS})\s+{skill}{FILLER}"#
            ),
            Shape::Whole,
        ),
        (
            format!(
                r"(?i)(?P<before>^|,?\s+)as\s+{skill}\s+{SAYS}(?:\s+(?:me|us)\b)?(?:\s+to\b)?(?P<after>\s*[,:;—–])?"
            ),
            Shape::Adverbial,
        ),
        (format!(r"(?i)(?P<subject>{SUBJECT})\s+(?:{verbs})\s+{skill}{FILLER}{link}"), Shape::Use),
        (
            format!(
                r"(?i)(?P<before>^|,?\s+|\()(?:after\s+|by\s+|when\s+|on\s+)?(?:having\s+(?:{PAST}|read)|{DOING}|{ADVERBS})\s+{skill}{FILLER}(?P<after>\s*[,:;—–])?"
            ),
            Shape::Adverbial,
        ),
        (format!(r"(?i)(?P<before>^|\b(?:and|then|to)\s+|,\s+)(?:{verbs})\s+{skill}{FILLER}{link}"), Shape::Use),
        (
            format!(
                r"(?i)(?P<before>){skill}\s+(?:also\s+|then\s+)?{SAYS}(?:\s+(?:me|us|you)\b)?(?:\s+(?:that|to)\b|:)?"
            ),
            Shape::Whole,
        ),
        (format!(r"(?P<before>^){skill}\s*[:—–]\s*"), Shape::Whole),
    ]
    .into_iter()
    .map(|(pattern, shape)| step(pattern, shape))
    .collect()
}

static STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| steps().unwrap_or_default());
/// What may not be lost: numbers, quotes, code, names of files, and names in the middle of a sentence.
static FACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\d|["`“„«]|\w[./]\w|[^\s>*#-]\s+\p{Uppercase}\p{Lowercase}"#).ok()
});
/// What a mention begins with in English.
static ARTICLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)^(?:{DETERMINER}|an?\s|{KINDS}\s+(?:in|of|from|for)\s)")).ok()
});
/// What a line begins with before its first sentence.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?P<space>\s*)(?:(?P<number>\d+)(?P<dot>[.)]\s+))?(?:[-*+>#|]+\s+|<!--\s*|//+\s*|/\*+\s*)*").ok()
});
/// Marks of emphasis around a mention.
static EMPHASIS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let inner = |mark: &str| format!(r"(?:[^{mark}\s][^{mark}]*)?{SIGN}(?:[^{mark}]*[^{mark}\s])?");
    Regex::new(&format!(r"\*+(?P<a>{})\*+|\b_+(?P<b>{})_+\b", inner("*"), inner("_"))).ok()
});
/// Words that a sentence cannot end with.
static DANGLING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[\s,;:—–-]+)(?:and|then|to|by|with|because|since|as|so|but|while|the|that|which|of|in|for|from|or)\s*$|[\s,;:—–]+$").ok()
});

pub(super) fn has_fact(text: &str) -> bool {
    FACT.as_ref().is_none_or(|fact| fact.is_match(text))
}

/// All lines of a text with signs. A line that is about nothing else goes, with the empty line that parted it from others.
fn lines_without(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // How many points of a numbered list are gone, and whether the last line is.
    let (mut points, mut is_gone) = (0_u64, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let (opening, number) = opening(bare);
        if number.is_none_or(|number| number <= 1)
            && !bare.starts_with([' ', '\t'])
            && !bare.is_empty()
        {
            points = 0;
        }
        let is_after_gap = kept.is_empty() || kept.ends_with("\n\n");
        if std::mem::take(&mut is_gone) && bare.trim().is_empty() && is_after_gap {
            continue;
        }
        let rest = &bare[opening.len()..];
        let rest = if rest.contains(is_sign) { sentences_without(rest) } else { rest.to_owned() };
        if rest.contains(|letter: char| letter.is_alphanumeric() || is_sign(letter))
            || !bare.contains(is_sign)
        {
            kept.push_str(&renumbered(opening, number, points));
            kept.push_str(&rest);
            kept.push_str(&line[bare.len()..]);
        } else {
            is_gone = true;
            points += u64::from(number.is_some());
        }
    }
    if is_gone {
        // What parted the last line from the others.
        let end = kept.trim_end().len();
        let newline = if text.ends_with('\n') && end > 0 { "\n" } else { "" };
        kept.truncate(end);
        kept.push_str(newline);
    }
    kept
}

/// What a line begins with, and its number in a list.
fn opening(line: &str) -> (&str, Option<u64>) {
    let Some(found) = OPENING.as_ref().and_then(|pattern| pattern.captures(line)) else {
        return ("", None);
    };
    let number = found.name("number").and_then(|number| number.as_str().parse().ok());
    (found.get(0).map_or("", |opening| opening.as_str()), number)
}

/// The opening of a line in a list that lost so many points before it.
fn renumbered(opening: &str, number: Option<u64>, points: u64) -> Cow<'_, str> {
    match number.filter(|number| points > 0 && *number > points) {
        Some(number) => {
            Cow::Owned(opening.replacen(&number.to_string(), &(number - points).to_string(), 1))
        }
        None => Cow::Borrowed(opening),
    }
}

fn sentences_without(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut is_gone = false;
    for sentence in sentences(line) {
        if !sentence.contains(is_sign) {
            kept.push_str(sentence);
            is_gone = false;
            continue;
        }
        let bare = sentence.trim_end();
        match sentence_without(bare) {
            Some(rest) => {
                kept.push_str(&rest);
                kept.push_str(&sentence[bare.len()..]);
                is_gone = false;
            }
            None => is_gone = true,
        }
    }
    if is_gone {
        kept.truncate(kept.trim_end().len());
    }
    kept
}

/// A line in its sentences, each with the space behind it.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |(at, letter): (usize, char)| {
            let after = at + letter.len_utf8();
            let is_followed = rest[after..].starts_with(char::is_whitespace) || !letter.is_ascii();
            (matches!(letter, '.' | '!' | '?' | '。' | '！' | '？') && is_followed).then_some(after)
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let end = end + (rest[end..].len() - rest[end..].trim_start_matches([' ', '\t']).len());
        let (sentence, left) = rest.split_at(end);
        rest = left;
        Some(sentence)
    })
}

/// What a sentence says beside that the skill is used; nothing when that is all.
fn sentence_without(sentence: &str) -> Option<String> {
    // Emphasis is that of the phrase.
    let plain = EMPHASIS.as_ref().map(|pattern| pattern.replace_all(sentence, "$a$b"));
    let mut text = plain.unwrap_or(Cow::Borrowed(sentence)).into_owned();
    let is_capital = text.starts_with(|first: char| first.is_uppercase() || is_sign(first));
    // Each round takes one sign away.
    for _ in 0..sentence.chars().filter(|letter| is_sign(*letter)).count() {
        let Some(changed) = STEPS.iter().find_map(|step| step.taken(&text)) else { break };
        text = changed;
    }
    let is_left = text.contains(is_sign);
    if text.contains(is_mention) {
        if !has_fact(&text) {
            return None;
        }
        text = text.replace(MENTION, PRONOUN).replace(BARE, NAME);
    }
    let text = ended(&text);
    if !text.contains(|letter: char| letter.is_alphanumeric() || is_sign(letter))
        || (!is_left && is_remnant(&text))
    {
        return None;
    }
    Some(if is_capital { capitalised(&text) } else { text })
}

/// Whether a sentence has lost what it was about: "Let me.", "I decided."
fn is_remnant(text: &str) -> bool {
    const EMPTY: [&str; 27] = [
        "i", "ll", "ve", "m", "we", "you", "let", "me", "us", "s", "so", "first", "now", "then",
        "next", "here", "ok", "okay", "decided", "will", "going", "be", "need", "want", "start",
        "started", "begin",
    ];
    let words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).all(|word| EMPTY.contains(&word.as_str()))
}

impl Step {
    /// The text without the first phrase of this kind.
    fn taken(&self, text: &str) -> Option<String> {
        let found = self.pattern.captures(text)?;
        let all = found.get(0)?;
        let (before, after) = (&text[..all.start()], &text[all.end()..]);
        let group = |name: &str| found.name(name).map_or("", |part| part.as_str());
        Some(match self.shape {
            Shape::Aside if has_fact(group("inner")) => return None,
            Shape::Aside => joined(before, "", after),
            Shape::Whole => {
                if group("before").ends_with(['"', '\'', '`']) {
                    return Some(format!("{before}{}{after}", group("before")));
                }
                let is_begun = !before.trim().is_empty();
                let opening = group("before").trim_end_matches([',', ';', '—', '–', '-', ' ']);
                joined(
                    before,
                    opening,
                    if is_begun { after } else { after.trim_start_matches([':', ',', ' ']) },
                )
            }
            Shape::Adverbial => {
                let mark = group("after").trim();
                let is_first = before.trim().is_empty() || group("before") == "(";
                let is_enclosed = group("before").starts_with(',') && mark == ",";
                let mark = if is_first || is_enclosed { "" } else { mark };
                let opening = if group("before") == "(" { "(" } else { "" };
                joined(before, &format!("{opening}{mark}"), after)
            }
            Shape::Use => Self::used(&found, before, after),
        })
    }

    fn used(found: &Captures<'_>, before: &str, after: &str) -> String {
        let group = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let (subject, link) = (group("subject"), group("link"));
        let before = format!("{before}{}", group("before"));
        if link.trim() == "to" {
            // "I'll compute", but "I compute": "I've compute" is no English.
            let pronoun = subject.split([' ', '\'', '’']).next().unwrap_or_default();
            let stays = if group("base").is_empty() { pronoun } else { subject };
            return joined(&before, stays, after);
        }
        let is_over = after.trim_start_matches(['.', '!', '?', ')', ' ']).is_empty();
        if !link.is_empty() || is_over {
            return joined(&before, "", after);
        }
        let work = match (group("past"), group("doing")) {
            ("", "") => "work",
            ("", _) => "working",
            _ => "worked",
        };
        joined(&before, &joined(subject, work, ""), after)
    }
}

/// Texts with one space between them where there should be one.
fn joined(before: &str, between: &str, after: &str) -> String {
    let mut text = before.trim_end().to_owned();
    for next in [between.trim(), after.trim_start()] {
        let is_close = next.starts_with([',', '.', ';', ':', '!', '?', ')', ']'])
            || text.ends_with(['(', '[']);
        if !next.is_empty() && !text.is_empty() && !is_close {
            text.push(' ');
        }
        text.push_str(next);
    }
    text
}

/// A sentence without words at its end that lead to nothing.
fn ended(text: &str) -> String {
    let Some(dangling) = DANGLING.as_ref() else { return text.to_owned() };
    let body = text.trim_end_matches(['.', '!', '?']);
    let end = &text[body.len()..];
    if end.is_empty() && !body.ends_with(char::is_whitespace) && body.ends_with(':') {
        return body.to_owned();
    }
    let mut rest = body;
    while let Some(found) = dangling.find(rest).filter(|found| !found.is_empty()) {
        rest = &rest[..found.start()];
    }
    format!("{rest}{}", if rest.is_empty() { "" } else { end })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
