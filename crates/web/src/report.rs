//! The report: every page of the newest iteration in one file that works from disk.
//!
//! Style and script are inside and allowed by their hashes; nothing is loaded from anywhere.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Value, context};
use sha2::{Digest as _, Sha256};

use crate::model::iteration::Iteration;
use crate::model::trigger::Triggering;
use crate::model::versions::Versions;
use crate::model::{OpenError, Workspace};
use crate::page::{
    self, Links, Pair, RenderError, SCRIPT, STYLE, Target, Templates, cases, head, overview,
    review, routing, trigger, tuning, versions,
};

/// When the file is larger than this, further transcripts and cases are left out and counted.
const MAX_BYTES: usize = 40 << 20;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The workspace cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A page cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// The pages of a workspace as one HTML file.
pub fn report(path: &Path) -> Result<String, ReportError> {
    let workspace = Workspace::open(path)?;
    let key = workspace.newest().unwrap_or(crate::model::SELF).to_owned();
    let iteration = workspace
        .iteration(&key)
        .unwrap_or_else(|| Iteration::read(workspace.root(), crate::model::SELF))
        .with_statistics();
    let previous = workspace.before(&key).and_then(|key| workspace.iteration(key));
    let (triggering, known) =
        (Triggering::read(workspace.root()), Versions::read(workspace.root()));
    let links = Links::new(Target::File, &key);
    let templates = Templates::new()?;
    let mut pages = Pages { templates: &templates, sections: Vec::new(), bytes: 0, left_out: 0 };
    pages.add(
        "overview",
        "Overview",
        "overview.html",
        overview(&iteration, previous.as_ref(), &links),
    )?;
    pages.add("cases", "Cases", "cases.html", cases(&iteration, &links))?;
    pages.add("trigger", "Trigger", "trigger.html", trigger(&triggering))?;
    pages.add("routing", "Routing", "routing.html", routing(&triggering))?;
    pages.add("tuning", "Tuning", "tuning.html", tuning(&triggering))?;
    pages.add("versions", "Versions", "versions.html", versions(&known))?;
    pages.add("review", "Review", "review.html", review(&iteration, 1, &links))?;
    for case in &iteration.cases {
        pages
            .add_details("case.html", || page::case(&iteration, case, &Pair::default(), &links))?;
    }
    for (case, run) in
        iteration.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)))
    {
        pages.add_details("transcript.html", || {
            page::transcript(&iteration, (case, run), 1, &links)
        })?;
    }
    let head = head(&workspace, &iteration, (&triggering, &known, None), &links, "overview");
    let values = context! {
        head => head,
        target => "file",
        sections => pages.sections,
        left_out => pages.left_out,
        style => STYLE,
        script => SCRIPT,
        policy => policy(),
    };
    Ok(templates.render("report.html", values)?)
}

struct Pages<'t> {
    templates: &'t Templates,
    sections: Vec<Vec<String>>,
    bytes: usize,
    left_out: usize,
}

impl Pages<'_> {
    fn add(
        &mut self,
        id: &str,
        title: &str,
        template: &str,
        page: Value,
    ) -> Result<(), RenderError> {
        let html = self.templates.render(template, context! { page => page, target => "file" })?;
        self.bytes += html.len();
        self.sections.push(vec![id.to_owned(), title.to_owned(), html]);
        Ok(())
    }

    /// A page of a case or run, as long as the file does not grow too large.
    fn add_details(
        &mut self,
        template: &str,
        page: impl FnOnce() -> Value,
    ) -> Result<(), RenderError> {
        if self.bytes > MAX_BYTES {
            self.left_out += 1;
            return Ok(());
        }
        let page = page();
        let text =
            |key: &str| page.get_attr(key).map(|value| value.to_string()).unwrap_or_default();
        let title = if template == "case.html" { text("name") } else { text("run") };
        self.add(&text("anchor"), &title, template, page)
    }
}

/// What the file may do: draw, and run our own script; nothing else, and nothing from elsewhere.
pub(crate) fn policy() -> String {
    let hash =
        |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}
