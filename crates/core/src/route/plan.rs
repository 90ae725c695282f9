//! The queries of all skills together.

use std::collections::HashMap;

use skillgauge_format::trigger::{Situation, TriggerSet};

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
    /// Where it is asked; nothing in an empty folder and a new conversation.
    pub situation: Option<Situation>,
    /// The place of the first skill that has it, which also holds the files of the situation.
    pub owner: usize,
    /// The skills that should trigger; empty when none does.
    pub wanted_by: Vec<usize>,
    /// The skills that should not.
    pub refused_by: Vec<usize>,
}

/// The different queries of all trigger sets, in the order of the skills.
pub fn plan(skills: &[RouteSkill]) -> Vec<RouteQuery> {
    let mut queries: Vec<RouteQuery> = Vec::new();
    let mut places: HashMap<(String, Option<Situation>), usize> = HashMap::new();
    for (skill, route) in skills.iter().enumerate() {
        for query in route.set.iter().flat_map(TriggerSet::queries) {
            let identity = (query.text.to_owned(), query.situation.clone());
            let place = *places.entry(identity).or_insert_with(|| {
                queries.push(RouteQuery {
                    text: query.text.to_owned(),
                    situation: query.situation.clone(),
                    owner: skill,
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
