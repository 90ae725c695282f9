//! All agents that can be used: the built-in ones and those that the user describes.
//!
//! [`Registry::load`] takes texts and gives a registry, or every mistake in all of them with its line. It opens no file:
//! the caller has read `skillgauge.toml` and `agents/*.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::builtin;
use super::descriptor::{
    AgentName, Descriptor, Draft, Problem, ProblemKind, Program, Reader, Source, Template, similar,
};

/// What stands before a command line that is used as an agent.
const COMMAND: &str = "command:";

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
    command: Draft,
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
        let (builtin, problems) = builtin::drafts();
        let mut loader = Loader { problems: problems.clone(), ..Loader::default() };
        for file in files {
            loader.read(file);
        }
        let registry = loader.finish(builtin);
        registry.map_err(|mut problems| {
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
        if let Some(line) = name.strip_prefix(COMMAND) {
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
        let draft = self.command.clone().with_program(name, program, arguments.ok_or_else(bad)?);
        draft.finish(Source::CommandLine).map(Arc::new).map_err(|_| bad())
    }

    /// All agents, in the order of their names.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<Descriptor>> {
        self.agents.values()
    }

    /// The agents that `auto` considers: those of the user first, then the built-in ones, the most wanted first.
    pub fn candidates(&self) -> Vec<&Arc<Descriptor>> {
        let rank = |agent: &Descriptor| {
            let name = agent.name.as_str();
            builtin::BUILTIN.iter().position(|(known, _)| *known == name).map_or(0, |at| at + 1)
        };
        let mut agents: Vec<&Arc<Descriptor>> =
            self.agents.values().filter(|agent| agent.program.is_some()).collect();
        agents.sort_by_key(|agent| rank(agent));
        agents
    }
}

#[derive(Default)]
struct Loader {
    drafts: BTreeMap<String, (Draft, String)>,
    problems: Vec<Problem>,
}

impl Loader {
    fn read(&mut self, file: &SourceFile) {
        let mut reader = Reader::new(&file.name, &file.text, &file.folder);
        let table = reader.parse();
        match file.kind {
            SourceKind::Project => {
                if let Some(agents) = reader.table(&table, "agents") {
                    for name in agents.keys() {
                        if let Some(table) = reader.table(agents, name.get_ref()) {
                            let draft = reader.draft(name.get_ref(), table, name.span());
                            self.add(draft, file);
                        }
                    }
                }
            }
            SourceKind::Agent => {
                let stem = Path::new(&file.name).file_stem().unwrap_or_default();
                let draft = reader.draft(&stem.to_string_lossy(), &table, 0..0);
                self.add(draft, file);
            }
        }
        self.problems.append(&mut reader.problems);
    }

    fn add(&mut self, draft: Draft, file: &SourceFile) {
        match self.drafts.get(&draft.name) {
            Some((first, _)) => {
                let kind = ProblemKind::Twice { agent: draft.name, first: first.place.clone() };
                self.problems.push(Problem { place: draft.place, kind });
            }
            None => {
                self.drafts.insert(draft.name.clone(), (draft, file.name.clone()));
            }
        }
    }

    fn finish(mut self, builtin: &[Draft]) -> Result<Registry, Vec<Problem>> {
        let mut agents = BTreeMap::new();
        let mut add = |draft: Draft, source: Source, problems: &mut Vec<Problem>| match draft
            .finish(source)
        {
            Ok(agent) => {
                agents.insert(agent.name.clone(), Arc::new(agent));
            }
            Err(mut found) => problems.append(&mut found),
        };
        for draft in builtin {
            add(draft.clone(), Source::Builtin, &mut self.problems);
        }
        for (draft, file) in self.drafts.values() {
            match self.resolve(draft, builtin) {
                Ok(whole) => add(whole, Source::File(file.clone()), &mut self.problems),
                Err(problem) => self.problems.push(*problem),
            }
        }
        let command = builtin.iter().find(|draft| draft.name == "command");
        match command {
            Some(command) if self.problems.is_empty() => {
                Ok(Registry { agents, command: command.clone() })
            }
            _ => Err(self.problems),
        }
    }

    /// A draft with all that it extends. One with the name of a built-in agent extends that.
    fn resolve(&self, draft: &Draft, builtin: &[Draft]) -> Result<Draft, Box<Problem>> {
        let mut whole = draft.clone();
        let mut seen = vec![draft.name.as_str()];
        let mut current = draft;
        loop {
            let shipped = |name: &str| builtin.iter().find(|draft| draft.name == name);
            let parent = match &current.extends {
                Some(name) if *name == current.name => shipped(name),
                Some(name) => match self.drafts.get(name) {
                    Some((parent, _)) => Some(parent),
                    None => shipped(name),
                },
                None if builtin.iter().any(|known| std::ptr::eq(known, current)) => None,
                None => shipped(&current.name),
            };
            let Some(parent) = parent else {
                let Some(name) = &current.extends else { return Ok(whole) };
                let known = self.drafts.keys().map(String::as_str);
                let known = known.chain(builtin.iter().map(|draft| draft.name.as_str()));
                let meant = similar(name, known).map(str::to_owned);
                let kind = ProblemKind::UnknownParent { name: name.clone(), meant };
                return Err(Box::new(Problem { place: current.place.clone(), kind }));
            };
            let is_shipped = builtin.iter().any(|known| std::ptr::eq(known, parent));
            if !is_shipped && seen.contains(&parent.name.as_str()) {
                let kind = ProblemKind::Circle { agent: draft.name.clone() };
                return Err(Box::new(Problem { place: draft.place.clone(), kind }));
            }
            whole = whole.over(parent);
            seen.push(&parent.name);
            current = parent;
        }
    }
}
