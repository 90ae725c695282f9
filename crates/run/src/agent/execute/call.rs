//! From a task to a command: placeholders filled, variables chosen, and the same once more without secrets.

use super::super::descriptor::{Argument, BundledSkills, Descriptor, PromptVia, Slot, Values};
use super::super::environment::{RunVariables, with_variables};
use super::super::isolation::Folders;
use super::super::locate::Located;
use super::super::login::{self, LoginEntry};
use super::super::run::{CallRecord, RunNote};
use super::super::scrub::ROOT;
use super::super::task::AgentTask;
use crate::model::{BASE_VARIABLES, Environment, Secret};
use crate::process::{Command, Limits, Stdin};

/// A text of a variable that may hold a key is taken for one from this length on.
const KEY_LENGTH: usize = 16;

/// Everything that is needed to start an agent once.
pub(super) struct Call {
    pub(super) command: Command,
    pub(super) limits: Limits,
    pub(super) record: CallRecord,
    /// What must not be written down.
    pub(super) secrets: Vec<Secret>,
}

impl Call {
    pub(super) fn new(
        located: &Located,
        task: &AgentTask,
        environment: &Environment,
        logins: &[LoginEntry],
        folders: &Folders,
    ) -> Self {
        let descriptor = &located.descriptor;
        let values = with_variables(values(task, located, folders), descriptor, environment);
        let variables = RunVariables::new(
            descriptor,
            environment,
            logins,
            task.bundled_skills,
            folders,
            &values,
        );
        let mut command = Command::new(&located.program, &folders.work)
            .arguments(descriptor.command_line(task.bundled_skills, &values));
        for (name, value) in &variables.passed {
            command = command.variable(name, value.expose());
        }
        for (name, value) in &variables.set {
            command = command.variable(name, value);
        }
        command.stdin = match descriptor.prompt {
            PromptVia::Argument => Stdin::Closed,
            PromptVia::Stdin => Stdin::Text(task.prompt.clone().into_bytes()),
        };
        let record = record(located, task, environment, logins);
        let mut secrets = secrets(descriptor, environment, &variables);
        secrets.extend(logins.iter().flat_map(LoginEntry::secrets));
        Self { command, limits: limits(task), record, secrets }
    }
}

fn limits(task: &AgentTask) -> Limits {
    Limits { timeout: task.limits.timeout, silence: task.limits.silence, ..Limits::default() }
}

/// What the task says, as values of placeholders.
fn values(task: &AgentTask, located: &Located, folders: &Folders) -> Values {
    let descriptor = &located.descriptor;
    let list = descriptor.skill_list.as_ref().filter(|_| !task.skills.is_empty()).map(|list| {
        let each = task
            .skills
            .iter()
            .filter_map(|skill| list.each.fill(&Values::default().with(Slot::Skill, &skill.name)));
        each.collect::<Vec<_>>().join(&list.separator)
    });
    folders
        .values()
        .with(Slot::Prompt, &task.prompt)
        .with_some(Slot::Model, task.model.as_deref())
        .with_some(Slot::SkillList, list)
        .with_some(Slot::AgentVersion, located.version.as_ref().map(ToString::to_string))
        .with_some(Slot::MaxTurns, task.limits.max_turns.map(|turns| turns.to_string()))
        .with_some(Slot::MaxCost, task.limits.max_cost_usd.map(|cost| cost.to_string()))
}

/// The call as it is written down: private folders below [`ROOT`], values of the user by their names.
fn record(
    located: &Located,
    task: &AgentTask,
    environment: &Environment,
    logins: &[LoginEntry],
) -> CallRecord {
    let descriptor = &located.descriptor;
    let folders = Folders::below(ROOT, descriptor);
    let names = descriptor.pass.iter().map(String::as_str).chain(BASE_VARIABLES);
    let names = names.filter(|name| environment.has(name));
    let shown = names.fold(values(task, located, &folders), |values, name| {
        let slot = Slot::Variable(name.to_owned());
        let text = slot.to_string();
        values.with(slot, text)
    });
    let variables =
        RunVariables::new(descriptor, environment, logins, task.bundled_skills, &folders, &shown);
    CallRecord {
        program: located.program.clone(),
        arguments: descriptor.command_line(task.bundled_skills, &shown),
        prompt: descriptor.prompt,
        variables: variables.set,
        passed: variables.passed.into_keys().collect(),
        login: logins.iter().map(|login| login.source.clone()).collect(),
    }
}

/// What must not be written down: the user's logins, also those that the agent does not get, addresses with a password
/// in them, and whatever looks like a key by its name and its form. A short word is none, whatever its variable is called:
/// taking it out of every output would change what is measured.
fn secrets(
    descriptor: &Descriptor,
    environment: &Environment,
    variables: &RunVariables,
) -> Vec<Secret> {
    let mut secrets = environment.secrets();
    secrets.retain(|secret| {
        let text = secret.expose();
        text.len() >= KEY_LENGTH && !text.contains(char::is_whitespace)
    });
    secrets.extend(descriptor.login_variables().filter_map(|name| environment.get(name)).cloned());
    secrets.extend(variables.passed.values().filter(|value| value.expose().contains('@')).cloned());
    secrets
}

/// How an agent would be called, with its placeholders as they are: for people.
pub(crate) fn described(descriptor: &Descriptor, bundled: BundledSkills) -> Vec<String> {
    let slots = [
        Slot::Prompt,
        Slot::Model,
        Slot::Work,
        Slot::Home,
        Slot::Config,
        Slot::Tmp,
        Slot::Skills,
        Slot::AgentVersion,
        Slot::SkillList,
        Slot::MaxTurns,
        Slot::MaxCost,
    ];
    let variables = descriptor.pass.iter().cloned().map(Slot::Variable);
    let values = slots.into_iter().chain(variables).fold(Values::default(), |values, slot| {
        let text = slot.to_string();
        values.with(slot, text)
    });
    // What vanishes without a value is shown in brackets.
    let mut line = Vec::new();
    describe(descriptor, &descriptor.arguments, bundled, &values, &mut line);
    line
}

fn describe(
    descriptor: &Descriptor,
    arguments: &[Argument],
    bundled: BundledSkills,
    values: &Values,
    line: &mut Vec<String>,
) {
    for argument in arguments {
        match argument {
            Argument::One(template) => line.extend(template.fill(values)),
            Argument::Group(group) => {
                let filled: Vec<String> =
                    group.iter().filter_map(|template| template.fill(values)).collect();
                line.push(format!("[{}]", filled.join(" ")));
            }
            Argument::BundledSkills => {
                describe(descriptor, &descriptor.switch(bundled).arguments, bundled, values, line);
            }
            Argument::Extra => {
                describe(descriptor, &descriptor.extra_arguments, bundled, values, line);
            }
        }
    }
}

/// What somebody who reads the result should know before the agent has said a word.
pub(super) fn notes(
    task: &AgentTask,
    descriptor: &Descriptor,
    environment: &Environment,
) -> Vec<RunNote> {
    let mut notes = Vec::new();
    let limits = [
        (Slot::MaxTurns, "max_turns", task.limits.max_turns.is_some()),
        (Slot::MaxCost, "max_cost_usd", task.limits.max_cost_usd.is_some()),
    ];
    for (slot, limit, is_set) in limits {
        if is_set && !descriptor.uses(&slot) {
            notes.push(RunNote::LimitNotPassed { limit: limit.to_owned() });
        }
    }
    if let Some(text) = &descriptor.switch(task.bundled_skills).note {
        notes.push(RunNote::BundledSkills { text: text.clone() });
    }
    let all = login::all(descriptor, environment);
    let used = login::find(descriptor, environment);
    if !descriptor.login.is_empty() && used.is_empty() {
        notes.push(RunNote::NoLogin);
    }
    let ignored: Vec<String> = all
        .iter()
        .filter(|login| !used.contains(login))
        .map(|login| login.source.clone())
        .collect();
    if !ignored.is_empty() {
        notes.push(RunNote::OtherLogins { ignored });
    }
    notes
}
