//! Who compares and who analyses, opened before anything is spent.

use skillgauge_run::analyze::Analyst;
use skillgauge_run::compare::Comparator;

use crate::args::ImproveArgs;
use crate::commands::run::Target;
use crate::error::CommandError;
use crate::judge::model_name;
use crate::session::Session;

/// `--judge none`.
const NOBODY: &str = "none";

/// Who compares and who analyses.
#[derive(Debug)]
pub(super) struct Models {
    /// Nobody with `--no-compare` and `--judge none`.
    pub(super) comparator: Option<Comparator>,
    pub(super) analyst: Analyst,
}

impl Models {
    pub(super) fn open(
        args: &ImproveArgs,
        target: &Target,
        session: &Session,
    ) -> Result<Self, CommandError> {
        let settings = &session.settings;
        let timeout = settings.judge_timeout(&args.budget);
        let seed = settings.seed(args.seed);
        let of_suite = || target.suite.config().judge_model.map(model_name);
        let judge = settings.judge(args.judge.as_deref()).or_else(of_suite);
        let comparator = if args.no_compare || judge.as_deref() == Some(NOBODY) {
            None
        } else {
            let jobs = usize::try_from(settings.jobs(&args.budget)).unwrap_or(1);
            let model = session.model(judge.as_deref(), &args.budget)?;
            Some(Comparator { model, seed, timeout, jobs })
        };
        let model =
            session.model(settings.improver(args.improver.as_deref()).as_deref(), &args.budget)?;
        Ok(Self { comparator, analyst: Analyst { model, timeout } })
    }
}
