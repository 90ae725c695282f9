//! What each command does: a call of the library, its result to the printer, an exit code.

pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod transcript;
pub(crate) mod validate;

use crate::ExitCode;
use crate::printer::CommandError;

/// What a command returns.
pub(crate) type Outcome = Result<ExitCode, CommandError>;
