//! All agents that can be used: the built-in ones and those that the user describes.
//!
//! [`Registry::load`] takes texts and gives a registry, or every mistake in all of them with its line. It opens no file:
//! the caller has read `skillgauge.toml` and `agents/*.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::descriptor::{
    AgentName, Argument, Descriptor, Draft, Problem, Program, Source, Template, contradictions,
    problem, similar,
};

/// The built-in agents by name, the most wanted first: `auto` takes the first that can be used.
pub static BUILTIN: [(&str, &str); 5] = [
    ("claude", include_str!("../../agents/claude.toml")),
    ("codex", include_str!("../../agents/codex.toml")),
    ("gemini", include_str!("../../agents/gemini.toml")),
    ("opencode", include_str!("../../agents/opencode.toml")),
    (COMMAND, include_str!("../../agents/command.toml")),
];

/// The agent that a command line behind its name is made one with: `command:PROGRAM ARGUMENTS`.
const COMMAND: &str = "command";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// What the file is called in messages.
    pub name: String,
    pub text: String,
    /// The folder that paths in it are relative to.
    pub folder: PathBuf,
    /// What kind of file it is.
    pub kind: SourceKind,
}

/// What kind of file descriptors are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// `skillgauge.toml`: tables `[agents.NAME]` among other things.
    Project,
    /// A file in `agents/`: one descriptor, named after the file if it does not say.
    Agent,
}

/// All agents that can be used.
#[derive(Clone, Debug)]
pub struct Registry {
    agents: BTreeMap<AgentName, Arc<Descriptor>>,
    command: Arc<Descriptor>,
}

/// There is no agent of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAgent {
    #[error(
        "no agent `{name}`{}; there are {}; describe another one in skillgauge.toml as [agents.{name}]",
        meant.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default(), known.join(", ")
    )]
    Name {
        name: String,
        /// What may have been meant.
        meant: Option<String>,
        known: Vec<String>,
    },
    /// A command line that cannot be read.
    #[error("`{line}` is not a command line: a quote is not closed, or there is no program")]
    CommandLine { line: String },
}

impl Registry {
    /// The built-in agents and those of these files; or every mistake in them, in the order of files and lines.
    pub fn load(files: &[SourceFile]) -> Result<Self, Vec<Problem>> {
        let mut loader = Loader::default();
        for (name, text) in &BUILTIN {
            loader.read_builtin(name, text);
        }
        for file in files {
            loader.read(file);
        }
        loader.finish().map_err(|mut problems| {
            // Files in the order in which they came, lines in order.
            let order = |file: &str| files.iter().position(|known| known.name == file);
            problems.sort_by(|a, b| {
                (order(&a.place.file), &a.place).cmp(&(order(&b.place.file), &b.place))
            });
            problems
        })
    }

    /// The agent of that name; `command:PROGRAM ARGUMENTS` makes one of a command line, with paths relative to `folder`.
    pub fn get(&self, name: &str, folder: &Path) -> Result<Arc<Descriptor>, UnknownAgent> {
        if let Some((COMMAND, line)) = name.split_once(':') {
            return self.command(name, line, folder);
        }
        let unknown = || UnknownAgent::Name {
            name: name.to_owned(),
            meant: similar(name, self.agents.keys().map(AgentName::as_str)).map(str::to_owned),
            known: self.agents.keys().map(ToString::to_string).collect(),
        };
        self.agents.get(&AgentName::new(name)).cloned().ok_or_else(unknown)
    }

    fn command(
        &self,
        name: &str,
        line: &str,
        folder: &Path,
    ) -> Result<Arc<Descriptor>, UnknownAgent> {
        let bad = || UnknownAgent::CommandLine { line: line.trim().to_owned() };
        let mut words = shlex::split(line).ok_or_else(bad)?.into_iter();
        let program = words.next().ok_or_else(bad)?;
        let program = if program.contains('/') {
            Program::At(folder.join(program))
        } else {
            Program::Named(program)
        };
        let arguments: Option<Vec<Template>> =
            words.map(|word| Template::parse(&word).ok()).collect();
        let arguments = arguments.ok_or_else(bad)?;
        let mut descriptor = (*self.command).clone();
        descriptor.name = AgentName::new(name);
        descriptor.program = Some(program);
        descriptor.extra_arguments = arguments.into_iter().map(Argument::One).collect();
        descriptor.source = Source::CommandLine;
        if contradictions(&descriptor).is_empty() { Ok(Arc::new(descriptor)) } else { Err(bad()) }
    }

    /// All agents, in the order of their names.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<Descriptor>> {
        self.agents.values()
    }

    /// The agents that `auto` considers: those of the user first, then the built-in ones, the most wanted first.
    pub fn candidates(&self) -> Vec<&Arc<Descriptor>> {
        let rank = |agent: &Descriptor| {
            let name = agent.name.as_str();
            BUILTIN.iter().position(|(known, _)| *known == name).map_or(0, |at| at + 1)
        };
        let mut agents: Vec<&Arc<Descriptor>> =
            self.agents.values().filter(|agent| agent.program.is_some()).collect();
        agents.sort_by_key(|agent| rank(agent));
        agents
    }
}

#[derive(Default)]
struct Loader<'t> {
    builtin: Vec<Draft<'t>>,
    drafts: BTreeMap<String, Draft<'t>>,
    problems: Vec<Problem>,
}

impl<'t> Loader<'t> {
    fn parse(&mut self, file: &str, text: &'t str) -> Option<DeTable<'t>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            self.problems.push(problem(file, text, at, format!("not TOML: {}", error.message())));
        }
        errors.is_empty().then(|| table.into_inner())
    }

    fn read_builtin(&mut self, name: &'t str, text: &'t str) {
        if let Some(table) = self.parse(name, text) {
            let named = (name, 0..0);
            self.builtin.push(Draft::new(
                (name, text),
                named,
                table,
                Path::new(""),
                Source::Builtin,
            ));
        }
    }

    fn read(&mut self, file: &'t SourceFile) {
        let (name, text) = (file.name.as_str(), file.text.as_str());
        let Some(mut table) = self.parse(name, text) else { return };
        let source = || Source::File(file.name.clone());
        if file.kind == SourceKind::Agent {
            let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
            self.add(Draft::new((name, text), (&stem, 0..0), table, &file.folder, source()));
            return;
        }
        let Some(agents) = table.remove("agents") else { return };
        let mut no_table = |key: &str, at| {
            self.problems.push(problem(name, text, at, format!("`{key}` must be a table")));
        };
        let span = agents.span();
        let DeValue::Table(agents) = agents.into_inner() else {
            return no_table("agents", span.start);
        };
        let mut drafts = Vec::new();
        for (agent, table) in agents {
            match table.get_ref() {
                DeValue::Table(table) => {
                    let named = (agent.get_ref().as_ref(), agent.span());
                    let table = table.clone();
                    drafts.push(Draft::new((name, text), named, table, &file.folder, source()));
                }
                _ => no_table(agent.get_ref(), table.span().start),
            }
        }
        for draft in drafts {
            self.add(draft);
        }
    }

    fn add(&mut self, draft: Draft<'t>) {
        match self.drafts.get(&draft.name) {
            Some(first) => {
                let (name, first) = (&draft.name, first.problem("").place);
                self.problems.push(draft.problem(format!(
                    "the agent `{name}` is described twice; the first time in {first}"
                )));
            }
            None => {
                self.drafts.insert(draft.name.clone(), draft);
            }
        }
    }

    fn finish(self) -> Result<Registry, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let mut problems = Vec::new();
        let mut agents = BTreeMap::new();
        for draft in &self.builtin {
            match draft.finish() {
                Ok(agent) => {
                    agents.insert(agent.name.clone(), Arc::new(agent));
                }
                Err(found) => problems.extend(found),
            }
        }
        let Some(command) = agents.get(&AgentName::new(COMMAND)).cloned() else {
            return Err(problems);
        };
        let mut lines = Vec::new();
        for draft in self.drafts.values() {
            match self.ancestors(draft) {
                Ok(ancestors) => lines.push((draft, ancestors)),
                Err(problem) => problems.push(*problem),
            }
        }
        // Those that others extend first: what is wrong with them is said once, and where it stands.
        lines.sort_by_key(|(_, ancestors)| ancestors.len());
        let mut refused: Vec<&str> = Vec::new();
        for (draft, ancestors) in lines {
            let mut whole = draft.clone();
            for ancestor in &ancestors {
                whole.lay_over(ancestor);
            }
            match whole.finish() {
                Ok(agent) => {
                    agents.insert(agent.name.clone(), Arc::new(agent));
                }
                Err(found) => {
                    let is_inherited =
                        ancestors.iter().any(|ancestor| refused.contains(&ancestor.name.as_str()));
                    refused.push(&draft.name);
                    problems.extend(found.into_iter().filter(|_| !is_inherited));
                }
            }
        }
        if problems.is_empty() { Ok(Registry { agents, command }) } else { Err(problems) }
    }

    /// Those that a draft extends, the nearest first. One with the name of a built-in agent extends that.
    fn ancestors(&self, draft: &Draft<'t>) -> Result<Vec<&Draft<'t>>, Box<Problem>> {
        let builtin = |name: &str| self.builtin.iter().find(|draft| draft.name == name);
        let mut ancestors: Vec<&Draft<'t>> = Vec::new();
        let mut current = draft;
        loop {
            let parent = match &current.extends {
                Some(name) if *name == current.name => builtin(name),
                Some(name) => self.drafts.get(name).or_else(|| builtin(name)),
                None if current.source == Source::Builtin => None,
                None => builtin(&current.name),
            };
            let Some(parent) = parent else {
                let Some(name) = &current.extends else { return Ok(ancestors) };
                let known = self.drafts.keys().chain(self.builtin.iter().map(|draft| &draft.name));
                let meant = similar(name, known.map(String::as_str))
                    .map(|meant| format!("; did you mean `{meant}`?"));
                let message =
                    format!("there is no agent `{name}` to extend{}", meant.unwrap_or_default());
                return Err(Box::new(current.problem(message)));
            };
            let is_seen = parent.name == draft.name
                || ancestors.iter().any(|ancestor| ancestor.name == parent.name);
            if parent.source != Source::Builtin && is_seen {
                let message = format!("the agent `{}` extends itself", draft.name);
                return Err(Box::new(draft.problem(message)));
            }
            ancestors.push(parent);
            current = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN, Registry};

    #[test]
    fn every_built_in_descriptor_is_without_a_problem_and_has_its_own_name() {
        let registry = Registry::load(&[]).unwrap();
        for (name, _) in &BUILTIN {
            let descriptor = registry.get(name, std::path::Path::new("")).unwrap();
            assert_eq!(descriptor.name.as_str(), *name);
        }
    }

    #[test]
    fn every_file_in_the_folder_is_in_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("agents");
        let mut files: Vec<String> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let mut names = BUILTIN.map(|(name, _)| name);
        names.sort_unstable();
        assert_eq!(files, names);
    }
}
