//! From TOML to a [`Descriptor`]: serde reads the types, this module what only the place of a text decides.
//!
//! A [`Draft`] is the table of one file. Laid over the tables that it extends it is deserialized as a whole, so that what
//! is wrong has the place that it has in its own file: an agent is read after those that it extends.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::de::{self, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use skillgauge_core::text::Position;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::template::{Presence, Slot, Template};
use super::{
    AgentName, Argument, Descriptor, Files, Login, LoginSource, Program, PromptVia, Source,
    Variables, Version, similar,
};
use crate::agent::adapter::{ADAPTERS, AdapterKind, adapter};
use crate::model::BASE_VARIABLES;

/// A mistake in a file, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    pub place: Place,
    pub message: String,
}

/// A place in a file; both numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the caller calls it.
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What one file says about an agent.
#[derive(Clone, Debug)]
pub(in crate::agent) struct Draft<'t> {
    pub(in crate::agent) name: String,
    pub(in crate::agent) extends: Option<String>,
    pub(in crate::agent) source: Source,
    text: &'t str,
    file: &'t str,
    span: Range<usize>,
    table: DeTable<'t>,
}

pub(in crate::agent) fn problem(
    file: &str,
    text: &str,
    offset: usize,
    message: impl Into<String>,
) -> Problem {
    let Position { line, column } = Position::of(text, offset.min(text.len()));
    Problem { place: Place { file: file.to_owned(), line, column }, message: message.into() }
}

impl<'t> Draft<'t> {
    /// `name` is what the table or the file is called; paths are relative to `folder`.
    pub(in crate::agent) fn new(
        (file, text): (&'t str, &'t str),
        (name, span): (&str, Range<usize>),
        mut table: DeTable<'t>,
        folder: &Path,
        source: Source,
    ) -> Self {
        let written = |key: &str| table.get(key)?.get_ref().as_str().map(str::to_owned);
        let (own_name, extends, program) =
            (written("name"), written("extends"), written("program"));
        let text_at = |span: Range<usize>, text: String| {
            Spanned::new(span, DeValue::String(Cow::Owned(text)))
        };
        if !table.contains_key("name") {
            let key = Spanned::new(span.clone(), Cow::Borrowed("name"));
            table.insert(key, text_at(span.clone(), name.to_owned()));
        }
        if let Some(program) = program.filter(|program| program.contains('/'))
            && let Some(value) = table.get_mut("program")
        {
            *value = text_at(value.span(), folder.join(program).to_string_lossy().into_owned());
        }
        let name = own_name.unwrap_or_else(|| name.to_owned());
        Self { name, extends, source, text, file, span, table }
    }

    pub(in crate::agent) fn problem(&self, message: impl Into<String>) -> Problem {
        problem(self.file, self.text, self.span.start, message)
    }

    /// Takes everything that it does not say from another.
    pub(in crate::agent) fn lay_over(&mut self, base: &Self) {
        let mut base = base.table.clone();
        base.remove("name");
        base.remove("extends");
        if self.table.contains_key("program") {
            // What lies behind one launcher does not lie behind another.
            base.remove("native");
        }
        lay_over(&mut self.table, base);
    }

    /// The descriptor, or what is missing and what contradicts itself.
    pub(in crate::agent) fn finish(&self) -> Result<Descriptor, Vec<Problem>> {
        let missing = ["adapter", "skills", "prompt"].into_iter();
        let missing: Vec<Problem> = missing
            .filter(|key| !self.table.contains_key(*key))
            .map(|key| self.problem(format!("the agent `{}` needs `{key}`", self.name)))
            .collect();
        let table = Spanned::new(self.span.clone(), self.table.clone());
        if !missing.is_empty() {
            return Err(missing);
        }
        let read = Descriptor::deserialize(toml::de::Deserializer::from(table));
        let mut descriptor = read.map_err(|error| {
            let at = error.span().map_or(self.span.start, |span| span.start);
            vec![problem(self.file, self.text, at, in_words(error.message()))]
        })?;
        if descriptor.about.is_empty() {
            descriptor.about.clone_from(&self.name);
        }
        descriptor.source = self.source.clone();
        let contradictions = contradictions(&descriptor);
        if contradictions.is_empty() {
            return Ok(descriptor);
        }
        Err(contradictions.into_iter().map(|message| self.problem(message)).collect())
    }
}

fn lay_over<'t>(own: &mut DeTable<'t>, base: DeTable<'t>) {
    for (key, value) in base {
        match own.get_mut(key.get_ref().as_ref()).map(Spanned::as_mut) {
            None => {
                own.insert(key, value);
            }
            Some(DeValue::Table(own)) => {
                if let DeValue::Table(base) = value.into_inner() {
                    lay_over(own, base);
                }
            }
            Some(_) => {}
        }
    }
}

/// serde's message; of an unknown name, the one that may have been meant instead of all that there are.
fn in_words(message: &str) -> String {
    if message == "wanted string or table" {
        return "invalid type: expected a text".to_owned();
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let (Some((what @ ("unknown field" | "unknown variant"), _)), Some(name)) =
        (message.split_once(" `"), names.next())
    else {
        return message.to_owned();
    };
    let known: Vec<&str> = names.collect();
    match similar(name, known.iter().copied()) {
        Some(meant) if what == "unknown field" => {
            format!("unknown key `{name}`; did you mean `{meant}`?")
        }
        Some(meant) => format!("there is no `{name}`; did you mean `{meant}`?"),
        None if what == "unknown field" => {
            format!("unknown key `{name}`; there are {}", known.join(", "))
        }
        None => format!("there is no `{name}`; it is one of {}", known.join(", ")),
    }
}

/// What only the whole can tell.
pub(in crate::agent) fn contradictions(descriptor: &Descriptor) -> Vec<String> {
    let mut found = Vec::new();
    let arguments = descriptor.arguments.iter().chain(&descriptor.extra_arguments);
    let slots = arguments.flat_map(Argument::templates).flat_map(Template::slots);
    let wanted = match descriptor.prompt {
        PromptVia::Argument => 1,
        PromptVia::Stdin => 0,
    };
    if slots.filter(|slot| **slot == Slot::Prompt).count() != wanted {
        found.push(
            "`arguments` must contain `{prompt}` once when `prompt` is \"argument\", and never when it is \"stdin\""
                .to_owned(),
        );
    }
    let logins: Vec<&str> = descriptor.login_variables().collect();
    for name in descriptor.pass.iter().filter(|name| logins.contains(&name.as_str())) {
        found.push(format!(
            "`{name}` holds a login; it is passed when it is the one that counts, and does not belong into `pass`"
        ));
    }
    let used = descriptor.templates().into_iter().flat_map(Template::slots);
    let used: BTreeSet<&str> = used
        .filter_map(|slot| match slot {
            Slot::Variable(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    for name in used {
        let why = if logins.contains(&name) {
            "it holds a login, which belongs into no argument and no file"
        } else if !descriptor.pass.iter().any(|pass| pass == name)
            && !BASE_VARIABLES.contains(&name)
        {
            "the agent does not get this variable; add it to `pass`"
        } else {
            continue;
        };
        found.push(misplaced_message(&Slot::Variable(name.to_owned()), why));
    }
    found
}

fn misplaced_message(slot: &Slot, why: &str) -> String {
    format!("`{slot}` cannot stand here: {why}")
}

/// Where a template stands, which decides what may be in it. Numbers, because they are parameters of types.
type Spot = u8;
/// An argument of its own: what may be absent cannot stand there.
const ARGUMENT: Spot = 0;
/// Something that vanishes when a value is absent.
const VANISHING: Spot = 1;
/// One entry of `skill-list`.
const SKILL_ENTRY: Spot = 2;
/// A path of the user: only variables.
const USER_PATH: Spot = 3;
/// A path in the private folders: it begins with one of them.
const PRIVATE_PATH: Spot = 4;

/// Why a placeholder cannot be filled in a spot.
fn misplaced(place: Spot, slot: &Slot, is_alone: bool) -> Option<&'static str> {
    match (place, slot.presence(), slot) {
        (SKILL_ENTRY, _, Slot::Skill)
        | (USER_PATH, _, Slot::Variable(_))
        | (PRIVATE_PATH, _, Slot::Home | Slot::Config | Slot::Work) => None,
        (SKILL_ENTRY, ..) => Some("only `{skill}` is known in `each`"),
        (USER_PATH, ..) => Some("only `{env.NAME}` is known in a path of yours"),
        (PRIVATE_PATH, ..) => Some("such a path begins with `{home}`, `{config}` or `{work}`"),
        (_, Presence::Special, _) => Some("it is known in `skill-list` only"),
        (ARGUMENT, Presence::List, _) if is_alone => None,
        (_, Presence::List, _) => Some("it must be an argument of its own"),
        (ARGUMENT, Presence::Optional, _) => {
            Some("it may have no value; put it into a list of its own, which vanishes then")
        }
        _ => None,
    }
}

fn template(place: Spot, text: &str) -> Result<Template, String> {
    let template = Template::parse(text).map_err(|unknown| unknown.to_string())?;
    let is_alone = template.only_slot().is_some();
    for slot in template.slots() {
        if let Some(why) = misplaced(place, slot, is_alone) {
            return Err(misplaced_message(slot, why));
        }
    }
    if place == PRIVATE_PATH {
        let folder = template.slots().next().map(Slot::to_string).ok_or_else(|| bad_path(text))?;
        let below = text.strip_prefix(&folder).and_then(|rest| rest.strip_prefix('/'));
        below
            .filter(|rest| is_relative(rest) && !rest.contains(['{', '}']))
            .ok_or_else(|| bad_path(text))?;
    }
    Ok(template)
}

/// Whether a path stays below the folder that it is relative to.
fn is_relative(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.is_empty() && path.split('/').all(is_part) && !path.contains('\0')
}

fn bad_path(path: &str) -> String {
    format!("`{path}` must be a path below its folder, without `..`")
}

/// Reads a text. A visitor and no conversion afterwards, so that a mistake has the span of the text.
struct Text<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// A template in its spot.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Placed<const SPOT: Spot>(Template);

impl<'de, const SPOT: Spot> Deserialize<'de> for Placed<SPOT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|text| template(SPOT, text).map(Self)))
    }
}

/// A text, or a list of them in another spot.
enum TextOrList<const TEXT: Spot, const ITEM: Spot> {
    Text(Template),
    List(Vec<Template>),
}

impl<'de, const TEXT: Spot, const ITEM: Spot> Deserialize<'de> for TextOrList<TEXT, ITEM> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<const TEXT: Spot, const ITEM: Spot>;

        impl<'de, const TEXT: Spot, const ITEM: Spot> Visitor<'de> for Either<TEXT, ITEM> {
            type Value = TextOrList<TEXT, ITEM>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                template(TEXT, text).map(TextOrList::Text).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut templates = Vec::new();
                while let Some(Placed(template)) = list.next_element::<Placed<ITEM>>()? {
                    templates.push(template);
                }
                Ok(TextOrList::List(templates))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A text, or several of which the first that can be filled counts.
impl<const SPOT: Spot> From<TextOrList<SPOT, SPOT>> for Vec<Template> {
    fn from(texts: TextOrList<SPOT, SPOT>) -> Self {
        match texts {
            TextOrList::Text(template) => vec![template],
            TextOrList::List(templates) => templates,
        }
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match TextOrList::<ARGUMENT, VANISHING>::deserialize(deserializer)? {
            TextOrList::List(templates) => Self::Group(templates),
            TextOrList::Text(template) => match template.only_slot() {
                Some(Slot::BundledSkills) => Self::BundledSkills,
                Some(Slot::ExtraArguments) => Self::Extra,
                _ => Self::One(template),
            },
        })
    }
}

/// The name of a variable that an agent may get.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct VariableName(String);

/// Variables that isolation itself sets for every agent.
const RESERVED: [&str; 5] = ["HOME", "TMPDIR", "TMP", "TEMP", "PWD"];

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|name| {
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name {
                return Err(format!("`{name}` cannot be the name of a variable"));
            }
            if RESERVED.contains(&name) {
                return Err(format!("`{name}` is set for every agent and cannot be changed"));
            }
            Ok(Self(name.to_owned()))
        }))
    }
}

pub(super) fn agent_name<'de, D: Deserializer<'de>>(d: D) -> Result<AgentName, D::Error> {
    d.deserialize_str(Text(|name| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.is_empty() && name != "auto" && name.chars().all(is_part) {
            return Ok(AgentName::new(name));
        }
        Err(format!(
            "`{name}` cannot be the name of an agent: use letters, digits, `-`, `_` and `.`"
        ))
    }))
}

pub(super) fn adapter_kind<'de, D: Deserializer<'de>>(
    d: D,
) -> Result<&'static AdapterKind, D::Error> {
    const NAMES: [&str; ADAPTERS.len()] = {
        let mut names = [""; ADAPTERS.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = ADAPTERS[at].name;
            at += 1;
        }
        names
    };
    d.deserialize_str(Text(|name| {
        let unknown = || de::value::Error::unknown_variant(name, &NAMES).to_string();
        adapter(name).ok_or_else(unknown)
    }))
}

pub(super) fn program<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Program>, D::Error> {
    d.deserialize_str(Text(|program| {
        let is_path = program.contains('/');
        let program = program.to_owned();
        Ok(Some(if is_path { Program::At(program.into()) } else { Program::Named(program) }))
    }))
}

/// A path below a folder, as `skills` has it.
pub(super) fn relative_path<'de, D: Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    d.deserialize_str(Text(|path| {
        let path = path.trim_end_matches('/');
        if is_relative(path) { Ok(path.to_owned()) } else { Err(bad_path(path)) }
    }))
}

pub(super) fn some_relative_path<'de, D: Deserializer<'de>>(
    d: D,
) -> Result<Option<String>, D::Error> {
    relative_path(d).map(Some)
}

pub(super) fn variable_names<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<VariableName>::deserialize(d)?;
    Ok(names.into_iter().map(|name| name.0).collect())
}

pub(super) fn variables<'de, D: Deserializer<'de>>(d: D) -> Result<Variables, D::Error> {
    let table = BTreeMap::<VariableName, TextOrList<VANISHING, VANISHING>>::deserialize(d)?;
    Ok(table.into_iter().map(|(name, texts)| (name.0, texts.into())).collect())
}

pub(super) fn files<'de, D: Deserializer<'de>>(d: D) -> Result<Files, D::Error> {
    let table = BTreeMap::<Placed<PRIVATE_PATH>, Placed<ARGUMENT>>::deserialize(d)?;
    Ok(table.into_iter().map(|(path, text)| (path.0, text.0)).collect())
}

pub(super) fn user_paths<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Template>, D::Error> {
    TextOrList::<USER_PATH, USER_PATH>::deserialize(d).map(Into::into)
}

pub(super) fn skill_entry<'de, D: Deserializer<'de>>(d: D) -> Result<Template, D::Error> {
    Placed::<SKILL_ENTRY>::deserialize(d).map(|placed| placed.0)
}

pub(super) fn minimum<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Version>, D::Error> {
    d.deserialize_str(Text(|text| {
        let version = Version::parse(text);
        version.map(Some).ok_or_else(|| format!("`{text}` is not a version such as 1.2.3"))
    }))
}

pub(super) fn tested<'de, D: Deserializer<'de>>(d: D) -> Result<Option<[Version; 2]>, D::Error> {
    let texts = Vec::<String>::deserialize(d)?;
    let versions: Option<Vec<Version>> = texts.iter().map(|text| Version::parse(text)).collect();
    match versions.as_deref() {
        Some([oldest, newest]) if oldest <= newest => Ok(Some([oldest.clone(), newest.clone()])),
        _ => Err(de::Error::custom(
            "expected the oldest and the newest version, such as [\"1.2.0\", \"1.4.3\"]",
        )),
    }
}

/// A `[[login]]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoginTable {
    variable: Option<VariableName>,
    #[serde(rename = "as")]
    given_as: Option<VariableName>,
    file: Option<TextOrList<USER_PATH, USER_PATH>>,
    link: Option<Placed<PRIVATE_PATH>>,
    #[serde(default)]
    about: String,
}

impl TryFrom<LoginTable> for Login {
    type Error = String;

    fn try_from(table: LoginTable) -> Result<Self, String> {
        let about = table.about;
        let source = match (table.file, table.variable) {
            (Some(file), _) => {
                let paths: Vec<Template> = file.into();
                let named = paths.first().map(Template::to_string).unwrap_or_default();
                let link = table.link.ok_or_else(|| {
                    format!("a way to log in needs `link`: where the agent looks for `{named}`")
                })?;
                LoginSource::File { paths, link: link.0 }
            }
            (None, Some(VariableName(name))) => {
                let given_as = table.given_as.map_or_else(|| name.clone(), |given_as| given_as.0);
                LoginSource::Variable { name, given_as }
            }
            (None, None) => return Err("a way to log in needs `variable` or `file`".to_owned()),
        };
        Ok(Self { source, about })
    }
}
