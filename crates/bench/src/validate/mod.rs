//! `skillgauge validate`: speed beside skills-ref, start-up, and memory.
//!
//! ```text
//! corpus (generated once) -> experiment -> report
//! ```

#![expect(clippy::format_push_string, reason = "the generator reads better, and is not measured")]

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use self::corpus::Corpus;
use self::experiment::{Effort, Experiment};
use self::report::Report;
use self::rival::Rival;
use crate::{page, say};

mod corpus;
mod experiment;
pub(crate) mod floor;
mod front_matter;
mod prose;
mod random;
mod report;
mod rival;
mod skill;
#[rustfmt::skip]
mod words;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Skills in the corpus; memory is also measured at a tenth and at twice as many
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    skills: u32,
    /// Repetitions over the whole corpus
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let cache = crate::place()?.join("validate");
    fs_err::create_dir_all(&cache)?;
    let skills = arguments.skills as usize;
    say("corpora")?;
    let corpora = [skills / 10, skills, skills * 2].map(|count| Corpus::open(&cache, count));
    let [tenth, corpus, twice] = corpora;
    let (tenth, corpus, twice) = (tenth?, corpus?, twice?);
    say("skills-ref")?;
    let (rival, no_rival) = match Rival::install(&cache) {
        Ok(rival) => (Some(rival), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    let effort =
        Effort { repetitions: arguments.repetitions as usize, single_skills: 30, starts: 100 };
    let experiment = Experiment { skillgauge: program.to_owned(), rival, effort };
    let corpora = [&tenth, &corpus, &twice];
    for corpus in corpora {
        say(&format!("check and warm-up, {} skills", corpus.skills.len()))?;
        experiment.check(corpus)?;
    }
    let load = page::load();
    say("start-up")?;
    let starts = experiment.starts(&corpus)?;
    say("memory")?;
    let memory = experiment.memory(&corpora)?;
    say("speed")?;
    let throughput = experiment.throughput(&corpus)?;
    say("one process per skill")?;
    let singles = experiment.singles(&corpus)?;
    let report = Report {
        load,
        version: version(program)?,
        skills,
        throughput,
        singles,
        starts,
        memory,
        no_rival,
    };
    Ok(report.render())
}

fn version(program: &Path) -> Result<String> {
    let output =
        Command::new(program).arg("--version").output().context("cannot start skillgauge")?;
    ensure!(output.status.success(), "skillgauge --version ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
