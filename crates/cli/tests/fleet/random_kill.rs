//! Workers and servers that are killed at moments that a seed decides, several times in one plan.
//!
//! `SKILLGAUGE_FLEET_SEEDS=20 cargo test -p skillgauge --test fleet kill` tries twenty seeds of each and tells what it
//! came to; without the variable it is one. A seed that fails is named: `SKILLGAUGE_FLEET_FIRST_SEED` begins with it.

use std::io::Write as _;
use std::time::Duration;

use skillgauge_testkit::process::Group;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, LIMIT, Work, assert_complete, until};

const KILLS: u64 = 3;
/// Nothing is killed later than so long after the kill before: the plan would be over.
const LATEST: u64 = 1200;

/// Numbers that follow from a seed.
struct Draw(u64);

impl Draw {
    /// The next number below `end` (splitmix64).
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    fn wait(&mut self) {
        std::thread::sleep(Duration::from_millis(self.below(LATEST)));
    }
}

/// Names the seed if its test panics.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr(), "this was seed {}", self.0);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Tries each seed with a plan of its own; `try_one` tells how often agents were executed.
fn each_seed(what: &str, try_one: impl Fn(&mut Draw) -> usize) {
    let seeds = number("SKILLGAUGE_FLEET_SEEDS");
    let first = number("SKILLGAUGE_FLEET_FIRST_SEED").unwrap_or(1);
    let mut again = Vec::new();
    for seed in first..first + seeds.unwrap_or(1) {
        let _named = Named(seed);
        again.push(try_one(&mut Draw(seed)) - 24);
    }
    if seeds.is_some() {
        let (total, tried) = (again.iter().sum::<usize>(), again.len());
        let told = format!(
            "{what}: {tried} seeds of {KILLS} kills, {} runs, each with one result; {total} executed again: {again:?}",
            tried * 24
        );
        // Straight to stderr: the test harness would keep a print for itself.
        let _ = writeln!(std::io::stderr(), "{told}");
    }
}

/// Something is being executed, uploaded and committed at every moment.
const BUSY: Work = Work { bytes: 700_000, millis: 100, before: Vec::new() };
/// A run that dies with every worker is not what this is about.
const DELIVERIES: [&str; 2] = ["--deliveries", "20"];

#[test]
fn workers_that_are_killed_at_random_moments_cost_time_and_nothing_else() {
    each_seed("workers killed", |draw| {
        let (kit, _server) = Kit::start(BUSY);
        kit.submit(&DELIVERIES);
        let mut workers =
            [kit.worker("w0", &["--slots", "2"]), kit.worker("w1", &["--slots", "2"])];
        let collecting = kit.collecting();
        for kill in 0..KILLS {
            draw.wait();
            let victim = usize::try_from(draw.below(2)).unwrap();
            workers[victim] = kit.worker(&format!("w{}", kill + 2), &["--slots", "2"]);
        }
        assert_complete(&collecting.finish(LIMIT).unwrap());
        all_is_right(&kit, &Ended::Complete);
        kit.executions()
    });
}

#[test]
fn a_server_that_is_killed_at_random_moments_costs_time_and_nothing_else() {
    each_seed("servers killed", |draw| {
        let (kit, mut server) = Kit::start(BUSY);
        kit.submit(&DELIVERIES);
        let workers = [kit.worker("w0", &["--slots", "2"]), kit.worker("w1", &["--slots", "2"])];
        let collecting = kit.collecting();
        // A server that is not there at the beginning is an error, and rightly so.
        until("everybody is at it", || {
            let is_at_it = |group: &Group| group.stderr().unwrap().contains("eval-");
            workers.iter().all(is_at_it) && kit.is_something_home()
        });
        for _ in 0..KILLS {
            draw.wait();
            server.kill();
            draw.wait();
            server.restart().unwrap();
        }
        assert_complete(&collecting.finish(LIMIT).unwrap());
        all_is_right(&kit, &Ended::Complete);
        kit.executions()
    });
}
