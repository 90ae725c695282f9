//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number is computed from the measurements of this run.

use std::fmt::Write as _;

use super::stage::Cost;

pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) queries: u32,
    pub(crate) runs: u32,
    pub(crate) jobs: u32,
    pub(crate) plain: Cost,
    pub(crate) proof: Cost,
    pub(crate) ours: Cost,
    pub(crate) api: Cost,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let build = if cfg!(debug_assertions) { ", our side a debug build" } else { "" };
        let mut out = format!(
            "## Trigger probes\n\nMeasured on {}{build}; load {} at the start. The real Claude Code answers {} queries, {} runs each, {} at \
             once, against a scripted model on loopback that answers at once: half of the queries load the skill with the first of four \
             requests, the others are done after two. With a real model the requests are what takes the time and the money. The \
             plain method is one full agent run for each probe; ours count the positive control.\n\n\
             | way | probes | seconds | probes a minute | seconds for each verdict | requests | requests for each verdict |\n\
             |---|---|---|---|---|---|---|\n",
            self.machine, self.load, self.queries, self.runs, self.jobs
        );
        for (way, cost) in [
            ("plain: every run to its end", self.plain),
            ("`trigger`: ends at the first proof", self.proof),
            ("`trigger --early-stop`: and stops when the verdict is certain", self.ours),
            ("`trigger --via api`: the captured request, one for each probe", self.api),
        ] {
            let _ = writeln!(out, "| {way} | {} |", self.row(cost).join(" | "));
        }
        out
    }

    #[expect(clippy::cast_precision_loss, reason = "a benchmark makes a few hundred requests")]
    fn row(&self, cost: Cost) -> [String; 6] {
        let verdicts = f64::from(self.queries);
        [
            cost.probes.to_string(),
            format!("{:.1}", cost.seconds),
            format!("{:.0}", cost.probes as f64 * 60.0 / cost.seconds),
            format!("{:.2}", cost.seconds / verdicts),
            cost.requests.to_string(),
            format!("{:.1}", cost.requests as f64 / verdicts),
        ]
    }
}
