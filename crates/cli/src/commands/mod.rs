//! What each command does: a call of the library, its result to the printer, an exit code.

pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod grade;
pub(crate) mod history;
pub(crate) mod improve;
pub(crate) mod init;
pub(crate) mod lint_evals;
pub(crate) mod merge;
pub(crate) mod package;
pub(crate) mod probe_talk;
pub(crate) mod probing;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod snapshot;
pub(crate) mod transcript;
pub(crate) mod trigger;
pub(crate) mod tune;
pub(crate) mod validate;

use crate::ExitCode;
use crate::error::CommandError;

pub(crate) type Outcome = Result<ExitCode, CommandError>;
