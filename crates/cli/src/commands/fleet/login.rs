//! Who we are at the fleet's server: flags and environment variables, never a file of ours.

use std::path::PathBuf;

use skillgauge_cluster::{Connect, Credentials, FailPoint, SharedFolder};

use crate::args::{ArchiveArgs, LoginArgs};
use crate::error::CommandError;
use crate::session::Session;

/// The variables that a fleet's commands read, and what for. docs/settings.md lists them; a test holds it to this table.
pub const FLEET_VARIABLES: [(&str, &str); 7] = [
    (USER, "the name for the fleet's server"),
    (PASSWORD, "the password that goes with it"),
    (TOKEN, "a token instead of both"),
    (NKEY, "the seed of an nkey instead"),
    (CREDS, "a file with a JWT and a seed, or with the seed of an nkey alone, as `--creds`"),
    (CA, "the certificate of whoever signed the server's, as `--ca`"),
    (ARCHIVE_DIR, "a folder that all machines share, for large archives, as `--archive-dir`"),
];

const USER: &str = "SKILLGAUGE_FLEET_USER";
const PASSWORD: &str = "SKILLGAUGE_FLEET_PASSWORD";
const TOKEN: &str = "SKILLGAUGE_FLEET_TOKEN";
const NKEY: &str = "SKILLGAUGE_FLEET_NKEY";
const CREDS: &str = "SKILLGAUGE_FLEET_CREDS";
const CA: &str = "SKILLGAUGE_FLEET_CA";
const ARCHIVE_DIR: &str = "SKILLGAUGE_FLEET_ARCHIVE_DIR";

/// Where a worker dies, for tests; only a debug build reads it.
const FAIL_POINT: &str = "SKILLGAUGE_FLEET_FAIL_POINT";

/// The way to the server.
pub(super) fn connect(url: &str, args: &LoginArgs, session: &Session, name: &str) -> Connect {
    let environment = session.environment();
    let path = |name: &str| environment.get(name).map(|value| PathBuf::from(value.expose()));
    let credentials = match (
        args.creds.clone().or_else(|| path(CREDS)),
        environment.get(USER),
        environment.get(TOKEN),
        environment.get(NKEY),
    ) {
        (Some(file), ..) => Credentials::File(file),
        (None, Some(user), ..) => Credentials::Password {
            user: user.expose().to_owned(),
            password: environment.get(PASSWORD).cloned().unwrap_or_default(),
        },
        (None, None, Some(token), _) => Credentials::Token(token.clone()),
        (None, None, None, Some(seed)) => Credentials::Nkey(seed.clone()),
        (None, None, None, None) => Credentials::None,
    };
    Connect {
        url: url.to_owned(),
        credentials,
        ca_file: args.ca.clone().or_else(|| path(CA)),
        name: name.to_owned(),
    }
}

/// The folder for large archives, if one is named. One that cannot be used is an error before anything is begun.
pub(super) fn shared_folder(
    args: &ArchiveArgs,
    session: &Session,
) -> Result<Option<SharedFolder>, CommandError> {
    let variable = || session.environment().get(ARCHIVE_DIR).map(|value| value.expose().into());
    let folder: Option<PathBuf> = args.archive_dir.clone().or_else(variable);
    let limit = args.archive_limit.unwrap_or(SharedFolder::LIMIT);
    Ok(folder.map(|folder| SharedFolder::open(folder, limit)).transpose()?)
}

/// Where this process shall die, if a test says so.
pub(super) fn fail_point(session: &Session) -> Option<FailPoint> {
    if !cfg!(debug_assertions) {
        return None;
    }
    session.environment().get(FAIL_POINT).and_then(|text| text.expose().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_in_the_documentation() {
        let page = include_str!("../../../../../docs/settings.md");
        for (name, purpose) in FLEET_VARIABLES {
            assert!(page.contains(&format!("| `{name}` | {purpose} |")), "{name}");
        }
    }
}
