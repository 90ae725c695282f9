//! The report: every page of the newest iteration in one file that works from disk.
//!
//! Style and script are inside and allowed by their hashes; nothing is loaded from anywhere.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Value, context};
use sha2::{Digest as _, Sha256};
use skillgauge_core::tune::page::TunePage;
use skillgauge_format::trigger::RouteReport;

use crate::page::{self, Pair, Part, RenderError, SCRIPT, STYLE, Scene, Target, Templates};
use crate::versions::Versions;
use crate::workspace::{OpenError, Workspace};

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
    let key = workspace.newest().to_owned();
    let not_there = || OpenError::NotAFolder { path: path.to_owned() };
    let scene = Scene::read(workspace, &key, Part::All, Target::File).ok_or_else(not_there)?;
    let triggering = &scene.triggering;
    let versions = page::versions(&Versions::read(scene.workspace.root()));
    let templates = Templates::new()?;
    let mut pages = Pages { templates: &templates, sections: Vec::new(), bytes: 0, left_out: 0 };
    for (id, title, page) in [
        ("overview", "Overview", page::overview(&scene)),
        ("cases", "Cases", page::cases(&scene)),
        ("trigger", "Trigger", page::trigger(triggering)),
        ("routing", "Routing", page::routing(triggering)),
        ("tuning", "Tuning", page::tuning(triggering)),
        ("versions", "Versions", versions),
        ("review", "Review", page::review(&scene, 1)),
    ] {
        pages.add(id, title, &format!("{id}.html"), page)?;
    }
    for case in &scene.iteration.cases {
        pages.add_details("case.html", || page::case(&scene, case, &Pair::default()))?;
    }
    for case in &scene.iteration.cases {
        for run in &case.runs {
            pages.add_details("transcript.html", || page::transcript(&scene, (case, run), 1))?;
        }
    }
    Ok(pages.finish(scene.head("overview", None))?)
}

/// The page of a loop that stands alone.
pub fn tune_page(page: &TunePage) -> Result<String, RenderError> {
    single(&page.skill_name, ("tuning", "Tuning"), page::tune(page))
}

/// The page of a route report that stands alone.
pub fn route_page(report: &RouteReport) -> Result<String, RenderError> {
    let names: Vec<&str> = report.skills.iter().map(|skill| skill.name.as_str()).collect();
    single(&names.join(", "), ("routing", "Routing"), page::route(report))
}

fn single(skill: &str, (id, title): (&str, &str), page: Value) -> Result<String, RenderError> {
    let templates = Templates::new()?;
    let mut pages = Pages { templates: &templates, sections: Vec::new(), bytes: 0, left_out: 0 };
    pages.add(id, title, &format!("{id}.html"), page)?;
    let none: Vec<String> = Vec::new();
    pages.finish(context! {
        skill => skill, facts => none.clone(), pages => none.clone(), iterations => none, iteration => "-",
    })
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

    fn finish(self, head: Value) -> Result<String, RenderError> {
        let values = context! {
            head => head,
            target => "file",
            sections => self.sections,
            left_out => self.left_out,
            style => STYLE,
            script => SCRIPT,
            policy => policy(),
        };
        self.templates.render("report.html", values)
    }
}

/// What the file may do: draw, and run our own script; nothing else, and nothing from elsewhere.
fn policy() -> String {
    let hash =
        |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}
