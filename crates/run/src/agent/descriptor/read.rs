//! Takes a TOML table apart: every key, every type, every placeholder, and all mistakes with their lines.
//!
//! The result is a [`Draft`]: what was said, and nothing about what was not. Reading goes on after a mistake, so that a
//! file has to be corrected once.

use std::ops::Range;
use std::path::Path;

use skillgauge_core::text::Position;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::draft::{Draft, DraftState, SwitchDraft};
use super::key::{KEYS, LOGIN_KEYS};
use super::problem::{Place, Problem, ProblemKind};
use super::template::{Presence, Slot, Template};
use super::{
    Argument, Files, Login, LoginHint, LoginRule, LoginSource, Program, PromptVia, SkillList,
    Variables, Version, VersionCheck, similar,
};
use crate::agent::adapter::{ADAPTERS, adapter};

/// A table of TOML and where it stands.
type Table<'t> = DeTable<'t>;
type Spot = Range<usize>;

/// Reads one file.
pub(in crate::agent) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    folder: &'t Path,
    /// Every mistake so far.
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

    /// Names of variables.
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

    /// One of several words.
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

    fn login(&mut self, table: &Table<'t>, spot: Spot) -> Option<Login> {
        self.only_known(table, &LOGIN_KEYS.each_ref().map(|key| key.name));
        let about = self.plain_text(table, "about").unwrap_or_default();
        let source = if let Some(file) = table.get("file") {
            let paths = self.alternatives("file", file, Spotting::UserPath);
            let Some((link, link_spot)) = self.text(table, "link") else {
                self.problem(spot, ProblemKind::LoginNeeds { key: "link" });
                return None;
            };
            LoginSource::File {
                paths,
                link: self.template(&link, link_spot, Spotting::PrivatePath)?,
            }
        } else {
            let Some((name, name_spot)) = self.text(table, "variable") else {
                self.problem(spot, ProblemKind::LoginNeeds { key: "variable" });
                return None;
            };
            let name = self.variable_name(name, name_spot)?;
            let given_as = match self.text(table, "as") {
                Some((given_as, spot)) => self.variable_name(given_as, spot)?,
                None => name.clone(),
            };
            LoginSource::Variable { name, given_as }
        };
        Some(Login { source, about })
    }

    fn login_hint(&mut self, table: &Table<'t>) -> Option<LoginHint> {
        self.only_known(table, &["file", "about"]);
        let paths = self.alternatives("file", table.get("file")?, Spotting::UserPath);
        Some(LoginHint { paths, about: self.plain_text(table, "about").unwrap_or_default() })
    }

    fn switch(&mut self, table: &Table<'t>, key: &str) -> SwitchDraft {
        let Some(table) = self.table(table, key) else { return SwitchDraft::default() };
        self.only_known(table, &["arguments", "environment", "files", "note"]);
        SwitchDraft {
            arguments: self.arguments(table, "arguments"),
            environment: self.variables(table, "environment"),
            files: self.files(table),
            note: self.plain_text(table, "note"),
        }
    }

    fn skill_list(&mut self, table: &Table<'t>) -> Option<SkillList> {
        let table = self.table(table, "skill-list")?;
        self.only_known(table, &["each", "separator"]);
        let (each, spot) = self.text(table, "each")?;
        let each = self.template(&each, spot, Spotting::SkillEntry)?;
        Some(SkillList { each, separator: self.plain_text(table, "separator").unwrap_or_default() })
    }

    fn version(&mut self, table: &Table<'t>) -> Option<VersionCheck> {
        let table = self.table(table, "version")?;
        self.only_known(table, &["arguments", "minimum"]);
        let arguments = self.plain_texts(table, "arguments").unwrap_or_default();
        let minimum = self.text(table, "minimum").and_then(|(text, spot)| {
            let version = Version::parse(&text);
            if version.is_none() {
                self.problem(spot, ProblemKind::BadVersion { text });
            }
            version
        });
        Some(VersionCheck { arguments, minimum })
    }

    fn files(&mut self, table: &Table<'t>) -> Files {
        let Some(table) = self.table(table, "files") else { return Vec::new() };
        let mut files = Vec::new();
        for (path, value) in table {
            let name = path.get_ref().to_string();
            let Some(text) = value.get_ref().as_str() else {
                self.wrong_type(&name, "a text", value);
                continue;
            };
            let path = self.template(&name, path.span(), Spotting::PrivatePath);
            let text = self.template(text, value.span(), Spotting::Argument);
            files.extend(path.zip(text));
        }
        files
    }

    /// A path below a folder, as `skills` has it.
    fn relative(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        let (path, spot) = self.text(table, key)?;
        let path = path.trim_end_matches('/').to_owned();
        if !is_relative(&path) {
            self.problem(spot, ProblemKind::BadPath { path });
            return None;
        }
        Some(path)
    }

    fn program(&mut self, table: &Table<'_>) -> Option<Program> {
        let program = self.plain_text(table, "program")?;
        let is_path = program.contains('/');
        Some(if is_path { Program::At(self.folder.join(program)) } else { Program::Named(program) })
    }

    /// Reads a descriptor; `name` is what the table or the file is called.
    pub(in crate::agent) fn draft(&mut self, name: &str, table: &Table<'t>, spot: Spot) -> Draft {
        let before = self.problems.len();
        self.only_known(table, &KEYS.each_ref().map(|key| key.name));
        let place = self.place(&spot);
        let name = self.text(table, "name").unwrap_or_else(|| (name.to_owned(), spot));
        if !is_agent_name(&name.0) {
            self.problem(name.1.clone(), ProblemKind::BadName { name: name.0.clone() });
        }
        let adapters = ADAPTERS.each_ref().map(|kind| (kind.name, kind.name));
        let logins = self.tables(table, "login").map(|tables| {
            tables.into_iter().filter_map(|(table, spot)| self.login(table, spot)).collect()
        });
        let hints = self.tables(table, "login-hint").map(|tables| {
            tables.into_iter().filter_map(|(table, _)| self.login_hint(table)).collect()
        });
        let bundled = self.table(table, "bundled-skills");
        if let Some(bundled) = bundled {
            self.only_known(bundled, &["off", "on"]);
        }
        let draft = Draft {
            name: name.0,
            place,
            state: DraftState::Sound,
            extends: self.plain_text(table, "extends"),
            about: self.plain_text(table, "about"),
            adapter: self.word(table, "adapter", &adapters).and_then(adapter),
            program: self.program(table),
            native: self.plain_texts(table, "native"),
            needs: self.plain_texts(table, "needs"),
            arguments: self.arguments(table, "arguments"),
            extra_arguments: self.arguments(table, "extra-arguments"),
            prompt: self.word(
                table,
                "prompt",
                &[("argument", PromptVia::Argument), ("stdin", PromptVia::Stdin)],
            ),
            skills: self.relative(table, "skills"),
            skill_list: self.skill_list(table),
            environment: self.variables(table, "environment"),
            pass: self.names(table, "pass"),
            login: logins,
            login_rule: self.word(
                table,
                "login-rule",
                &[("first", LoginRule::First), ("all", LoginRule::All)],
            ),
            login_help: self.plain_text(table, "login-help"),
            login_hints: hints,
            bundled_off: bundled.map(|table| self.switch(table, "off")).unwrap_or_default(),
            bundled_on: bundled.map(|table| self.switch(table, "on")).unwrap_or_default(),
            files: self.files(table),
            version: self.version(table),
            install: self.plain_text(table, "install"),
            parent_files: self.plain_texts(table, "parent-files"),
        };
        let is_sound = self.problems.len() == before;
        let state = if is_sound { DraftState::Sound } else { DraftState::Mistaken };
        Draft { state, ..draft }
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

fn is_agent_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name != "auto" && name.chars().all(is_part)
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
