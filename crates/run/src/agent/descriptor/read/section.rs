//! The parts of a descriptor that are tables themselves, and the whole.

use super::super::draft::{Draft, DraftState, SwitchDraft};
use super::super::key::{KEYS, LOGIN_KEYS};
use super::super::problem::ProblemKind;
use super::super::{
    Files, Login, LoginHint, LoginRule, LoginSource, Program, PromptVia, SkillList, Version,
    VersionCheck,
};
use super::{Reader, Spot, Spotting, Table, is_relative};
use crate::agent::adapter::{ADAPTERS, adapter};

impl<'t> Reader<'t> {
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

fn is_agent_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name != "auto" && name.chars().all(is_part)
}
