//! The guard as a program of its own, for tests and benchmarks; the product starts itself as one.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillgauge_run::process::guard::main(std::env::args_os().skip(1))
}
