//! Choosing among descriptions: how many probes it takes to ask all of them everything, and by halving; and how good the
//! chosen one is.
//!
//! A simulation, seeded, with the functions that `tune` uses (core/tune/simulation).

use std::fmt::Write as _;

use anyhow::Result;
use skillgauge_core::tune::simulation::{Choice, simulate};

use crate::page;

const TRIALS: u32 = 4_000;
const QUERIES: usize = 20;
const RUNS: usize = 3;
const WANTED_PROBES: usize = 320;
const WANTED_REGRET: f64 = 0.02;

pub(crate) fn measure() -> Result<String> {
    let choices: Vec<Choice> =
        [4, 8, 16].map(|candidates| simulate(candidates, QUERIES, RUNS, TRIALS)).into();
    let sixteen = &choices[2];
    let mut out = format!(
        "## Choosing among descriptions\n\n`tune --candidates N` on {QUERIES} training queries x {RUNS} runs, {TRIALS} simulated choices each, \
         with a fixed seed: the numbers are the same on every machine. Each description goes right in 40 to 90 % of its runs, and a query \
         is up to 20 points easier or harder than that. Regret is by how much the best description's true rate is above \
         that of the chosen one. The probes include all that the chosen one is asked.\n\n\
         | goal | measured | |\n|---|---|---|\n\
         | at most {WANTED_PROBES} of 960 probes for 16 descriptions | {} | {} |\n\
         | at most {WANTED_REGRET} of regret | {:.3} | {} |\n\n\
         | descriptions | probes, all of everything | probes, halving | regret, all of everything | regret, halving |\n|---|---|---|---|---|\n",
        sixteen.halved_probes,
        page::met(sixteen.halved_probes <= WANTED_PROBES),
        sixteen.halved_regret,
        page::met(sixteen.halved_regret <= WANTED_REGRET),
    );
    for choice in &choices {
        let Choice { candidates, plain_probes, halved_probes, plain_regret, halved_regret } =
            choice;
        writeln!(
            out,
            "| {candidates} | {plain_probes} | {halved_probes} | {plain_regret:.3} | {halved_regret:.3} |"
        )?;
    }
    Ok(out)
}
