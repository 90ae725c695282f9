//! From who took each query to the route report.

use skillgauge_format::Number;
use skillgauge_format::trigger::{
    Collision, ConfusionMatrix, QueryRoute, RouteBasis, RouteReport, RouteSummary, SkillRoute,
    Taken,
};
use skillgauge_format::write::{rate, round_rate};

use super::plan::{RouteQuery, RouteSkill};
use crate::tune::round::interval;

/// The name of the row and column for "no skill".
pub const NONE: &str = "none";

/// Who took a query in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The skill at this place.
    Skill(usize),
    None,
    /// Nobody knows: the run measured nothing.
    Error,
}

/// How a report is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The share of runs that must go right.
    pub threshold: f64,
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
        results.push(count.query(query, takes, settings.threshold));
    }
    let of = |pass: Option<bool>| results.iter().filter(|r| r.pass == pass).count() as u64;
    RouteReport {
        basis: settings.basis,
        summary: RouteSummary {
            passed: of(Some(true)),
            failed: of(Some(false)),
            unmeasured: of(None),
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

/// Whether a take is what the query's owners want. One that nobody wants must only stay away from those that refuse it.
fn is_right(query: &RouteQuery, take: Take) -> bool {
    match take {
        Take::Skill(skill) if query.wanted_by.is_empty() => !query.refused_by.contains(&skill),
        Take::Skill(skill) => query.wanted_by.contains(&skill),
        Take::None => query.wanted_by.is_empty(),
        Take::Error => false,
    }
}

/// Counts over all queries; the last place of rows and columns is `none`.
struct Count {
    labels: Vec<String>,
    rows: Vec<Vec<u64>>,
    wanted: Vec<u64>,
    runs: Vec<u64>,
    hits: Vec<u64>,
    false_fires: Vec<u64>,
    /// Pairs of skills, the smaller place first, in the order in which they were met.
    pairs: Vec<((usize, usize), u64, Vec<String>)>,
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

    fn query(&mut self, query: &RouteQuery, takes: &[Take], threshold: f64) -> QueryRoute {
        let mut columns = vec![0_u64; self.labels.len()];
        let mut right = 0_u64;
        for &skill in &query.wanted_by {
            self.wanted[skill] += 1;
        }
        for &take in takes {
            let Some(column) = self.column(take) else { continue };
            columns[column] += 1;
            right += u64::from(is_right(query, take));
            self.run(query, take, column);
        }
        let runs = takes.len() as u64;
        let completed: u64 = columns.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "counts of runs")]
        let pass = (completed > 0).then_some(right as f64 >= threshold * completed as f64);
        let name = |place: &usize| self.labels[*place].clone();
        QueryRoute {
            query: query.text.clone(),
            wanted_by: query.wanted_by.iter().map(name).collect(),
            refused_by: query.refused_by.iter().map(name).collect(),
            taken_by: self.taken(&columns),
            runs,
            errors: runs - completed,
            pass,
            ..QueryRoute::default()
        }
    }

    /// The column of a take; none for a run that measured nothing.
    fn column(&self, take: Take) -> Option<usize> {
        match take {
            Take::Skill(skill) if skill < self.wanted.len() => Some(skill),
            Take::None => Some(self.wanted.len()),
            Take::Skill(_) | Take::Error => None,
        }
    }

    fn run(&mut self, query: &RouteQuery, take: Take, column: usize) {
        let taker = (column < self.wanted.len()).then_some(column);
        let is_wanted = taker.is_some_and(|skill| query.wanted_by.contains(&skill));
        let row = if is_wanted {
            column
        } else {
            query.wanted_by.first().copied().unwrap_or(self.wanted.len())
        };
        self.rows[row][column] += 1;
        for &skill in &query.wanted_by {
            self.runs[skill] += 1;
            self.hits[skill] += u64::from(taker == Some(skill));
        }
        if let Some(skill) = taker
            && !is_right(query, take)
        {
            self.false_fires[skill] += 1;
            for &owner in &query.wanted_by {
                self.collide(owner, skill, &query.text);
            }
        }
    }

    fn collide(&mut self, owner: usize, taker: usize, query: &str) {
        let pair = (owner.min(taker), owner.max(taker));
        if let Some((_, runs, queries)) = self.pairs.iter_mut().find(|(known, ..)| *known == pair) {
            *runs += 1;
            if queries.last().is_none_or(|last| last != query) {
                queries.push(query.to_owned());
            }
        } else {
            self.pairs.push((pair, 1, vec![query.to_owned()]));
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
        let mut collisions: Vec<Collision> = (self.pairs.iter())
            .map(|((one, other), runs, queries)| Collision {
                skills: [self.labels[*one].clone(), self.labels[*other].clone()],
                runs: *runs,
                queries: queries.clone(),
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
            format!("{} has no trigger set; it is only there to compete", skill.described.name)
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
