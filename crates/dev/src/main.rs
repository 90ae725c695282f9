//! Writes what is generated from the tables in the code: `make generate`.

use std::process::ExitCode;

use skillgauge_dev::{generated, project_root};

fn main() -> ExitCode {
    for file in generated() {
        let path = project_root().join(&file.path);
        let written = path
            .parent()
            .map_or(Ok(()), fs_err::create_dir_all)
            .and_then(|()| fs_err::write(&path, &file.content));
        if let Err(error) = written {
            report(&error.to_string());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "a developer's tool without a printer of its own")]
fn report(text: &str) {
    eprintln!("error: {text}");
}
