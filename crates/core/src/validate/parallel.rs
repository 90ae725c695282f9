//! Checks every skill below some paths, in parallel, and puts the results out in order.
//!
//! ```text
//! walk -- batches --> several threads check -- each batch has a channel of its own --> the caller's thread writes
//!   \------- the receivers of those channels, in order; only so many may wait --------/
//! ```
//!
//! The walker may be only a few batches ahead of what was written, so memory does not grow with the number of skills,
//! however unevenly the work falls.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::Checked;
use super::fix::{self, FixError};
use super::listing::{Entry, Group, Groups, HINT};
use crate::finding::{Finding, Place};
use crate::output::{Detail, Renderer, Scope, Totals};
use crate::profile::Policy;
use crate::rule::rule_named;
use crate::skill::discover::{Found, Ignore, find};
use crate::skill::{Skill, State};
use crate::text::printable;

/// Skills in a batch: enough to make the hand-over cheap, few enough to keep all threads busy.
const BATCH: usize = 16;

/// Batches that may be under way for each checking thread.
const AHEAD: usize = 8;

/// Findings that a person gets in full before the output goes on with a line for each.
const FULL_FINDINGS: usize = 50;

/// The rule about all skills of a folder together.
const LISTING_BUDGET: &str = "LISTING_BUDGET";

/// A fix is checked again, and again fixed if that shows more: never more often than this.
const FIX_ROUNDS: usize = 3;

/// What to check and how.
pub struct Job<'a> {
    /// Skills, or folders that hold some.
    pub paths: &'a [PathBuf],
    pub ignore: Ignore,
    pub policy: &'a Policy,
    /// Whether to put right what can be put right.
    pub fixing: Fixing,
    pub threads: usize,
    pub renderer: &'a dyn Renderer,
}

/// What to do with findings that can be put right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fixing {
    #[default]
    Off,
    /// Put them right, and report what is left.
    On,
    /// Show what would be changed.
    DryRun,
}

#[derive(Debug, Default)]
pub struct ValidationSummary {
    /// Counts over all skills, after fixing.
    pub totals: Totals,
    /// Findings that were put right, or would be.
    pub fixed: usize,
    /// Fixes that could not be made.
    pub failed: Vec<FixError>,
}

impl Job<'_> {
    /// The policy for a skill among others: what is about all skills of a folder is not asked for each of them.
    fn among_others(&self) -> Policy {
        let mut policy = self.policy.clone();
        policy.ignored.extend(rule_named(LISTING_BUDGET).map(|rule| rule.code));
        policy
    }
}

/// Checks all and writes the report.
pub fn run(job: &Job<'_>, out: &mut dyn Write) -> io::Result<ValidationSummary> {
    let printed = AtomicUsize::new(0);
    let threads = job.threads.max(1);
    let (to_check, work) = channel();
    let (in_order, batches) = sync_channel((threads + 1) * AHEAD);
    let work = Mutex::new(work);
    std::thread::scope(|scope| {
        scope.spawn(move || walk(job, &to_check, &in_order));
        for _ in 0..threads {
            scope.spawn(|| check(job, &work, &printed));
        }
        let mut writer = Writer::new(job, out, &printed);
        let written = batches.iter().try_for_each(|batch: Receiver<Results>| {
            batch.iter().try_for_each(|results| writer.batch(results))
        });
        // With nobody to take them the walker stops, and with it everything else.
        drop(batches);
        written.and_then(|()| writer.close())
    })
}

/// Skills to check, and where to put what was found.
struct Batch {
    scope: Scope,
    found: Vec<Found>,
    results: Sender<Results>,
}

struct Results {
    scope: Scope,
    pieces: Vec<Piece>,
}

/// The outcome for one skill.
#[derive(Default)]
struct Piece {
    full: String,
    brief: Option<String>,
    totals: Totals,
    findings: usize,
    fixed: usize,
    failed: Option<FixError>,
    /// What the skill adds to the list of its folder.
    entry: Option<Entry>,
}

fn walk(job: &Job<'_>, to_check: &Sender<Batch>, in_order: &SyncSender<Receiver<Results>>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut scope = Scope::ManySkills;
    let send = |found: &mut Vec<Found>, scope| {
        let (results, receiver) = channel();
        let found = std::mem::replace(found, Vec::with_capacity(BATCH));
        in_order.send(receiver).is_ok() && to_check.send(Batch { scope, found, results }).is_ok()
    };
    let mut open = true;
    for path in job.paths {
        find(path, job.ignore, &mut |found| {
            if job.paths.len() == 1 && found.is_given_path(path) {
                scope = Scope::OneSkill;
            }
            batch.push(found);
            if batch.len() == BATCH {
                open = send(&mut batch, scope);
            }
            open
        });
        if !open {
            return;
        }
    }
    if !batch.is_empty() {
        send(&mut batch, scope);
    }
}

fn check(job: &Job<'_>, work: &Mutex<Receiver<Batch>>, printed: &AtomicUsize) {
    let among_others = job.among_others();
    loop {
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Batch { scope, found, results }) = next else { return };
        let policy = match scope {
            Scope::OneSkill => job.policy,
            Scope::ManySkills => &among_others,
        };
        let pieces = found.into_iter().map(|found| piece(job, policy, found, scope, printed));
        // Nobody listens any more when the output is broken.
        let _ = results.send(Results { scope, pieces: pieces.collect() });
    }
}

fn piece(
    job: &Job<'_>,
    policy: &Policy,
    found: Found,
    scope: Scope,
    printed: &AtomicUsize,
) -> Piece {
    let mut checked = Checked::new(found.read(), policy);
    let mut piece = Piece::default();
    match job.fixing {
        Fixing::Off => {}
        Fixing::On => checked = fixed(policy, checked, &mut piece),
        Fixing::DryRun => {
            if let Some(planned) = fix::plan(&checked) {
                piece.fixed = planned.findings;
                piece.full = fix::diff(&planned);
            }
        }
    }
    if scope == Scope::ManySkills {
        piece.entry = Entry::of(&checked.skill);
    }
    piece.totals.add(&checked);
    piece.findings = checked.findings.len();
    if job.fixing != Fixing::DryRun {
        // The writer's count only grows, so whatever it will want in full is still small enough here.
        let is_full = printed.load(Ordering::Relaxed) < FULL_FINDINGS;
        piece.render(job, &checked, scope, is_full);
    }
    piece
}

impl Piece {
    fn render(&mut self, job: &Job<'_>, checked: &Checked, scope: Scope, is_full: bool) {
        let has_brief = job.renderer.is_brief_when_long();
        self.brief = has_brief.then(|| job.renderer.skill(checked, scope, Detail::Line));
        if is_full || !has_brief {
            self.full = job.renderer.skill(checked, scope, Detail::Full);
        }
    }
}

/// What is to be said about a folder of skills, if anything.
fn folder_piece(job: &Job<'_>, group: Group) -> Option<Piece> {
    let rule = rule_named(LISTING_BUDGET)?;
    let level = job.policy.level(rule).filter(|_| job.fixing != Fixing::DryRun)?;
    let over = group.over()?;
    let finding = Finding {
        rule,
        level,
        message: printable(&over.message("in this folder")).into_owned(),
        place: Place::folder(),
        hint: Some(HINT.to_owned()),
        fix: None,
    };
    let state = State::NoSkillMd { near: Vec::new() };
    let skill = Skill { path: group.folder, state, files: Vec::new() };
    let checked = Checked { skill, findings: vec![finding] };
    let mut piece = Piece { findings: 1, ..Piece::default() };
    piece.totals.add_findings(&checked);
    piece.render(job, &checked, Scope::ManySkills, true);
    Some(piece)
}

/// Fixes, reads and checks again until nothing can be fixed.
fn fixed(policy: &Policy, mut checked: Checked, piece: &mut Piece) -> Checked {
    for _ in 0..FIX_ROUNDS {
        let Some(planned) = fix::plan(&checked) else { break };
        if let Err(error) = fix::apply(&planned) {
            piece.failed = Some(error);
            break;
        }
        piece.fixed += planned.findings;
        checked = Checked::new(crate::skill::Skill::read(&checked.skill.path), policy);
    }
    checked
}

struct Writer<'a> {
    job: &'a Job<'a>,
    out: &'a mut dyn Write,
    printed: &'a AtomicUsize,
    scope: Option<Scope>,
    pieces: usize,
    done: ValidationSummary,
    /// The folders whose skills are under way.
    groups: Groups,
}

impl<'a> Writer<'a> {
    fn new(job: &'a Job<'a>, out: &'a mut dyn Write, printed: &'a AtomicUsize) -> Self {
        let groups = Groups::default();
        Self {
            job,
            out,
            printed,
            scope: None,
            pieces: 0,
            done: ValidationSummary::default(),
            groups,
        }
    }

    fn batch(&mut self, results: Results) -> io::Result<()> {
        self.open(results.scope)?;
        results.pieces.into_iter().try_for_each(|piece| self.piece(piece))
    }

    fn open(&mut self, scope: Scope) -> io::Result<()> {
        if self.scope.is_none() {
            self.scope = Some(scope);
            if self.job.fixing != Fixing::DryRun {
                self.out.write_all(self.job.renderer.open(scope).as_bytes())?;
            }
        }
        Ok(())
    }

    fn piece(&mut self, mut piece: Piece) -> io::Result<()> {
        // Whatever is complete now comes before the skill that lies outside of it.
        if let Some(entry) = piece.entry.take() {
            let complete = self.groups.add(entry);
            self.folders(complete)?;
        }
        self.put(piece)
    }

    /// Reports the folders whose skills do not fit into one list.
    fn folders(&mut self, groups: Vec<Group>) -> io::Result<()> {
        for group in groups {
            if let Some(piece) = folder_piece(self.job, group) {
                self.put(piece)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, piece: Piece) -> io::Result<()> {
        let before = self.printed.fetch_add(piece.findings, Ordering::Relaxed);
        let text = match piece.brief {
            Some(brief) if before >= FULL_FINDINGS => brief,
            _ => piece.full,
        };
        if !text.is_empty() {
            if self.pieces > 0 {
                self.out.write_all(self.job.renderer.separator().as_bytes())?;
            }
            self.out.write_all(text.as_bytes())?;
            self.pieces += 1;
        }
        self.done.totals.merge(&piece.totals);
        self.done.fixed += piece.fixed;
        self.done.failed.extend(piece.failed);
        Ok(())
    }

    fn close(mut self) -> io::Result<ValidationSummary> {
        let scope = self.scope.unwrap_or(Scope::ManySkills);
        self.open(scope)?;
        let complete = self.groups.finish();
        self.folders(complete)?;
        if self.job.fixing != Fixing::DryRun {
            let end = self.job.renderer.close(&self.done.totals, scope);
            self.out.write_all(end.as_bytes())?;
        }
        self.out.flush()?;
        Ok(self.done)
    }
}
