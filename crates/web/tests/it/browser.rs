//! What a person does, in a real browser.

use std::path::PathBuf;

use serde_json::json;
use skillgauge_web::{AppState, listen, report, serve};

use crate::chromium::{Chromium, DESK, Look};
use crate::workspace::{Fixture, transcript};

/// A viewer that serves as long as the tests run.
fn viewer(fixture: &Fixture) -> String {
    let listener = listen(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let state = AppState::new(&fixture.root(), port, "secret".to_owned()).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve(listener, state)).unwrap();
    });
    format!("http://127.0.0.1:{port}")
}

fn assert_calm(browser: &Chromium) {
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
fn a_person_opens_filters_opens_a_case_and_compares_runs() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.open(&format!("{address}/"));
    let verdict = browser.eval("document.querySelector('#verdict').innerText.trim()");
    assert_eq!(verdict, "▲ Better +37 points");
    browser.click(".pages a:nth-child(2)");
    browser.wait("document.querySelector('#cases-rows')");
    browser.wait("document.readyState === 'complete'");
    let shown = "[...document.querySelectorAll('#cases-rows tr')].filter(row => row.offsetParent !== null).length";
    assert_eq!(browser.eval(shown), 4);
    browser.eval("document.querySelector('[data-filter]').focus()");
    browser.write("breaking");
    browser.wait(&format!("{shown} === 1"));
    assert_eq!(browser.eval("document.querySelector('[data-filter-count]').innerText"), "1 of 4");
    browser.click("#cases-rows tr:not([hidden]) a");
    browser.wait("document.querySelector('.sides')");
    browser.wait("document.readyState === 'complete'");
    browser.eval("document.querySelector('[name=left]').value = 'with_skill/run-3'");
    browser.click(".choose button");
    browser
        .wait("location.search.includes('left=with_skill') && document.readyState === 'complete'");
    let texts = browser.eval("document.querySelector('main').innerText");
    assert!(texts.as_str().unwrap().contains("From with skill, run 3 to without skill, run 1"));
    assert_calm(&browser);
}

#[test]
fn feedback_is_left_with_the_keyboard_alone_and_found_in_the_file() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.open(&format!("{address}/i/iteration-2/review"));
    browser.key("j");
    browser.key("j");
    let run = browser.eval("document.activeElement.dataset.run");
    browser.key("b");
    browser.key("c");
    browser.write("zu kurz — \"sagt\" nichts");
    browser.key("Escape");
    browser.key("s");
    browser.wait("document.activeElement.querySelector('output').textContent === 'saved'");
    let feedback = fixture.read_json("iteration-2/feedback.json");
    assert_eq!(feedback["reviews"][0]["run_id"], run);
    assert_eq!(feedback["reviews"][0]["mark"], "bad");
    assert_eq!(feedback["reviews"][0]["feedback"], "zu kurz — \"sagt\" nichts");
    assert_calm(&browser);
}

#[test]
fn a_case_is_opened_with_the_keyboard_alone() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.open(&format!("{address}/i/iteration-2/cases"));
    browser.key("Tab");
    assert_eq!(browser.eval("document.activeElement.className"), "skip");
    browser.key("/");
    browser.write("minor");
    browser.key("Escape");
    browser.key("j");
    browser.key("Enter");
    browser
        .wait("location.pathname.endsWith('/case/eval-1') && document.readyState === 'complete'");
    for _ in 0..200 {
        browser.key("Tab");
        if browser.eval("document.activeElement.className") == "jump" {
            break;
        }
    }
    browser.key("Enter");
    browser.wait("document.querySelector('.event:target')");
    let event = browser.eval("document.querySelector('.event:target').innerText");
    assert!(event.as_str().unwrap().contains("Export to CSV for everybody"), "{event}");
    assert_calm(&browser);
}

#[test]
fn a_page_follows_a_run_and_survives_a_reconnect() {
    let fixture = Fixture::full();
    fixture.write("iteration-2/journal.jsonl", "{\"event\":\"begun\"}\n");
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.open(&format!("{address}/i/iteration-2/overview"));
    let runs = "document.querySelector('.tiles li:nth-child(2) strong').textContent";
    assert_eq!(browser.eval(runs), "24");
    let journal = |names: &[&str]| {
        let lines = names.iter().map(|name| format!("{{\"event\":\"{name}\"}}\n"));
        fixture.write("iteration-2/journal.jsonl", lines.collect::<String>());
    };
    fixture.run("iteration-2/eval-5/with_skill/run-1", true, false);
    journal(&["begun", "run_finished"]);
    browser.wait("document.querySelector('#live').textContent === 'Live: run_finished'");
    browser.wait(&format!("{runs} === '25'"));
    // The network goes away and comes back; the browser connects again and misses nothing.
    let network = |offline: bool| json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.call("Network.emulateNetworkConditions", &network(true));
    fixture.run("iteration-2/eval-5/with_skill/run-2", true, false);
    journal(&["begun", "run_finished", "run_lost_and_found"]);
    browser.call("Network.emulateNetworkConditions", &network(false));
    browser.wait("document.querySelector('#live').textContent === 'Live: run_lost_and_found'");
    browser.wait(&format!("{runs} === '26'"));
}

#[test]
fn hostile_outputs_run_nothing() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    for page in ["case/eval-4", "transcript/eval-4/with_skill/run-1", "cases", "review", "overview"]
    {
        browser.open(&format!("{address}/i/iteration-2/{page}"));
        assert_eq!(browser.eval("typeof window.hacked"), "undefined", "{page}");
        assert_ne!(browser.eval("document.title"), "hacked", "{page}");
        assert_eq!(
            browser.eval("document.querySelectorAll('script:not([src])').length"),
            0,
            "{page}"
        );
        assert_eq!(
            browser.eval(
                "document.querySelectorAll('[onerror],[onload],[href^=\"javascript:\"]').length"
            ),
            0
        );
    }
    browser.open(&format!("{address}/i/iteration-2/case/eval-4"));
    browser.eval("document.querySelector('img').scrollIntoView()");
    browser.wait("document.querySelector('img').naturalWidth === 60");
    assert!(browser.eval("document.querySelector('.output pre').innerText").as_str().is_some());
    assert_calm(&browser);
    // Even a page that an output would be, when its address is framed by somebody.
    let file = format!("{address}/i/iteration-2/file/eval-4/with_skill/run-1/outputs/evil.svg");
    browser.eval(&format!(
        "new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = done; \
         frame.src = '{file}'; document.body.append(frame); setTimeout(done, 1500); }})"
    ));
    assert_eq!(browser.eval("typeof window.hacked"), "undefined");
}

/// The report of a workspace on disk, with the address of the file.
fn report_file(fixture: &Fixture) -> String {
    let path = fixture.path("report.html");
    fs_err::write(&path, report(&fixture.root()).unwrap()).unwrap();
    format!("file://{}", path.display())
}

#[test]
fn the_report_works_from_disk_and_gives_its_feedback_as_a_file() {
    let fixture = Fixture::full();
    fixture.json("iteration-2/feedback.json", &json!({"reviews": [
        {"run_id": "eval-1-with_skill-run-1", "feedback": "old", "stars": 5}], "status": "in_progress"}));
    let address = report_file(&fixture);
    let mut browser = Chromium::start();
    browser.open(&address);
    let pages = "[...document.querySelectorAll('.page')].filter(page => page.offsetParent !== null).map(page => page.id).join()";
    assert_eq!(browser.eval(pages), "overview");
    browser.eval("document.querySelector('.pages a[href=\"#cases\"]').click()");
    browser.wait(&format!("{pages} === 'cases'"));
    browser.click("#cases-rows a");
    browser.wait(&format!("{pages} === 'case-eval-4'"));
    browser.click("#case-eval-1 .jump");
    browser.wait(&format!("{pages} === 'transcript-eval-1-with_skill-run-1'"));
    assert_eq!(browser.eval("typeof window.hacked"), "undefined");
    browser.eval("document.querySelector('.pages a[href=\"#review\"]').click()");
    browser.wait(&format!("{pages} === 'review'"));
    let form = "document.querySelector('[data-run=eval-1-with_skill-run-2]')";
    browser.eval(&format!("{form}.querySelector('[value=good]').click()"));
    browser.eval(&format!("{form}.querySelector('textarea').focus()"));
    browser.write("fine");
    let folder = browser.folder().to_owned();
    let session = json!({"behavior": "allow", "downloadPath": folder});
    browser.call("Page.setDownloadBehavior", &session);
    browser.eval("document.querySelector('[data-download-feedback]').focus()");
    browser.click("[data-download-feedback]");
    let file = folder.join("feedback.json");
    let began = std::time::Instant::now();
    while !file.exists() {
        assert!(began.elapsed().as_secs() < 60, "no file was downloaded");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let feedback: serde_json::Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
    assert_eq!(
        feedback["reviews"][0],
        json!({"run_id": "eval-1-with_skill-run-1", "feedback": "old", "stars": 5})
    );
    assert_eq!(feedback["reviews"][1]["run_id"], "eval-1-with_skill-run-2");
    assert_eq!(
        (&feedback["reviews"][1]["mark"], &feedback["reviews"][1]["feedback"]),
        (&json!("good"), &json!("fine"))
    );
    let elsewhere =
        |url: &String| !["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
    assert!(!browser.requests().iter().any(elsewhere), "{:?}", browser.requests());
    assert_calm(&browser);
}

#[test]
fn everything_can_be_read_without_script() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    for (page, words) in [
        ("overview", "Better on these 4 cases: overall efficiency +37 points"),
        ("cases", "Notes for a minor release"),
        ("case/eval-1", "Sections for new and fixed"),
        ("transcript/eval-1/with_skill/run-1", "skill release-notes loaded"),
        ("review", "This run is"),
    ] {
        browser.open(&format!("{address}/i/iteration-2/{page}"));
        let text = browser.eval("document.querySelector('main').innerText");
        assert!(text.as_str().unwrap().contains(words), "{page}: {text}");
        assert_eq!(
            browser.eval("document.querySelectorAll('[data-needs-script]:not([hidden])').length"),
            0
        );
    }
    browser.open(&format!("{}#versions", report_file(&fixture)));
    let text = browser.eval("document.querySelector('main').innerText");
    assert!(text.as_str().unwrap().contains("A tie between v0 and v1"), "{text}");
    assert!(!text.as_str().unwrap().contains("Trigger"), "one page at a time");
}

#[test]
fn a_long_transcript_stays_smooth() {
    let fixture = Fixture::full();
    fixture.write("iteration-2/eval-1/with_skill/run-1/transcript.jsonl", transcript(true, 50_000));
    let address = viewer(&fixture);
    let mut browser = Chromium::start();
    browser.open(&format!("{address}/i/iteration-2/transcript/eval-1/with_skill/run-1?page=50"));
    assert_eq!(browser.eval("document.querySelectorAll('.event').length"), 500);
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelector('.event')).contentVisibility"),
        "auto"
    );
    browser.click("[rel=next]");
    browser.wait("location.search === '?page=51' && document.querySelector('.pager')?.innerText.includes('51 of 101')");
    assert_calm(&browser);
}

#[test]
fn pages_fit_phone_and_desk_in_light_and_dark() {
    let fixture = Fixture::full();
    let address = viewer(&fixture);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    fs_err::create_dir_all(&folder).unwrap();
    let mut browser = Chromium::start();
    let pages = [
        "overview",
        "cases",
        "case/eval-1",
        "transcript/eval-1/with_skill/run-1",
        "trigger",
        "routing",
        "tuning",
        "versions",
        "review",
    ];
    for (name, width) in [("phone", 390), ("desk", DESK.width)] {
        for scheme in ["light", "dark"] {
            browser.look(Look { width, height: 844, scheme });
            for page in pages {
                browser.open(&format!("{address}/i/iteration-2/{page}"));
                let overflow = browser.eval("document.documentElement.scrollWidth - innerWidth");
                assert!(
                    overflow.as_i64().unwrap() <= 0,
                    "{page} is {overflow} too wide on a {name}"
                );
                let background = browser.eval("getComputedStyle(document.body).backgroundColor");
                let expected =
                    if scheme == "dark" { "rgb(20, 23, 26)" } else { "rgb(251, 250, 248)" };
                assert_eq!(background, expected, "{page}");
                if matches!(page, "overview" | "case/eval-1" | "review") {
                    let file = format!("{}-{name}-{scheme}.png", page.split('/').next().unwrap());
                    browser.screenshot(&folder.join(file));
                }
            }
        }
    }
    assert_calm(&browser);
}
