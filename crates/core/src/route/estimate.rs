//! Routing by the words of the descriptions alone.

use skillgauge_format::trigger::{RouteBasis, RouteReport};

use super::plan::{RouteSkill, plan};
use super::report::{Settings, Take, report};
use crate::estimate::{self, Described, Router};

/// Which skill would take each query, by its words. The report says that it is an estimate.
pub fn estimate(skills: &[RouteSkill], estimate: estimate::Settings) -> RouteReport {
    let described: Vec<Described> = skills.iter().map(|skill| skill.described.clone()).collect();
    let router = Router::new(&described, estimate);
    let queries = plan(skills);
    let takes: Vec<Vec<Take>> = (queries.iter())
        .map(|query| vec![Take::Loaded(router.route(&query.text).into_iter().collect())])
        .collect();
    let settings = Settings { threshold: 0.5, runs: 1, basis: RouteBasis::Estimate };
    let mut report = report(skills, &queries, &takes, settings);
    report.warnings.insert(0, estimate::NOTE.to_owned());
    report
}
