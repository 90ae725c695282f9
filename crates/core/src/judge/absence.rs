//! What an expectation says that is not there, read from its words.
//!
//! That something is absent can be proven by a search that we make ourselves; of anything else it can't, whatever the judge
//! lists. An expectation of nothing else ([`Absence::Whole`]) can be proven in no other way: every text has passages that
//! don't mention prices. Behaviour ("does not crash") and what is said beside it ("X instead of Y") can be quoted.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// How far an expectation is about something that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    #[default]
    None,
    /// Among other things, or by what was done: a quote can prove it, and so can a search.
    Part,
    /// Nothing but that: only a search proves it.
    Whole,
}

fn words(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("(?ix){pattern}")).ok()
}

static NEGATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:not|no|none|never|nothing|neither|nor|cannot|zero|nicht|nichts|kein\w*|nie|pas|aucun\w*|jamais|ning[uú]n\w*|
        nunca|não|nenhum\w*|non|nessun\w*|не|нет|ни)\b | n['’]t\b | 不|没|沒|無|无|ない|없|않",
    )
});

/// They say that something is not there without a negation.
static LACK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:absent|absence|missing|free\ of|avoid\w*|omit\w*|left\ out|exclud\w*|refrain\w*|lack\w*|fehl\w*|frei\ von|
        exempt\w*\ de|libre\ de)\b",
    )
});

/// They say of what follows that it is not there, beside something else.
static WITHOUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| words(r"\b(?:without|ohne|sans|sin|sem|senza|без)\b"));

/// All of it is not there any more. That one thing was removed may be told in what is left.
static GONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:all|any|every|each|alle|jede\w*)\b .* \b(?:removed|deleted|stripped|eliminated|entfernt|gelöscht)\b",
    )
});

/// It is told: that something is not there is what is said, and a quote proves it.
static TELLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"(?:\b(?:says|states|reports|mentions|notes|explains|tells|informs|warns|confirms|concludes|indicates|admits|
        points\ out|makes\ (?:it\ )?clear|sagt|meldet|erklärt|teilt|weist|dit|indique|explique|dice|indica|explica|diz|сообщает)
        |\b(?:should|must|shall|will|to)\ (?:say|state|report|mention|note|explain|tell|inform|warn|confirm|indicate|admit))\b
        (?:[^.;]{0,40}?\b(?:that|dass|daß|que|qu|che|что)\b|\ there\ (?:is|are|was|were)\b)",
    )
});

/// What happened, and no text: a quote may show it.
static HAPPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:occur\w*|happen\w*|crash\w*|fail(?:s|ed)?|throw\w*|thrown|rais(?:e|es|ed)|aris\w*|auftr\w*|aufgetreten|
        passier\w*|survien\w*|ocurr\w*)\b",
    )
});

/// They say it beside something else, or as something that was done.
static BESIDE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:without|ohne|sans|sin|sem|senza|без|remov\w*|delet\w*|instead\ of|rather\ than|only|statt|nur|entfern\w*)\b",
    )
});

/// That something is there, is used or is said: the negation of it is the absence of a text.
static PRESENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:contain\w*|includ\w*|mention\w*|us(?:e|es|ed|ing)|ha(?:s|ve|d)|show\w*|appear\w*|remain\w*|left|exist\w*|present|
        there|found|sa(?:y|ys|id)|nam(?:e|es|ed)|refer\w*|reveal\w*|leak\w*|enth[aä]lt\w*|erwähn\w*|verwend\w*|benutz\w*|hat|haben|übrig|
        vorhanden|nenn\w*|genannt|gibt|steht|y\ a|contien\w*|mentionn\w*|utilis\w*|reste\w*|contém|conté[mn]\w*|mencion\w*|menzion\w*|usan?|utiliz\w*|
        incluy\w*|qued\w*|hay|aparec\w*|содерж\w*|упомин\w*|использ\w*|остал\w*)\b
        | 包含|含|提及|提到|使用|出现|出現|存在|有|无|無|残|留|言及|記載|포함|언급|사용|없",
    )
});

/// More than one thing may be said on both sides of these.
static AND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:and|but|yet|while|und|aber|sondern|et|mais|pero|sino|e|ma|и|но)\b | \sy\s | ; | 但 | 而且 | 并且",
    )
});

/// What is forbidden is allowed elsewhere, or up to a number.
static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r"\b(?:except|unless|outside|other\ than|more\ than|less\ than|fewer|at\ least|at\ most|beyond|ha(?:s|ve)\ to|außer|
        sauf|excepto|salvo|кроме)\b | 除",
    )
});

/// Where it must not be, and no more what.
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(r"\b(?:in|within|inside|from|anywhere|on|when|if|for|im|aus|dans|en|em|nel\w*|в)\b")
});

/// A text in quotation marks, a name as in code, or a mark that is left in drafts.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(
        r#"`(?<a>[^`]+)` | "(?<b>[^"]+)" | “(?<c>[^”]+)” | „(?<d>[^“”]+)[“”] | «(?<e>[^»]+)» | 「(?<f>[^」]+)」
        | (?:^|\s)'(?<g>[^']+)' | (?:^|\s)(?<h>--[a-z][\w-]+)
        | \b(?<i>[a-z0-9_]{2,}(?:(?:::|[._]|->)[a-z0-9_]{2,})+ | [a-z0-9_]+\(\)) | \b(?<j>(?-i:TODO|FIXME|XXX|TBD|HACK))s?\b"#,
    )
});

/// Words that any expectation may have.
const COMMON: &str = " the any are was were been being does did must should shall will can could may its this that these \
    those for with from into all each every some longer anymore der die das den dem ein eine einen ist sind wird werden \
    les des une est sont los las del una uma dos ";

fn is_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl Absence {
    /// Read from its words.
    pub fn of(text: &str) -> Self {
        let has_name = !named(text).is_empty();
        let text = &*untold(text);
        let (negated, lacks) = (is_match(&NEGATION, text), is_match(&LACK, text));
        if !negated && !lacks && !is_match(&BESIDE, text) {
            return Self::None;
        }
        // "Nothing is missing" says that all is there.
        let is_without = first(&WITHOUT, text) == Some(0) && has_name;
        let is_beside = is_match(&BESIDE, text) && !is_without;
        let lacks = lacks || is_without;
        let is_plain = negated != lacks && !is_beside && !is_match(&LIMIT, text);
        let says_so = |clause: &str| negation(clause).0 < clause.len();
        let is_alone = AND.as_ref().is_some_and(|and| and.split(text).all(says_so));
        // "No placeholders" has no verb.
        let is_article = |word: &&str| matches!(word.to_lowercase().as_str(), "the" | "a" | "any");
        let is_title = text.split_whitespace().filter(|word| !is_article(word)).count() <= 3
            && negation(text.trim_start()).0 == 0
            && !is_match(&HAPPENS, text);
        let is_text = lacks || is_match(&PRESENCE, text) || is_title;
        if is_plain && is_alone && is_text { Self::Whole } else { Self::Part }
    }
}

/// A text without names as in code: `remove_all` says nothing about what is there. As long as it was.
fn unnamed(text: &str) -> String {
    let Some(pattern) = NAMED.as_ref() else { return text.to_owned() };
    pattern
        .replace_all(text, |found: &regex::Captures<'_>| "\u{1}".repeat(found[0].len()))
        .into_owned()
}

/// A text without what it wants to be said.
fn untold(text: &str) -> Cow<'_, str> {
    let told = TELLS.as_ref().and_then(|tells| tells.find(text));
    let head = told.map(|told| &text[..told.end()]).filter(|head| negation(head).0 == head.len());
    let plain = unnamed(text);
    match head {
        Some(head) => Cow::Owned(plain.get(..head.len()).unwrap_or(head).to_owned()),
        None => Cow::Owned(plain),
    }
}

fn first(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<usize> {
    Some(pattern.as_ref()?.find(text)?.start())
}

/// Where the first negation begins and ends.
fn negation(text: &str) -> (usize, usize) {
    let places = [&NEGATION, &LACK, &WITHOUT].into_iter().filter_map(|pattern| {
        let found = pattern.as_ref()?.find(text)?;
        Some((found.start(), found.end()))
    });
    places.min().unwrap_or((text.len(), text.len()))
}

/// What has to be absent, as an expectation names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// In quotation marks, in capitals, or as in code: that very text.
    pub(super) named: Vec<String>,
    /// Names that the expectation has anywhere: some may be the files that it is about.
    pub(super) mentioned: Vec<String>,
    /// Whether something else is expected besides, which only a quote can prove.
    pub(super) has_more: bool,
    words: Vec<String>,
    text: String,
}

impl Object {
    /// What stands behind the negation, or before it where nothing is left behind it. Where more is said, of each part that
    /// says it.
    pub(super) fn of(text: &str, absence: Absence) -> Self {
        let mentioned = named(text);
        if absence == Absence::Whole {
            let part = part(text);
            return Self {
                named: named(part),
                mentioned,
                has_more: false,
                words: content(part),
                text: text.to_owned(),
            };
        }
        let told = untold(text);
        let clauses = clauses(&told);
        let is_absent = |clause: &str| {
            !is_match(&LIMIT, clause)
                && (Absence::of(clause) == Absence::Whole
                    || is_match(&WITHOUT, clause)
                    || is_match(&GONE, clause))
        };
        let absent = clauses.iter().filter(|place| is_absent(&told[(*place).clone()]));
        let names =
            absent.flat_map(|place| named(part(text.get(place.clone()).unwrap_or_default())));
        // A command that works without a flag has it all the same.
        let names = names.filter(|name| !name.starts_with("--")).collect();
        let first = clauses.first().map(|place| &told[place.clone()]).unwrap_or_default();
        let has_more =
            clauses.len() > 1 && is_match(&PRESENCE, first) && negation(first).0 == first.len();
        Self { named: names, mentioned, has_more, words: content(text), text: text.to_owned() }
    }

    /// Whether a search is about it: for a text that is named or a word of it, or by a pattern that matches it.
    pub(super) fn is_covered_by(&self, searched: &str) -> bool {
        let pattern = pattern_of(searched);
        let matches = |text: &str| match &pattern {
            Some(Ok(pattern)) => pattern.is_match(text),
            _ => false,
        };
        let words = content(&without_escapes(searched));
        let shares = |word: &String| words.iter().any(|other| is_same_word(word, other));
        // No word is in common with a class of letters.
        let is_class = || {
            static CLASS: LazyLock<Option<Regex>> =
                LazyLock::new(|| Regex::new(r"\[[^\]]+\]|\\[dpP]|[\])\w]\{\d").ok());
            self.named.is_empty() && matches!(pattern, Some(Ok(_))) && is_match(&CLASS, searched)
        };
        self.words.is_empty() || matches(&self.text) || self.words.iter().any(shares) || is_class()
    }

    /// Whether a search would find this name.
    pub(super) fn is_searched(name: &str, searched: &str) -> bool {
        if let Some(pattern) = pattern_of(searched) {
            return pattern.is_ok_and(|pattern| pattern.is_match(name));
        }
        let plain = searched.trim().trim_matches(['`', '"', '\'']).to_lowercase();
        !plain.is_empty() && name.to_lowercase().contains(&plain)
    }
}

/// The parts of a text that may say different things.
fn clauses(text: &str) -> Vec<Range<usize>> {
    let (mut start, mut found) = (0, Vec::new());
    for and in AND.as_ref().into_iter().flat_map(|and| and.find_iter(text)) {
        found.push(start..and.start());
        start = and.end();
    }
    found.push(start..text.len());
    found
}

/// The part of a text that says what is absent.
fn part(text: &str) -> &str {
    let plain = unnamed(text);
    let (start, end) = negation(&plain);
    if start == text.len() {
        // "All markers were removed from the file".
        let gone = GONE.as_ref().and_then(|gone| gone.find(&plain));
        return gone.map_or(text, |gone| &text[gone.range()]);
    }
    let behind = &text[end..];
    let place = PLACE.as_ref().and_then(|place| {
        place.find_iter(&plain[end..]).find(|at| !content(&behind[..at.start()]).is_empty())
    });
    let behind = place.map_or(behind, |place| &behind[..place.start()]);
    let is_said = !content(behind).is_empty() || !named(behind).is_empty();
    if is_said { behind } else { &text[..start] }
}

fn named(text: &str) -> Vec<String> {
    let Some(pattern) = NAMED.as_ref() else { return Vec::new() };
    let found = pattern.captures_iter(text).filter_map(|found| {
        found.iter().skip(1).flatten().next().map(|part| part.as_str().trim().to_owned())
    });
    let mut names: Vec<String> = found.filter(|name| !name.is_empty()).collect();
    names.extend(capitals(text));
    names
}

/// Words in capitals that stand for themselves; "API keys" are something else than "API".
fn capitals(text: &str) -> impl Iterator<Item = String> {
    static CAPITALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b([A-Z][A-Z0-9_]{2,})\b(?:\W*$|\W*[,;.]|\s+(?:is|are|was|were|in|left|anywhere|appears?|or|nor|mehr|markers?)\b)")
            .ok()
    });
    let plain = unnamed(text);
    let found = CAPITALS.as_ref().map(|pattern| {
        pattern.captures_iter(&plain).map(|found| found[1].to_owned()).collect::<Vec<_>>()
    });
    found.unwrap_or_default().into_iter()
}

/// The words that say what it is about, in small letters; of languages without spaces each two letters.
fn content(text: &str) -> Vec<String> {
    let is_wide = |letter: char| matches!(u32::from(letter), 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF);
    let mut found = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let word = word.to_lowercase();
        let letters: Vec<char> = word.chars().collect();
        if letters.iter().any(|&letter| is_wide(letter)) {
            found.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if letters.len() > 2 || letters.iter().any(char::is_ascii_digit) {
            found.push(word);
        }
    }
    let is_common = |word: &str| {
        COMMON.contains(&format!(" {word} "))
            || [&PRESENCE, &NEGATION, &LACK].iter().any(|pattern| {
                let found = pattern.as_ref().and_then(|pattern| pattern.find(word));
                found.is_some_and(|found| found.len() == word.len())
            })
    };
    found.retain(|word| !is_common(word));
    found
}

/// `price` and `pricing`, `log` and `logs`.
fn is_same_word(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let shorter = one.chars().count().min(other.chars().count());
    one == other || common >= 4 || (common == shorter && common >= 3)
}

fn without_escapes(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            text.push(' ');
            letters.next();
        } else {
            text.push(letter);
        }
    }
    text
}

/// A pattern of a judge may not take more than this.
const MAX_PATTERN: usize = 1 << 20;

/// The pattern that a text is, which must match anywhere in any line; nothing when it is a plain text. A text that can only be
/// meant as a pattern is one without slashes, too: as a plain text it would never be found.
pub(super) fn pattern_of(text: &str) -> Option<Result<Regex, regex::Error>> {
    static BARE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\\[bdswBDSW]|\.[*+]|\(\?|\S\|\S|\]\+|\]\*|^\^\w").ok());
    let text = text.trim();
    let between = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let slashed = between.filter(|(inner, flags)| {
        !inner.trim().is_empty() && flags.chars().all(|flag| "gimsuxy".contains(flag))
    });
    let pattern = match slashed {
        Some((inner, _)) => inner.to_owned(),
        None if is_match(&BARE, text) => text.to_owned(),
        // `*.log`
        None if text.contains('*')
            && !text.contains(char::is_whitespace)
            && !text.contains("**") =>
        {
            regex::escape(text).replace(r"\*", r"[^\s/]*")
        }
        None => return None,
    };
    let mut builder = regex::RegexBuilder::new(&pattern);
    Some(builder.case_insensitive(true).multi_line(true).crlf(true).size_limit(MAX_PATTERN).build())
}

#[cfg(test)]
mod tests;
