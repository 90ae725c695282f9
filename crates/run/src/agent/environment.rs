//! The environment that an agent gets: what every program needs, what its descriptor names, its login, and nothing else.
//!
//! It is built from the variables that the caller passed in; this crate reads no environment. Everything that came
//! from the user counts as a secret when a run is written down.

use std::collections::BTreeMap;

use super::descriptor::{BundledSkills, Descriptor, LoginSource, Slot, Values};
use super::isolation::Folders;
use super::login::LoginEntry;
use crate::model::{BASE_VARIABLES, Environment, Secret};

/// What is set when the user has no language: without one some programs cannot write anything but ASCII.
const LANGUAGE: (&str, &str) = ("LANG", "C.UTF-8");

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunVariables {
    pub(super) passed: BTreeMap<String, Secret>,
    pub(super) set: BTreeMap<String, String>,
}

impl RunVariables {
    pub(super) fn new(
        descriptor: &Descriptor,
        environment: &Environment,
        logins: &[LoginEntry],
        bundled: BundledSkills,
        folders: &Folders,
        values: &Values,
    ) -> Self {
        let mut passed: BTreeMap<String, Secret> =
            environment.pick(&BASE_VARIABLES).into_iter().collect();
        let names: Vec<&str> = descriptor.pass.iter().map(String::as_str).collect();
        passed.extend(environment.pick(&names));
        for login in logins {
            if let LoginSource::Variable { name, given_as } = &login.login.source
                && let Some(secret) = environment.get(name)
            {
                passed.insert(given_as.clone(), secret.clone());
            }
        }
        let mut set = BTreeMap::new();
        if !environment.has("LANG") && !environment.has("LC_ALL") {
            set.insert(LANGUAGE.0.to_owned(), LANGUAGE.1.to_owned());
        }
        set.extend(descriptor.variables(bundled, values));
        set.insert("HOME".to_owned(), folders.home.clone());
        for name in ["TMPDIR", "TMP", "TEMP"] {
            set.insert(name.to_owned(), folders.tmp.clone());
        }
        passed.retain(|name, _| !set.contains_key(name));
        Self { passed, set }
    }
}

/// The values of the user's variables that a descriptor fills in.
pub(super) fn with_variables(
    values: Values,
    descriptor: &Descriptor,
    environment: &Environment,
) -> Values {
    let names = descriptor.pass.iter().map(String::as_str).chain(BASE_VARIABLES);
    names.fold(values, |values, name| {
        let value = environment.get(name).map(Secret::expose);
        values.with_some(Slot::Variable(name.to_owned()), value)
    })
}
