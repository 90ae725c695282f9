//! Lines arrive while the program runs, whatever bytes they hold.

use std::time::{Duration, Instant};

use skillgauge_run::process::{Flow, run};
use tokio_util::sync::CancellationToken;

use crate::guard;
use crate::process::stage::{Place, limits};

#[tokio::test]
async fn a_line_is_heard_while_the_program_runs() {
    let place = Place::new();
    let mut times = Vec::new();
    let on_line = |_: &[u8]| {
        times.push(Instant::now());
        Flow::Continue
    };
    let command = place.shell("echo a; sleep 0.5; echo b");
    run(&guard(), &command, &limits(), &CancellationToken::new(), on_line).await.unwrap();
    assert!(times[1] - times[0] >= Duration::from_millis(400), "both came at the end");
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive_as_they_are() {
    let place = Place::new();
    let mut heard = Vec::new();
    let on_line = |line: &[u8]| {
        heard.push(line.to_vec());
        Flow::Continue
    };
    let command = place.shell(r"printf '\377\000x\r\n\n\303\251'");
    run(&guard(), &command, &limits(), &CancellationToken::new(), on_line).await.unwrap();
    assert_eq!(heard, [&b"\xff\0x\r"[..], b"", b"\xc3\xa9"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_programs_run_beside_each_other() {
    let place = Place::new();
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let command = place.shell(&format!("sleep 0.1; echo {number}; exit {number}"));
            tokio::spawn(async move {
                let mut said = String::new();
                let on_line = |line: &[u8]| {
                    said.push_str(&String::from_utf8_lossy(line));
                    Flow::Continue
                };
                let cancel = CancellationToken::new();
                let ended = run(&guard(), &command, &limits(), &cancel, on_line).await.unwrap();
                (ended.status.code, said)
            })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        let (code, said) = task.await.unwrap();
        assert_eq!((code, said), (i32::try_from(number).ok(), number.to_string()));
    }
    place.expect_nothing_left();
}
