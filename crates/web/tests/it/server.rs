//! The viewer over HTTP: what it shows, and everything that it must refuse.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::json;
use skillgauge_web::{AppState, FleetView, app};
use tower::ServiceExt as _;

use crate::workspace::{Fixture, HOSTILE, transcript};

const PORT: u16 = 8420;
const HOST: &str = "127.0.0.1:8420";
const TOKEN: &str = "0123456789abcdef";

fn viewer(fixture: &Fixture) -> Router {
    app(AppState::new(&fixture.root(), PORT, TOKEN.to_owned()).unwrap())
}

async fn send(router: &Router, request: Request<Body>) -> Response<Body> {
    router.clone().oneshot(request).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8_lossy(&response.into_body().collect().await.unwrap().to_bytes()).into_owned()
}

fn request(method: Method, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header(header::HOST, HOST)
}

async fn get(router: &Router, path: &str) -> Response<Body> {
    send(router, request(Method::GET, path).body(Body::empty()).unwrap()).await
}

async fn page(router: &Router, path: &str) -> String {
    let response = get(router, path).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    text(response).await
}

/// A review as our page sends it.
fn review(fields: &str) -> Request<Body> {
    request(Method::POST, "/i/iteration-2/review")
        .header(header::ORIGIN, format!("http://{HOST}"))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(fields.to_owned()))
        .unwrap()
}

const RUN: &str = "run=eval-1%2Fwith_skill%2Frun-1";

/// What `route` writes is shown as its own page shows it.
#[tokio::test]
async fn a_route_report_is_shown_with_skills_collisions_and_queries() {
    let fixture = Fixture::full();
    let text = include_str!("../../../format/testdata/skillgauge/route-report.json");
    fs_err::write(fixture.root().join("trigger/route-2.json"), text).unwrap();
    let html = page(&viewer(&fixture), "/i/iteration-2/routing").await;
    for words in [
        "4 of 6 queries went",
        "1 of 3 queries went",
        "csv-report and pdf-forms: 3 runs",
        "✗ wrong",
    ] {
        assert!(html.contains(words), "the page does not say: {words}");
    }
}

/// The page of a fleet is there when one is watched, and follows what is told.
#[tokio::test]
async fn a_fleet_that_is_watched_has_a_page_that_follows_it() {
    let fixture = Fixture::full();
    let absent = get(&viewer(&fixture), "/i/iteration-2/fleet").await;
    assert_eq!(absent.status(), StatusCode::NOT_FOUND);
    let fleet = |done: u64, problem: Option<&str>| -> FleetView {
        let told = json!({"problem": problem, "workers": [{"name": HOSTILE, "slots": 4, "grade_slots": 1, "running": {"p1": 2}, "done": 7, "failed": 1,
                "tool_version": "0.1.0", "left": [{"queue": "grades", "plan": "p1", "why": "there is no key"}]}],
            "plans": [{"id": "p1", "skill": "notes", "agent": "claude", "state": "running", "planned": 20, "queued": 3,
                "running": 2, "done": done, "failed": 1, "lost": 0, "graded": 5, "grades_queued": 1,
                "runs_per_minute": 12.5, "seconds_left": 65.0}]});
        serde_json::from_value(told).unwrap()
    };
    let (tell, feed) = tokio::sync::watch::channel(fleet(15, None));
    let state = AppState::new(&fixture.root(), PORT, TOKEN.to_owned()).unwrap();
    let router = app(state.with_fleet(feed));
    let html = page(&router, "/i/iteration-2/fleet").await;
    for words in [
        "1 worker, 2 runs running in 1 plan",
        "15 of 20",
        "12.5",
        "gradings of plan p1: there is no key",
        "data-live=\"&#x2f;fleet&#x2f;live\"",
    ] {
        assert!(html.contains(words), "the page does not say: {words}");
    }
    assert!(!html.contains(HOSTILE));
    assert!(page(&router, "/i/iteration-2/overview").await.contains(">Fleet</a>"));
    let news = get(&router, "/fleet/live").await;
    tell.send(fleet(16, Some("the server is away"))).unwrap();
    let told = news.into_body().frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(String::from_utf8_lossy(&told).contains("the fleet moved"));
    let html = page(&router, "/i/iteration-2/fleet").await;
    assert!(html.contains("16 of 20") && html.contains("the server is away"));
}

#[tokio::test]
async fn every_page_is_there_and_leads_to_the_others() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    let home = get(&router, "/").await;
    assert_eq!(home.headers()[header::LOCATION], "/i/iteration-2/overview");
    for (path, words) in [
        ("overview", "Better on these 4 cases: overall efficiency +37 points"),
        ("cases", "What fails comes first"),
        ("trigger", "3 of 5 queries pass"),
        ("routing", "4 of 6 queries went where they should"),
        ("tuning", "best held-out rate"),
        ("versions", "A tie between v0 and v1"),
        ("review", "people and judge"),
        ("case/eval-1", "Side by side"),
        ("transcript/eval-1/with_skill/run-1", "release-notes loaded"),
        ("transcript/eval-1/with_skill/run-1", "4,203 tokens in, 51 out, 27 characters"),
    ] {
        let html = page(&router, &format!("/i/iteration-2/{path}")).await;
        assert!(html.contains(words), "{path} does not say: {words}");
        assert!(html.contains("href=\"&#x2f;i&#x2f;iteration-2&#x2f;cases\""), "{path}");
    }
    let old = page(&router, "/i/iteration-1/overview").await;
    assert!(old.contains("on these 4 cases: overall efficiency "));
}

#[tokio::test]
async fn what_fails_comes_first() {
    let fixture = Fixture::full();
    let html = page(&viewer(&fixture), "/i/iteration-2/cases").await;
    let place = |name: &str| html.find(&format!(">{name}")).unwrap();
    assert!(place("Hostile") < place("Notes for a minor release"));
    assert!(html.contains(
        "title=\"Hostile &lt;script&gt;alert(1)&lt;&#x2f;script&gt; name, with skill, run 3: failed"
    ));
}

#[tokio::test]
async fn two_runs_can_be_chosen_and_compared() {
    let fixture = Fixture::full();
    let path = "/i/iteration-2/case/eval-1?left=with_skill%2Frun-2&right=without_skill%2Frun-3";
    let html = page(&viewer(&fixture), path).await;
    assert!(html.contains("From with skill, run 2 to without skill, run 3"));
    assert!(html.contains("<del>− # Release 2.1"));
    assert!(html.contains("<ins>+ # Changes"));
    let odd = "/i/iteration-2/case/eval-1?left=..%2F..%2Fetc&right=%00";
    assert!(page(&viewer(&fixture), odd).await.contains("From with skill, run 1"));
}

#[tokio::test]
async fn a_long_transcript_comes_in_pages() {
    let fixture = Fixture::full();
    fixture.write("iteration-2/eval-1/with_skill/run-1/transcript.jsonl", transcript(true, 50_000));
    let router = viewer(&fixture);
    let at = "/i/iteration-2/transcript/eval-1/with_skill/run-1";
    let html = page(&router, at).await;
    assert!(html.contains("page 1 of 101"));
    assert_eq!(html.matches("class=\"event event-").count(), 500);
    let last = page(&router, &format!("{at}?page=101")).await;
    assert!(last.contains("Export to CSV for everybody"));
    let case = page(&router, "/i/iteration-2/case/eval-1").await;
    assert!(
        case.contains("page=101#event-eval-1-with_skill-run-1-50005"),
        "evidence leads to its page"
    );
    assert_eq!(get(&router, &format!("{at}?page=x")).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_answer_forbids_what_no_page_needs() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    for path in
        ["/i/iteration-2/overview", "/assets/script.js", "/nowhere", "/i/iteration-2/case/no"]
    {
        let response = get(&router, path).await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}");
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{path}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff", "{path}");
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store", "{path}");
    }
    let html = page(&router, "/i/iteration-2/case/eval-1").await;
    assert_eq!(html.matches("<script").count(), html.matches("<script src=\"/assets/").count());
    assert!(!html.contains(HOSTILE) && !html.contains(" style=\"") && !html.contains("onerror=\""));
}

#[tokio::test]
async fn outputs_are_downloads_in_a_sandbox() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    let at = "/i/iteration-2/file/eval-1/with_skill/run-1/outputs";
    for (file, media_type) in [
        ("evil.html", "application/octet-stream"),
        ("notes.pdf", "application/octet-stream"),
        ("evil.svg", "image/svg+xml"),
        ("data/changes.csv", "application/octet-stream"),
    ] {
        let response = get(&router, &format!("{at}/{file}")).await;
        assert_eq!(response.status(), StatusCode::OK, "{file}");
        let headers = response.headers();
        assert_eq!(headers[header::CONTENT_TYPE], media_type, "{file}");
        assert!(
            headers[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .unwrap()
                .starts_with("sandbox; default-src 'none'")
        );
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(headers[header::CONTENT_DISPOSITION].to_str().unwrap().starts_with("attachment; "));
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_outputs() {
    let fixture = Fixture::full();
    fixture.write("secret.txt", "SECRET");
    fixture.write("iteration-2/secret.txt", "SECRET");
    let run = "eval-1/with_skill/run-1";
    #[cfg(unix)]
    {
        let outputs = fixture.path(&format!("iteration-2/{run}/outputs"));
        std::os::unix::fs::symlink(fixture.path("secret.txt"), outputs.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(fixture.path("iteration-2"), outputs.join("up")).unwrap();
        std::os::unix::fs::symlink("/etc", outputs.join("etc")).unwrap();
    }
    let router = viewer(&fixture);
    let at = format!("/i/iteration-2/file/{run}/outputs");
    for path in [
        format!("{at}/../../../../secret.txt"),
        format!("{at}/..%2f..%2f..%2f..%2fsecret.txt"),
        format!("{at}/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/secret.txt"),
        format!("{at}/..%5c..%5csecret.txt"),
        format!("{at}/%252e%252e/%252e%252e/secret.txt"),
        format!("{at}//etc/passwd"),
        format!("{at}/%2fetc%2fpasswd"),
        format!("{at}/notes.md%00.png"),
        format!("{at}/link.txt"),
        format!("{at}/up/secret.txt"),
        format!("{at}/etc/passwd"),
        format!("/i/iteration-2/file/{run}/grading.json"),
        "/i/iteration-2/file/..%2foutputs%2f..%2fsecret.txt".to_owned(),
        "/i/..%2f..%2f/file/x/outputs/y".to_owned(),
        "/i/%2e%2e/overview".to_owned(),
        "/i/%2fetc/overview".to_owned(),
        "/i/iteration-2/case/..%2f..%2fv0".to_owned(),
        "/i/iteration-2/case/%2fetc".to_owned(),
        "/i/iteration-2/transcript/..%2f..%2f..%2fetc".to_owned(),
        "/i/iteration-2/transcript//etc/passwd".to_owned(),
        "/i/iteration-2/transcript/eval-1/with_skill/run-1/../../../../secret".to_owned(),
    ] {
        let response = get(&router, &path).await;
        let status = response.status();
        assert!(status.is_client_error(), "{path}: {status}");
        let body = text(response).await;
        assert!(!body.contains("SECRET") && !body.contains("root:"), "{path}");
    }
    assert!(!page(&router, "/i/iteration-2/case/eval-1").await.contains("SECRET"));
}

#[tokio::test]
async fn only_our_own_address_is_answered() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    for host in [
        "evil.example",
        "evil.example:8420",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil:8420",
        "",
    ] {
        let request = Request::get("/i/iteration-2/overview").header(header::HOST, host);
        let response = send(&router, request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{host}");
    }
    let none = Request::get("/i/iteration-2/overview").body(Body::empty()).unwrap();
    assert_eq!(send(&router, none).await.status(), StatusCode::FORBIDDEN);
    let twice =
        request(Method::GET, "/").header(header::HOST, "evil.example").body(Body::empty()).unwrap();
    assert_eq!(send(&router, twice).await.status(), StatusCode::FORBIDDEN);
    let local = Request::get("/assets/style.css").header(header::HOST, "localhost:8420");
    assert_eq!(send(&router, local.body(Body::empty()).unwrap()).await.status(), StatusCode::OK);
    let elsewhere =
        request(Method::GET, "/i/iteration-2/live").header(header::ORIGIN, "https://evil.example");
    assert_eq!(
        send(&router, elsewhere.body(Body::empty()).unwrap()).await.status(),
        StatusCode::FORBIDDEN
    );
}

#[tokio::test]
async fn a_review_is_saved_in_the_shape_of_the_skill_creator() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    let fields = format!(
        "token={TOKEN}&{RUN}&mark=bad&comment=Gr%C3%B6%C3%9Fe%0D%0Afehlt+&text-0=Notes+are+written&verdict-0=failed\
         &text-1=Sections&verdict-1="
    );
    let response = send(&router, review(&fields)).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(text(response).await, "saved");
    let mut saved = fixture.read_json("iteration-2/feedback.json");
    let review = saved["reviews"][0].as_object_mut().unwrap();
    assert!(review.remove("timestamp").unwrap().as_str().unwrap().ends_with('Z'));
    assert_eq!(
        saved,
        json!({
            "reviews": [{
                "run_id": "eval-1-with_skill-run-1", "feedback": "Größe\nfehlt", "mark": "bad",
                "verdicts": [{"text": "Notes are written", "passed": false}],
            }],
            "status": "in_progress",
        })
    );
    let html = page(&router, "/i/iteration-2/review").await;
    assert!(html.contains("1 of 24 runs reviewed"));
    assert!(html.contains("alike in 0 of 1"));
}

#[tokio::test]
async fn agreement_between_people_and_judge_is_shown() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    // The judge passed run 1 of case 1 with the skill, and no run without it.
    for (run, mark) in [
        ("eval-1%2Fwith_skill%2Frun-1", "good"),
        ("eval-1%2Fwith_skill%2Frun-2", "good"),
        ("eval-1%2Fwithout_skill%2Frun-1", "bad"),
        ("eval-1%2Fwithout_skill%2Frun-2", "good"),
    ] {
        let response =
            send(&router, review(&format!("token={TOKEN}&run={run}&mark={mark}&comment="))).await;
        assert_eq!(response.status(), StatusCode::OK, "{run}");
    }
    // Alike in 3 of 4, by chance 1/2: kappa 0.5.
    let html = page(&router, "/i/iteration-2/review").await;
    assert!(html.contains("κ = 0.50, alike in 3 of 4"));
}

#[tokio::test]
async fn a_form_without_script_comes_back_to_its_run() {
    let fixture = Fixture::full();
    let mut request = review(&format!("token={TOKEN}&{RUN}&mark=good&comment=&page=2"));
    request.headers_mut().insert(header::ACCEPT, "text/html,*/*;q=0.8".parse().unwrap());
    let response = send(&viewer(&fixture), request).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let to = &response.headers()[header::LOCATION];
    assert_eq!(to, "/i/iteration-2/review?page=2#review-eval-1-with_skill-run-1");
}

#[tokio::test]
async fn a_write_needs_the_token_the_origin_and_a_run_that_is_there() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    let good = format!("token={TOKEN}&{RUN}&mark=good&comment=x");
    for fields in
        [format!("{RUN}&mark=good"), format!("token=&{RUN}"), format!("token={TOKEN}0&{RUN}")]
    {
        assert_eq!(
            send(&router, review(&fields)).await.status(),
            StatusCode::FORBIDDEN,
            "{fields}"
        );
    }
    for run in ["..%2F..%2Fetc", "eval-9%2Fwith_skill%2Frun-1", "%2Fetc%2Fpasswd", ""] {
        let fields = format!("token={TOKEN}&run={run}&comment=x");
        assert_eq!(send(&router, review(&fields)).await.status(), StatusCode::NOT_FOUND, "{run}");
    }
    for origin in ["https://evil.example", "null", "http://127.0.0.1:80", "https://127.0.0.1:8420"]
    {
        let mut request = review(&good);
        request.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
        assert_eq!(send(&router, request).await.status(), StatusCode::FORBIDDEN, "{origin}");
    }
    let mut silent = review(&good);
    silent.headers_mut().remove(header::ORIGIN);
    assert_eq!(send(&router, silent).await.status(), StatusCode::FORBIDDEN);
    let mut cross = review(&good);
    cross.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert_eq!(send(&router, cross).await.status(), StatusCode::FORBIDDEN);
    let large = format!("{good}{}", "x".repeat(300 << 10));
    assert_eq!(send(&router, review(&large)).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS] {
        let request = request(method.clone(), "/i/iteration-2/review")
            .header(header::ORIGIN, format!("http://{HOST}"))
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            send(&router, request).await.status(),
            StatusCode::METHOD_NOT_ALLOWED,
            "{method}"
        );
    }
    assert!(!fixture.path("iteration-2/feedback.json").exists());
}

#[tokio::test]
async fn a_broken_feedback_file_is_kept() {
    let fixture = Fixture::full();
    fixture.write("iteration-2/feedback.json", "{ precious");
    let fields = format!("token={TOKEN}&{RUN}&mark=good&comment=x");
    let response = send(&viewer(&fixture), review(&fields)).await;
    assert_eq!(response.status(), StatusCode::CONFLICT);
    assert_eq!(
        fs_err::read_to_string(fixture.path("iteration-2/feedback.json")).unwrap(),
        "{ precious"
    );
}

/// Reads so many events of a stream.
async fn events(response: Response<Body>, count: usize) -> String {
    let mut body = response.into_body();
    let mut text = String::new();
    while text.matches("data: ").count() < count {
        let frame = body.frame().await.unwrap().unwrap();
        text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
    text
}

#[tokio::test]
async fn live_updates_go_on_where_they_were() {
    let fixture = Fixture::full();
    let router = viewer(&fixture);
    let line = |name: &str| format!("{{\"event\":\"{name}\"}}\n");
    fixture.write("iteration-2/journal.jsonl", line("old"));
    let html = page(&router, "/i/iteration-2/overview").await;
    assert!(html.contains("data-live=\"&#x2f;i&#x2f;iteration-2&#x2f;live?from=16\""));
    let stream = get(&router, "/i/iteration-2/live?from=16").await;
    assert_eq!(stream.headers()[header::CONTENT_TYPE], "text/event-stream");
    let journal =
        [line("old"), line("run_started"), line("run_ended"), "{\"event\":\"ha".into()].concat();
    fixture.write("iteration-2/journal.jsonl", &journal);
    let text = events(stream, 2).await;
    assert_eq!(
        text,
        "id: 40\ndata: {\"event\":\"run_started\"}\n\nid: 62\ndata: {\"event\":\"run_ended\"}\n\n"
    );
    // The connection breaks after the first of them; the browser says so.
    fixture.write("iteration-2/journal.jsonl", format!("{journal}lf\"}}\n"));
    let again = request(Method::GET, "/i/iteration-2/live?from=16").header("last-event-id", "40");
    let text = events(send(&router, again.body(Body::empty()).unwrap()).await, 2).await;
    assert_eq!(
        text,
        "id: 62\ndata: {\"event\":\"run_ended\"}\n\nid: 79\ndata: {\"event\":\"half\"}\n\n"
    );
    // Another journal, shorter than the old one: from its beginning.
    fixture.write("iteration-2/journal.jsonl", line("new"));
    let after = request(Method::GET, "/i/iteration-2/live").header("last-event-id", "79");
    let text = events(send(&router, after.body(Body::empty()).unwrap()).await, 1).await;
    assert_eq!(text, "id: 16\ndata: {\"event\":\"new\"}\n\n");
}

#[tokio::test]
async fn a_page_of_a_run_that_has_begun_shows_what_is_there() {
    let fixture = Fixture::empty();
    let router = viewer(&fixture);
    let home = get(&router, "/").await;
    let to = home.headers()[header::LOCATION].to_str().unwrap().to_owned();
    assert!(page(&router, &to).await.contains("Nothing has been run yet"));
    fixture.json("iteration-1/iteration.json", &json!({"skill_name": "release-notes"}));
    fixture.run("iteration-1/eval-1/with_skill/run-1", true, true);
    let home = get(&router, "/").await;
    assert_eq!(home.headers()[header::LOCATION], "/i/iteration-1/overview");
    let html = page(&router, "/i/iteration-1/overview").await;
    assert!(
        html.contains("No verdict yet")
            && html.contains("100 % of the expectations pass with skill")
    );
}
