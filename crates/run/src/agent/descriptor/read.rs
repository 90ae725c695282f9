//! Takes a TOML table apart: every key, every type, every placeholder, and all mistakes with their lines.
//!
//! The result is a [`Draft`](super::Draft): what was said, and nothing about what was not. Reading goes on after a mistake, so that a
//! file has to be corrected once.

mod section;

use std::ops::Range;
use std::path::Path;

use skillgauge_core::text::Position;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::problem::{Place, Problem, ProblemKind};
use super::template::{Presence, Slot, Template};
use super::{Argument, Variables, similar};

/// A table of TOML and where it stands.
type Table<'t> = DeTable<'t>;
type Spot = Range<usize>;

pub(in crate::agent) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    folder: &'t Path,
    pub(in crate::agent) problems: Vec<Problem>,
}

/// Where a template stands, which decides what may be in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spotting {
    /// An argument of its own: what may be absent cannot stand there.
    Argument,
    /// Something that vanishes when a value is absent.
    Vanishing,
    /// One entry of `skill-list`.
    SkillEntry,
    /// A path of the user: only variables.
    UserPath,
    /// A path in the private folders: it begins with one of them.
    PrivatePath,
}

impl<'t> Reader<'t> {
    pub(in crate::agent) fn new(file: &'t str, text: &'t str, folder: &'t Path) -> Self {
        Self { file, text, folder, problems: Vec::new() }
    }

    /// The whole file as a table; what is no TOML is a problem.
    pub(in crate::agent) fn parse(&mut self) -> Table<'t> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let message = error.message().to_owned();
            self.problem(error.span().unwrap_or(0..0), ProblemKind::Syntax { message });
        }
        table.into_inner()
    }

    pub(in crate::agent) fn place(&self, spot: &Spot) -> Place {
        let Position { line, column } = Position::of(self.text, spot.start.min(self.text.len()));
        Place { file: self.file.to_owned(), line, column }
    }

    pub(in crate::agent) fn problem(&mut self, spot: Spot, kind: ProblemKind) {
        let place = self.place(&spot);
        self.problems.push(Problem { place, kind });
    }

    fn wrong_type(&mut self, key: &str, expected: &'static str, value: &Spanned<DeValue<'_>>) {
        let (key, found) = (key.to_owned(), in_words(value.get_ref()));
        self.problem(value.span(), ProblemKind::WrongType { key, expected, found });
    }

    /// A table inside of another; a value of another type is a problem.
    pub(in crate::agent) fn table<'v>(
        &mut self,
        table: &'v Table<'t>,
        key: &str,
    ) -> Option<&'v Table<'t>> {
        let value = table.get(key)?;
        let found = value.get_ref().as_table();
        if found.is_none() {
            self.wrong_type(key, "a table", value);
        }
        found
    }

    fn only_known(&mut self, table: &Table<'_>, known: &[&str]) {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let meant = similar(name, known.iter().copied()).map(str::to_owned);
                self.problem(key.span(), ProblemKind::UnknownKey { key: name.to_owned(), meant });
            }
        }
    }

    fn text(&mut self, table: &Table<'_>, key: &str) -> Option<(String, Spot)> {
        let value = table.get(key)?;
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(key, "a text", value);
        }
        text.map(|text| (text.to_owned(), value.span()))
    }

    fn plain_text(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        self.text(table, key).map(|(text, _)| text)
    }

    fn array<'v>(&mut self, table: &'v Table<'t>, key: &str) -> Option<&'v DeArray<'t>> {
        let value = table.get(key)?;
        let found = value.get_ref().as_array();
        if found.is_none() {
            self.wrong_type(key, "a list", value);
        }
        found
    }

    fn texts(&mut self, table: &Table<'t>, key: &str) -> Option<Vec<(String, Spot)>> {
        let mut texts = Vec::new();
        for value in self.array(table, key)? {
            match value.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), value.span())),
                None => self.wrong_type(key, "a list of texts", value),
            }
        }
        Some(texts)
    }

    fn plain_texts(&mut self, table: &Table<'t>, key: &str) -> Option<Vec<String>> {
        Some(self.texts(table, key)?.into_iter().map(|(text, _)| text).collect())
    }

    fn names(&mut self, table: &Table<'t>, key: &str) -> Option<Vec<String>> {
        let texts = self.texts(table, key)?;
        let valid = texts.into_iter().filter_map(|(name, spot)| self.variable_name(name, spot));
        Some(valid.collect())
    }

    fn variable_name(&mut self, name: String, spot: Spot) -> Option<String> {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            self.problem(spot, ProblemKind::BadVariable { name });
            return None;
        }
        if RESERVED.contains(&name.as_str()) {
            self.problem(spot, ProblemKind::ReservedVariable { name });
            return None;
        }
        Some(name)
    }

    fn word<T: Copy>(&mut self, table: &Table<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let (value, spot) = self.text(table, key)?;
        let found = words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word);
            let meant = similar(&value, known.clone()).map(str::to_owned);
            let (key, known) = (key.to_owned(), known.map(str::to_owned).collect());
            self.problem(spot, ProblemKind::UnknownValue { key, value, meant, known });
        }
        found
    }

    fn template(&mut self, text: &str, spot: Spot, spotting: Spotting) -> Option<Template> {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(unknown) => {
                let kind = ProblemKind::UnknownSlot { name: unknown.name, meant: unknown.meant };
                self.problem(spot, kind);
                return None;
            }
        };
        if let Some((slot, why)) = misplaced(&template, spotting) {
            self.problem(spot, ProblemKind::SlotNotHere { slot: slot.to_string(), why });
            return None;
        }
        if spotting == Spotting::PrivatePath && !is_private_path(&template, text) {
            self.problem(spot, ProblemKind::BadPath { path: text.to_owned() });
            return None;
        }
        Some(template)
    }

    /// A text, or several of which the first that can be filled counts.
    fn alternatives(
        &mut self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        spotting: Spotting,
    ) -> Vec<Template> {
        match value.get_ref() {
            DeValue::String(text) => {
                self.template(text, value.span(), spotting).into_iter().collect()
            }
            DeValue::Array(values) => {
                let mut templates = Vec::new();
                for value in values {
                    match value.get_ref().as_str() {
                        Some(text) => templates.extend(self.template(text, value.span(), spotting)),
                        None => self.wrong_type(key, "a text or a list of texts", value),
                    }
                }
                templates
            }
            _ => {
                self.wrong_type(key, "a text or a list of texts", value);
                Vec::new()
            }
        }
    }

    fn arguments(&mut self, table: &Table<'t>, key: &str) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        for value in self.array(table, key)? {
            match value.get_ref() {
                DeValue::String(text) => {
                    let template = self.template(text, value.span(), Spotting::Argument);
                    arguments.extend(template.map(|template| match template.only_slot() {
                        Some(Slot::BundledSkills) => Argument::BundledSkills,
                        Some(Slot::ExtraArguments) => Argument::Extra,
                        _ => Argument::One(template),
                    }));
                }
                DeValue::Array(_) => {
                    let group = self.alternatives(key, value, Spotting::Vanishing);
                    arguments.push(Argument::Group(group));
                }
                _ => self.wrong_type(key, "a list of texts and of lists of texts", value),
            }
        }
        Some(arguments)
    }

    fn variables(&mut self, table: &Table<'t>, key: &str) -> Variables {
        let mut variables = Variables::new();
        let Some(table) = self.table(table, key) else { return variables };
        for (name, value) in table {
            let templates = self.alternatives(name.get_ref(), value, Spotting::Vanishing);
            if let Some(name) = self.variable_name(name.get_ref().to_string(), name.span()) {
                variables.insert(name, templates);
            }
        }
        variables
    }

    fn tables<'v>(
        &mut self,
        table: &'v Table<'t>,
        key: &str,
    ) -> Option<Vec<(&'v Table<'t>, Spot)>> {
        let mut tables = Vec::new();
        for value in self.array(table, key)? {
            match value.get_ref().as_table() {
                Some(table) => tables.push((table, value.span())),
                None => self.wrong_type(key, "a list of tables", value),
            }
        }
        Some(tables)
    }
}

/// Variables that isolation itself sets for every agent.
pub(in crate::agent) const RESERVED: [&str; 5] = ["HOME", "TMPDIR", "TMP", "TEMP", "PWD"];

fn in_words(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Whether a path stays below the folder that it is relative to.
fn is_relative(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    !path.is_empty() && path.split('/').all(is_part) && !path.contains('\0')
}

/// Whether a path begins with a private folder and stays below it.
fn is_private_path(template: &Template, text: &str) -> bool {
    let Some(folder) = template.slots().next() else { return false };
    text.strip_prefix(&folder.to_string())
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(|rest| is_relative(rest) && !rest.contains(['{', '}']))
}

/// The placeholder that cannot be filled where the template stands, and why.
fn misplaced(template: &Template, spotting: Spotting) -> Option<(&Slot, &'static str)> {
    let is_alone = template.only_slot().is_some();
    template.slots().find_map(|slot| {
        let why = match (spotting, slot.presence(), slot) {
            (Spotting::SkillEntry, _, Slot::Skill) | (Spotting::UserPath, _, Slot::Variable(_)) => {
                None
            }
            (Spotting::SkillEntry, ..) => Some("only `{skill}` is known in `each`"),
            (Spotting::UserPath, ..) => Some("only `{env.NAME}` is known in a path of yours"),
            (Spotting::PrivatePath, _, Slot::Home | Slot::Config | Slot::Work) => None,
            (Spotting::PrivatePath, ..) => {
                Some("such a path begins with `{home}`, `{config}` or `{work}`")
            }
            (_, Presence::Special, _) => Some("it is known in `skill-list` only"),
            (Spotting::Argument, Presence::List, _) if is_alone => None,
            (_, Presence::List, _) => Some("it must be an argument of its own"),
            (Spotting::Argument, Presence::Optional, _) => {
                Some("it may have no value; put it into a list of its own, which vanishes then")
            }
            (Spotting::Argument, Presence::Always, _) | (Spotting::Vanishing, ..) => None,
        };
        why.map(|why| (slot, why))
    })
}
