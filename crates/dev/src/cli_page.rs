//! docs/cli.md: every command with its arguments, those of `fleet` and `history` too, and the exit codes.

use std::fmt::Write as _;

use skillgauge::ExitCode;

use crate::{Generated, NOTICE};

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n# The command line\n\n");
    let mut command = skillgauge::command();
    command.build();
    page.push_str("Every command takes the options of `skillgauge` itself, too.\n\n");
    help(&mut page, "skillgauge", &mut command);
    page.push_str("## Exit codes\n\nThe same for all commands.\n\n| Code | Meaning |\n|---|---|\n");
    for (code, meaning) in ExitCode::ALL {
        let _ = writeln!(page, "| {} | {meaning} |", code as u8);
    }
    Generated { path: "docs/cli.md".into(), content: page }
}

/// The help of a command, and of those below it.
fn help(page: &mut String, name: &str, command: &mut clap::Command) {
    let text = command.clone().term_width(100).render_long_help().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let _ = writeln!(page, "## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        // What every command takes is explained once, above.
        let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
        *below = below.clone().mut_args(hidden);
        help(page, &format!("{name} {}", below.get_name()), below);
    }
}
