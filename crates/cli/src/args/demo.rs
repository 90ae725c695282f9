//! Arguments of `demo`.

use std::path::PathBuf;

/// See the whole way on a bundled example, with no key and no network
///
/// Copies a small skill with a trigger set and two suites to a folder, and validates, estimates, runs with and without the
/// skill, grades, aggregates and reports. Agent and judge are scripted: they are this program, and have no model.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Where the example goes
    #[arg(long, value_name = "DIR", default_value = "skillgauge-demo")]
    pub dir: PathBuf,
}
