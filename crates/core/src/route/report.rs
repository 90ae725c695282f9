//! From who took each query to the route report.

use skillgauge_format::Number;
use skillgauge_format::trigger::{
    Collision, ConfusionMatrix, QueryRoute, RouteBasis, RouteReport, RouteSummary, SkillRoute,
    Taken, settled,
};
use skillgauge_format::write::{rate, round_rate};

use super::plan::{RouteQuery, RouteSkill};
use crate::tune::round::interval;

/// The name of the row and column for "no skill".
pub const NONE: &str = "none";

/// Who took a query in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// The skills at these places, in the order of loading; none when no skill was loaded.
    Loaded(Vec<usize>),
    /// Nobody knows: the run measured nothing.
    Error,
}

/// How a report is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The share of runs that must go right.
    pub threshold: f64,
    /// How often each query was to be asked.
    pub runs: u64,
    pub basis: RouteBasis,
}

/// The report; `takes` has the runs of each query, in the order of `queries`.
pub fn report(
    skills: &[RouteSkill],
    queries: &[RouteQuery],
    takes: &[Vec<Take>],
    settings: Settings,
) -> RouteReport {
    let mut count = Count::new(skills);
    let none = Vec::new();
    let mut results = Vec::with_capacity(queries.len());
    for (place, query) in queries.iter().enumerate() {
        let takes = takes.get(place).unwrap_or(&none);
        results.push(count.query(query, takes, settings));
    }
    let of = |pass: Option<bool>| results.iter().filter(|r| r.pass == pass).count() as u64;
    RouteReport {
        basis: settings.basis,
        summary: RouteSummary {
            passed: of(Some(true)),
            failed: of(Some(false)),
            undecided: of(None),
            total: results.len() as u64,
            threshold: Number::Float(round_rate(settings.threshold)),
            ..RouteSummary::default()
        },
        warnings: warnings(skills, queries),
        skills: count.skills(),
        collisions: count.collisions(),
        matrix: ConfusionMatrix {
            labels: count.labels,
            rows: count.rows,
            ..ConfusionMatrix::default()
        },
        results,
        ..RouteReport::default()
    }
}

/// Whether the skills that a run loaded are what the query's owners want: one of these, and no other.
pub fn is_right(query: &RouteQuery, loaded: &[usize]) -> bool {
    loaded.is_empty() == query.wanted_by.is_empty()
        && loaded.iter().all(|skill| query.wanted_by.contains(skill))
}

/// Counts over all queries; the last place of rows and columns is `none`.
struct Count {
    labels: Vec<String>,
    rows: Vec<Vec<u64>>,
    wanted: Vec<u64>,
    runs: Vec<u64>,
    hits: Vec<u64>,
    false_fires: Vec<u64>,
    /// In the order in which they were met.
    pairs: Vec<Pair>,
}

/// Two skills that came into each other's way.
struct Pair {
    /// Their places, the smaller one first.
    skills: (usize, usize),
    runs: u64,
    together: u64,
    queries: Vec<String>,
}

impl Count {
    fn new(skills: &[RouteSkill]) -> Self {
        let names = skills.iter().map(|skill| skill.described.name.clone());
        let labels: Vec<String> = names.chain([NONE.to_owned()]).collect();
        let zeros = vec![0; skills.len()];
        Self {
            rows: vec![vec![0; labels.len()]; labels.len()],
            labels,
            wanted: zeros.clone(),
            runs: zeros.clone(),
            hits: zeros.clone(),
            false_fires: zeros,
            pairs: Vec::new(),
        }
    }

    fn query(&mut self, query: &RouteQuery, takes: &[Take], settings: Settings) -> QueryRoute {
        let mut columns = vec![0_u64; self.labels.len()];
        let (mut right, mut completed, mut together) = (0, 0, 0);
        for &skill in &query.wanted_by {
            self.wanted[skill] += 1;
        }
        let known: Vec<Vec<usize>> = takes.iter().filter_map(|take| self.known(take)).collect();
        for loaded in &known {
            completed += 1;
            right += u64::from(is_right(query, loaded));
            together += u64::from(loaded.len() > 1);
            let none = [self.wanted.len()];
            for &column in if loaded.is_empty() { &none[..] } else { loaded } {
                columns[column] += 1;
            }
        }
        let runs = takes.len() as u64;
        let planned = settings.runs.max(runs);
        let pass = settled(right, completed, planned, settings.threshold);
        // What is undecided is in no recall, no matrix and no collision, as it is in no metric of a trigger report.
        if pass.is_some() {
            for loaded in &known {
                self.run(query, loaded);
            }
        }
        let name = |place: &usize| self.labels[*place].clone();
        QueryRoute {
            query: query.text.clone(),
            wanted_by: query.wanted_by.iter().map(name).collect(),
            refused_by: query.refused_by.iter().map(name).collect(),
            taken_by: self.taken(&columns),
            together,
            runs,
            errors: runs - completed,
            runs_missing: planned - runs,
            pass,
            situation: query.situation.clone(),
            ..QueryRoute::default()
        }
    }

    /// The different skills of a take; nothing for a run that measured nothing.
    fn known(&self, take: &Take) -> Option<Vec<usize>> {
        let Take::Loaded(loaded) = take else { return None };
        let mut known = Vec::with_capacity(loaded.len());
        for &skill in loaded {
            if skill < self.wanted.len() && !known.contains(&skill) {
                known.push(skill);
            }
        }
        Some(known)
    }

    fn run(&mut self, query: &RouteQuery, loaded: &[usize]) {
        let none = self.wanted.len();
        let owner = query.wanted_by.first().copied().unwrap_or(none);
        if loaded.is_empty() {
            self.rows[owner][none] += 1;
        }
        for &skill in &query.wanted_by {
            self.runs[skill] += 1;
            self.hits[skill] += u64::from(loaded.contains(&skill));
        }
        for &skill in loaded {
            if query.wanted_by.contains(&skill) {
                self.rows[skill][skill] += 1;
                continue;
            }
            self.rows[owner][skill] += 1;
            self.false_fires[skill] += 1;
            for &owner in &query.wanted_by {
                self.collide(owner, skill, loaded.contains(&owner), &query.text);
            }
        }
    }

    fn collide(&mut self, owner: usize, taker: usize, is_together: bool, query: &str) {
        let skills = (owner.min(taker), owner.max(taker));
        let place = self.pairs.iter().position(|pair| pair.skills == skills);
        let place = place.unwrap_or_else(|| {
            self.pairs.push(Pair { skills, runs: 0, together: 0, queries: Vec::new() });
            self.pairs.len() - 1
        });
        let pair = &mut self.pairs[place];
        pair.runs += 1;
        pair.together += u64::from(is_together);
        if pair.queries.last().is_none_or(|last| last != query) {
            pair.queries.push(query.to_owned());
        }
    }

    fn taken(&self, columns: &[u64]) -> Vec<Taken> {
        let mut list: Vec<Taken> = (self.labels.iter().zip(columns))
            .filter(|(_, runs)| **runs > 0)
            .map(|(skill, &runs)| Taken { skill: skill.clone(), runs, ..Taken::default() })
            .collect();
        list.sort_by_key(|taken| std::cmp::Reverse(taken.runs));
        list
    }

    fn skills(&self) -> Vec<SkillRoute> {
        let skill = |place: usize| SkillRoute {
            name: self.labels[place].clone(),
            queries: self.wanted[place],
            runs: self.runs[place],
            hits: self.hits[place],
            recall: (self.runs[place] > 0).then(|| rate(self.hits[place], self.runs[place])),
            recall_interval: interval(self.hits[place], self.runs[place]),
            false_fires: self.false_fires[place],
            ..SkillRoute::default()
        };
        (0..self.wanted.len()).map(skill).collect()
    }

    fn collisions(&self) -> Vec<Collision> {
        let name = |place: usize| self.labels[place].clone();
        let mut collisions: Vec<Collision> = (self.pairs.iter())
            .map(|pair| Collision {
                skills: [name(pair.skills.0), name(pair.skills.1)],
                runs: pair.runs,
                together: pair.together,
                queries: pair.queries.clone(),
                ..Collision::default()
            })
            .collect();
        collisions.sort_by_key(|collision| std::cmp::Reverse(collision.runs));
        collisions
    }
}

fn warnings(skills: &[RouteSkill], queries: &[RouteQuery]) -> Vec<String> {
    let name = |place: &usize| skills[*place].described.name.as_str();
    let mut warnings: Vec<String> = (skills.iter().filter(|skill| skill.set.is_none()))
        .map(|skill| {
            format!(
                "{} has no trigger set: every query that it takes counts against it",
                skill.described.name
            )
        })
        .collect();
    for query in queries.iter().filter(|query| query.wanted_by.len() > 1) {
        let names: Vec<&str> = query.wanted_by.iter().map(name).collect();
        warnings.push(format!(
            "{} all want \"{}\"; any of them may take it",
            names.join(", "),
            query.text
        ));
    }
    warnings
}
