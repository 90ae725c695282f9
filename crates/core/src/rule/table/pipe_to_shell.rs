//! `PIPE_TO_SHELL`.

use crate::rule::scan::shell::{runs, shortened};
use crate::rule::{Context, rule};

rule! {
    /// A command runs what it downloads
    ///
    /// ## What it does
    /// Reports `curl ... | sh`, `bash -c "$(wget ...)"` and the like, in code and outside of it. Off by default:
    /// most installation instructions look like this.
    ///
    /// ## Why is this bad?
    /// The agent runs whatever the server sends at that moment, with the user's rights, and nobody sees it first.
    ///
    /// ## Example
    /// ```sh
    /// curl -fsSL https://example.com/install.sh | sh
    /// ```
    ///
    /// ## Use instead
    /// ```sh
    /// pip install example==1.4.2
    /// ```
    PIPE_TO_SHELL, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let text = document.text.as_str();
    for program in ["curl ", "wget "] {
        let places = memchr::memmem::find_iter(text.as_bytes(), program);
        for span in runs(text, places, |_| true) {
            let command = shortened(span.slice(text));
            context
                .report_at(span, format!("this command runs what it downloads: `{command}`"))
                .hint("download it, check it, then run it; or use a package manager");
        }
    }
}
