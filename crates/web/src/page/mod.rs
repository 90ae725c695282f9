//! From the model to what a page shows, and from there to HTML.
//!
//! Each page has a function that makes its values and a template that shows them; the server puts one of them into
//! `server.html`, the report puts all of them into `report.html`.

mod case;
mod cases;
mod chart;
mod diff;
mod evidence;
mod fleet;
mod links;
mod outputs;
mod overview;
mod review;
mod route;
mod scene;
mod show;
mod table;
mod transcript;
mod trigger;
mod trigger_evidence;
mod tune;
mod versions;

pub(crate) use case::{Pair, case};
pub(crate) use cases::cases;
pub(crate) use fleet::fleet;
pub(crate) use links::{Links, Target};
pub(crate) use outputs::image_type;
pub(crate) use overview::overview;
pub(crate) use review::review;
pub(crate) use route::{route, routing};
pub(crate) use scene::{Part, Scene};
pub(crate) use transcript::transcript;
pub(crate) use trigger::trigger;
pub(crate) use tune::{tune, tuning};
pub(crate) use versions::versions;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

/// The templates: name and text.
const TEMPLATES: [(&str, &str); 15] = [
    ("macros.html", include_str!("../../templates/macros.html")),
    ("overview.html", include_str!("../../templates/overview.html")),
    ("cases.html", include_str!("../../templates/cases.html")),
    ("case.html", include_str!("../../templates/case.html")),
    ("transcript.html", include_str!("../../templates/transcript.html")),
    ("trigger.html", include_str!("../../templates/trigger.html")),
    ("routing.html", include_str!("../../templates/routing.html")),
    ("tuning.html", include_str!("../../templates/tuning.html")),
    ("versions.html", include_str!("../../templates/versions.html")),
    ("fleet.html", include_str!("../../templates/fleet.html")),
    ("review.html", include_str!("../../templates/review.html")),
    ("head.html", include_str!("../../templates/head.html")),
    ("server.html", include_str!("../../templates/server.html")),
    ("report.html", include_str!("../../templates/report.html")),
    ("message.html", include_str!("../../templates/message.html")),
];

/// The style sheet of every page.
pub(crate) const STYLE: &str = include_str!("../../assets/style.css");
/// The script of every page.
pub(crate) const SCRIPT: &str = include_str!("../../assets/script.js");

/// Why a page could not be rendered: a mistake in a template of ours.
#[derive(Debug, thiserror::Error)]
#[error("a page could not be rendered: {0:#}; this is a mistake of skillgauge, please report it")]
pub struct RenderError(#[from] minijinja::Error);

/// The templates, ready to be filled.
#[derive(Debug)]
pub(crate) struct Templates(Environment<'static>);

impl Templates {
    pub(crate) fn new() -> Result<Self, RenderError> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
        environment.set_syntax(syntax);
        for (name, text) in TEMPLATES {
            environment.add_template(name, text)?;
        }
        Ok(Self(environment))
    }

    pub(crate) fn render(&self, name: &str, values: Value) -> Result<String, RenderError> {
        Ok(self.0.get_template(name)?.render(values)?)
    }
}

/// A value for a template.
fn view<T: Serialize>(value: T) -> Value {
    Value::from(Serde(value))
}
