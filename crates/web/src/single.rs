//! Pages that stand alone: one loop, or one route report, in a file that works from disk.

use minijinja::{Value, context};
use skillgauge_core::tune::page::TunePage;
use skillgauge_format::trigger::RouteReport;

use crate::page::{RenderError, SCRIPT, STYLE, Templates, route, tune};
use crate::report::policy;

/// The page of a loop.
pub fn tune_page(page: &TunePage) -> Result<String, RenderError> {
    single(&page.skill_name, ("tuning", "Tuning", "tune.html"), tune(page))
}

pub fn route_page(report: &RouteReport) -> Result<String, RenderError> {
    let names: Vec<&str> = report.skills.iter().map(|skill| skill.name.as_str()).collect();
    single(&names.join(", "), ("routing", "Routing", "route.html"), route(report, 0))
}

fn single(
    skill: &str,
    (id, title, template): (&str, &str, &str),
    page: Value,
) -> Result<String, RenderError> {
    let templates = Templates::new()?;
    let html = templates.render(template, context! { page => page, target => "file" })?;
    let none: Vec<String> = Vec::new();
    let head = context! {
        skill => skill, facts => none.clone(), pages => none.clone(), iterations => none, iteration => "-",
    };
    let values = context! {
        head => head,
        target => "file",
        sections => vec![vec![id.to_owned(), title.to_owned(), html]],
        left_out => 0,
        style => STYLE,
        script => SCRIPT,
        policy => policy(),
    };
    templates.render("report.html", values)
}
