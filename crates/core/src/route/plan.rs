//! The queries of all skills together.

use std::collections::HashMap;

use skillgauge_format::trigger::TriggerSet;

use crate::estimate::Described;

/// A skill that is installed, with its trigger set.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteSkill {
    pub described: Described,
    /// Its queries; none when it has no trigger set and is only there to compete.
    pub set: Option<TriggerSet>,
}

/// A query, and the places of the skills that say something about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteQuery {
    pub text: String,
    /// The skills that should trigger; empty when none does.
    pub wanted_by: Vec<usize>,
    /// The skills that should not.
    pub refused_by: Vec<usize>,
}

/// The different queries of all trigger sets, in the order of the skills.
pub fn plan(skills: &[RouteSkill]) -> Vec<RouteQuery> {
    let mut queries: Vec<RouteQuery> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (skill, route) in skills.iter().enumerate() {
        for query in route.set.iter().flat_map(TriggerSet::queries) {
            let place = *places.entry(query.text.to_owned()).or_insert_with(|| {
                queries.push(RouteQuery {
                    text: query.text.to_owned(),
                    wanted_by: Vec::new(),
                    refused_by: Vec::new(),
                });
                queries.len() - 1
            });
            let list = if query.should_trigger {
                &mut queries[place].wanted_by
            } else {
                &mut queries[place].refused_by
            };
            list.push(skill);
        }
    }
    queries
}
