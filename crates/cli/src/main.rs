//! The `skillgauge` binary. Everything is in the library, where it can be tested and documented.

fn main() -> std::process::ExitCode {
    skillgauge::main()
}
