//! Output without end: our own memory stays small, and the limits hold.

use std::time::Duration;

use skillgauge_format::transcript::Stop;
use skillgauge_run::process::{Flow, Limits, run};
use tokio_util::sync::CancellationToken;

use crate::guard;
use crate::process::stage::{Place, limits};

const FLOOD: u64 = 200 << 20;
const NOISE: u64 = 6 << 20;

/// The peak of this process so far, in bytes.
fn peak_rss() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn a_flood_of_lines_is_read_in_little_memory() {
    let place = Place::new();
    let command = place.shell(&format!("yes 'a line of some length' | head -c {FLOOD}"));
    let before = peak_rss();
    let mut lines = 0_u64;
    let on_line = |_: &[u8]| {
        lines += 1;
        Flow::Continue
    };
    let ended = run(&guard(), &command, &limits(), &CancellationToken::new(), on_line).await;
    place.expect_nothing_left();
    let ended = ended.unwrap();
    assert_eq!((ended.status.code, ended.stdout.bytes), (Some(0), FLOOD));
    assert_eq!((ended.stdout.lines, ended.stdout.note()), (lines, None));
    // Other tests run in this process, too; a flood that was kept would be 200 MB.
    assert!(peak_rss() - before < 150 << 20, "{before} -> {}", peak_rss());
}

#[tokio::test]
async fn a_line_without_end_is_cut() {
    let place = Place::new();
    let limits = Limits { line_bytes: 1 << 20, ..limits() };
    let before = peak_rss();
    let command = place.shell(&format!("head -c {FLOOD} /dev/zero"));
    let (ended, lines) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!((ended.stdout.bytes, lines.len(), lines[0].len()), (FLOOD, 1, 1 << 20));
    assert_eq!(ended.stdout.cut_from_lines, FLOOD - (1 << 20));
    assert!(ended.stdout.note().unwrap().contains("too long"));
    assert!(peak_rss() - before < 150 << 20, "{before} -> {}", peak_rss());
}

#[tokio::test]
async fn what_follows_the_limit_on_all_output_is_counted_and_left_out() {
    let place = Place::new();
    let limits = Limits { stdout_bytes: 1000, ..limits() };
    let command = place.shell("yes 123456789 | head -n 5000; exit 3");
    let (ended, lines) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!((ended.status.code, lines.len()), (Some(3), 100));
    assert_eq!((ended.stdout.bytes, ended.stdout.cut_at_end), (50_000, 49_000));
    assert!(ended.stdout.note().unwrap().contains("49000 bytes"));
}

#[tokio::test]
async fn the_end_of_standard_error_is_kept() {
    let place = Place::new();
    let limits = Limits { stderr_bytes: 4096, ..limits() };
    let command = place.shell(&format!("yes noise | head -c {NOISE} >&2; echo last >&2"));
    let (ended, _) = place.run_within(&command, &limits).await.unwrap();
    let text = ended.stderr.text();
    assert!(text.ends_with("noise\nlast\n") && text.starts_with("noise\n"), "{text}");
    assert!(text.len() <= 4096);
    assert_eq!(ended.stderr.dropped(), NOISE + 5 - 4096);
}

#[tokio::test]
async fn a_flood_without_end_runs_into_the_timeout() {
    let place = Place::new();
    let limits = Limits { timeout: Duration::from_secs(2), stdout_bytes: 1 << 20, ..limits() };
    let command = place.shell("yes & yes >&2");
    let (ended, _) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!(ended.status.stop, Some(Stop::Timeout));
    assert!(ended.stdout.cut_at_end > 0);
}
