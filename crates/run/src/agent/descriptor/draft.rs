//! A descriptor as far as one file says it; laid over the one that it extends, it becomes a [`Descriptor`].

use std::collections::BTreeSet;

use super::problem::{Place, Problem, ProblemKind};
use super::template::{Slot, Template};
use super::{
    AgentName, Argument, Descriptor, Files, Login, LoginHint, LoginRule, Program, PromptVia,
    SkillList, Source, Switch, Variables, VersionCheck, laid_over,
};
use crate::agent::adapter::AdapterKind;
use crate::model::BASE_VARIABLES;

/// What one file says about an agent.
#[derive(Clone, Debug)]
pub(in crate::agent) struct Draft {
    pub(in crate::agent) name: String,
    pub(in crate::agent) place: Place,
    pub(super) state: DraftState,
    pub(in crate::agent) extends: Option<String>,
    pub(super) about: Option<String>,
    pub(super) adapter: Option<&'static AdapterKind>,
    pub(super) program: Option<Program>,
    pub(super) native: Option<Vec<String>>,
    pub(super) needs: Option<Vec<String>>,
    pub(super) arguments: Option<Vec<Argument>>,
    pub(super) extra_arguments: Option<Vec<Argument>>,
    pub(super) prompt: Option<PromptVia>,
    pub(super) skills: Option<String>,
    pub(super) skill_list: Option<SkillList>,
    pub(super) environment: Variables,
    pub(super) pass: Option<Vec<String>>,
    pub(super) login: Option<Vec<Login>>,
    pub(super) login_rule: Option<LoginRule>,
    pub(super) login_help: Option<String>,
    pub(super) login_hints: Option<Vec<LoginHint>>,
    pub(super) bundled_off: SwitchDraft,
    pub(super) bundled_on: SwitchDraft,
    pub(super) files: Files,
    pub(super) version: Option<VersionCheck>,
    pub(super) install: Option<String>,
    pub(super) parent_files: Option<Vec<String>>,
}

/// Whether mistakes were found while a draft was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DraftState {
    Sound,
    /// Some: what is missing may be there, and wrong.
    Mistaken,
}

/// What one file says about a position of the switch for bundled skills.
#[derive(Clone, Debug, Default)]
pub(super) struct SwitchDraft {
    pub(super) arguments: Option<Vec<Argument>>,
    pub(super) environment: Variables,
    pub(super) files: Files,
    pub(super) note: Option<String>,
}

impl SwitchDraft {
    fn over(self, base: &Self) -> Self {
        Self {
            arguments: self.arguments.or_else(|| base.arguments.clone()),
            environment: merged(self.environment, &base.environment),
            files: laid_over(self.files, &base.files),
            note: self.note.or_else(|| base.note.clone()),
        }
    }

    fn finish(self) -> Switch {
        Switch {
            arguments: self.arguments.unwrap_or_default(),
            environment: self.environment,
            files: self.files,
            note: self.note,
        }
    }
}

fn merged(mut own: Variables, base: &Variables) -> Variables {
    for (name, templates) in base {
        own.entry(name.clone()).or_insert_with(|| templates.clone());
    }
    own
}

impl Draft {
    /// This draft with everything that it does not say taken from another.
    pub(in crate::agent) fn over(self, base: &Self) -> Self {
        Self {
            name: self.name,
            place: self.place,
            state: match (self.state, base.state) {
                (DraftState::Sound, DraftState::Sound) => DraftState::Sound,
                (DraftState::Mistaken, _) | (_, DraftState::Mistaken) => DraftState::Mistaken,
            },
            extends: self.extends,
            about: self.about.or_else(|| base.about.clone()),
            adapter: self.adapter.or(base.adapter),
            // What lies behind one launcher does not lie behind another.
            native: self.native.or_else(|| match self.program {
                Some(_) => None,
                None => base.native.clone(),
            }),
            program: self.program.or_else(|| base.program.clone()),
            needs: self.needs.or_else(|| base.needs.clone()),
            arguments: self.arguments.or_else(|| base.arguments.clone()),
            extra_arguments: self.extra_arguments.or_else(|| base.extra_arguments.clone()),
            prompt: self.prompt.or(base.prompt),
            skills: self.skills.or_else(|| base.skills.clone()),
            skill_list: self.skill_list.or_else(|| base.skill_list.clone()),
            environment: merged(self.environment, &base.environment),
            pass: self.pass.or_else(|| base.pass.clone()),
            login: self.login.or_else(|| base.login.clone()),
            login_rule: self.login_rule.or(base.login_rule),
            login_help: self.login_help.or_else(|| base.login_help.clone()),
            login_hints: self.login_hints.or_else(|| base.login_hints.clone()),
            bundled_off: self.bundled_off.over(&base.bundled_off),
            bundled_on: self.bundled_on.over(&base.bundled_on),
            files: laid_over(self.files, &base.files),
            version: self.version.or_else(|| base.version.clone()),
            install: self.install.or_else(|| base.install.clone()),
            parent_files: self.parent_files.or_else(|| base.parent_files.clone()),
        }
    }

    /// The same with another program, its arguments as extra ones.
    pub(in crate::agent) fn with_program(
        mut self,
        name: &str,
        program: Program,
        arguments: Vec<Template>,
    ) -> Self {
        name.clone_into(&mut self.name);
        self.program = Some(program);
        self.extra_arguments = Some(arguments.into_iter().map(Argument::One).collect());
        self
    }

    /// The descriptor, or what is missing and what contradicts itself.
    pub(in crate::agent) fn finish(self, source: Source) -> Result<Descriptor, Vec<Problem>> {
        let place = self.place.clone();
        let problem = |kind| Problem { place: place.clone(), kind };
        let missing = |key| problem(ProblemKind::Missing { agent: self.name.clone(), key });
        let (Some(adapter), Some(skills), Some(prompt)) =
            (self.adapter, self.skills.clone(), self.prompt)
        else {
            let mut problems = Vec::new();
            if self.state == DraftState::Mistaken {
                return Err(problems);
            }
            problems.extend(self.adapter.is_none().then(|| missing("adapter")));
            problems.extend(self.skills.is_none().then(|| missing("skills")));
            problems.extend(self.prompt.is_none().then(|| missing("prompt")));
            return Err(problems);
        };
        let descriptor = Descriptor {
            about: self.about.unwrap_or_else(|| self.name.clone()),
            name: AgentName::new(self.name),
            adapter,
            program: self.program,
            native: self.native.unwrap_or_default(),
            needs: self.needs.unwrap_or_default(),
            arguments: self.arguments.unwrap_or_default(),
            extra_arguments: self.extra_arguments.unwrap_or_default(),
            prompt,
            skills,
            skill_list: self.skill_list,
            environment: self.environment,
            pass: self.pass.unwrap_or_default(),
            login: self.login.unwrap_or_default(),
            login_rule: self.login_rule.unwrap_or_default(),
            login_help: self.login_help,
            login_hints: self.login_hints.unwrap_or_default(),
            bundled_off: self.bundled_off.finish(),
            bundled_on: self.bundled_on.finish(),
            files: self.files,
            version: self.version.unwrap_or_default(),
            install: self.install,
            parent_files: self.parent_files.unwrap_or_default(),
            source,
        };
        let kinds = contradictions(&descriptor);
        if kinds.is_empty() {
            Ok(descriptor)
        } else {
            Err(kinds.into_iter().map(problem).collect())
        }
    }
}

/// What only the whole can tell.
fn contradictions(descriptor: &Descriptor) -> Vec<ProblemKind> {
    let mut kinds = Vec::new();
    let prompts = descriptor.arguments.iter().chain(&descriptor.extra_arguments);
    let prompts = prompts.flat_map(|argument| match argument {
        Argument::One(template) => vec![template],
        Argument::Group(templates) => templates.iter().collect(),
        Argument::BundledSkills | Argument::Extra => Vec::new(),
    });
    let prompts = prompts.flat_map(Template::slots).filter(|slot| **slot == Slot::Prompt).count();
    let wanted = match descriptor.prompt {
        PromptVia::Argument => 1,
        PromptVia::Stdin => 0,
    };
    if prompts != wanted {
        kinds.push(ProblemKind::PromptNotPassed);
    }
    let logins: Vec<&str> = descriptor.login_variables().collect();
    for name in &descriptor.pass {
        if logins.contains(&name.as_str()) {
            kinds.push(ProblemKind::LoginPassed { name: name.clone() });
        }
    }
    for name in used_variables(descriptor) {
        let slot = Slot::Variable(name.to_owned()).to_string();
        if logins.contains(&name) {
            let why = "it holds a login, which belongs into no argument and no file";
            kinds.push(ProblemKind::SlotNotHere { slot, why });
        } else if !descriptor.pass.iter().any(|pass| pass == name)
            && !BASE_VARIABLES.contains(&name)
        {
            let why = "the agent does not get this variable; add it to `pass`";
            kinds.push(ProblemKind::SlotNotHere { slot, why });
        }
    }
    kinds
}

/// The user's variables whose values are filled in somewhere.
fn used_variables(descriptor: &Descriptor) -> BTreeSet<&str> {
    let slots = descriptor.templates().into_iter().flat_map(Template::slots);
    let variables = slots.filter_map(|slot| match slot {
        Slot::Variable(name) => Some(name.as_str()),
        _ => None,
    });
    variables.collect()
}
