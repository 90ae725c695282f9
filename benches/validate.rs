//! Benchmark of `skillgauge validate`: speed beside skills-ref, start-up, and memory.
//!
//! `cargo bench -p skillgauge --bench validate` generates a corpus, measures, and prints a section of
//! docs/performance.md; with `--write` it also puts it there. Flow: corpus -> census -> experiment ->
//! report -> page. Invariant: the benchmark asserts nothing about speed; it reports, and says which
//! goals were met.

#![expect(clippy::format_push_string, reason = "the generator reads better, and is not measured")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;

use crate::corpus::Corpus;
use crate::experiment::{Effort, Experiment};
use crate::report::Report;
use crate::rival::Rival;

#[path = "validate/census.rs"]
mod census;
#[path = "validate/child.rs"]
mod child;
#[path = "validate/corpus.rs"]
mod corpus;
#[path = "validate/experiment.rs"]
mod experiment;
#[path = "validate/floor.rs"]
mod floor;
#[path = "validate/front_matter.rs"]
mod front_matter;
#[path = "validate/host.rs"]
mod host;
#[path = "validate/page.rs"]
mod page;
#[path = "validate/prose.rs"]
mod prose;
#[path = "validate/random.rs"]
mod random;
#[path = "validate/report.rs"]
mod report;
#[path = "validate/rival.rs"]
mod rival;
#[path = "validate/sample.rs"]
mod sample;
#[path = "validate/skill.rs"]
mod skill;
#[path = "validate/words.rs"]
#[rustfmt::skip]
mod words;

/// Measures `skillgauge validate` beside skills-ref.
#[derive(Parser)]
struct Arguments {
    /// Skills in the corpus; memory is also measured at a tenth and at twice as many
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    skills: u32,
    /// Repetitions over the whole corpus
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Replace the section in docs/performance.md
    #[arg(long)]
    write: bool,
    /// Only generate the corpus and print its mix and its folder
    #[arg(long)]
    corpus_only: bool,
    /// Measure another build of skillgauge
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_skillgauge"))]
    program: PathBuf,
    /// Cargo passes this to a benchmark, but not when it runs benchmarks as tests
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some(child::MEASURE) => return child::measure_only_child(&arguments[2..]),
        Some(floor::READ) => return floor::read(Path::new(&arguments[2..].concat())),
        _ => {}
    }
    let arguments = Arguments::parse();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("validate-bench");
    fs_err::create_dir_all(&cache)?;

    // As a test it only shows that the generator works.
    let skills = if arguments.bench { arguments.skills as usize } else { 100 };
    say(&format!("corpus of {skills} skills"))?;
    let corpus = Corpus::open(&cache, skills)?;
    let census = census::count(&corpus)?;
    if arguments.corpus_only || !arguments.bench {
        let folder = corpus.root.display();
        writeln!(std::io::stdout(), "{}\n{folder}", report::mix(&census))?;
        return Ok(());
    }
    let report = measure(&arguments, &cache, &corpus, census)?;
    let section = report.render();
    write!(std::io::stdout(), "{section}")?;
    if arguments.write {
        let path = page::replace("validate", &section)?;
        say(&format!("wrote {}", path.display()))?;
    }
    Ok(())
}

fn measure(
    arguments: &Arguments,
    cache: &Path,
    corpus: &Corpus,
    census: census::Census,
) -> Result<Report> {
    say("skills-ref")?;
    let (rival, no_rival) = match Rival::install(cache) {
        Ok(rival) => (Some(rival), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    let effort =
        Effort { repetitions: arguments.repetitions as usize, single_skills: 30, starts: 100 };
    let experiment = Experiment { skillgauge: arguments.program.clone(), rival, effort };
    let tenth = Corpus::open(cache, corpus.skills.len() / 10)?;
    let twice = Corpus::open(cache, corpus.skills.len() * 2)?;
    let corpora = [&tenth, corpus, &twice];
    for corpus in corpora {
        say(&format!("check and warm-up, {} skills", corpus.skills.len()))?;
        experiment.check(corpus)?;
    }
    let load = host::load();
    say("start-up")?;
    let starts = experiment.starts(corpus)?;
    say("memory")?;
    let memory = experiment.memory(&corpora)?;
    say("speed")?;
    let throughput = experiment.throughput(corpus)?;
    say("one process per skill")?;
    let singles = experiment.singles(corpus)?;
    Ok(Report {
        machine: host::describe(),
        load,
        version: version(&arguments.program)?,
        census,
        throughput,
        singles,
        starts,
        memory,
        no_rival,
    })
}

fn version(program: &Path) -> Result<String> {
    let output =
        Command::new(program).arg("--version").output().context("cannot start skillgauge")?;
    ensure!(output.status.success(), "skillgauge --version ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Progress for the person who waits; the result goes to standard output.
fn say(what: &str) -> Result<()> {
    writeln!(std::io::stderr(), "bench: {what}")?;
    Ok(())
}
