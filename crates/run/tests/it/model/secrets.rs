//! Keys: a search through everything that is kept, said and sent.

use std::path::Path;
use std::sync::Arc;

use skillgauge_run::cassette::{Cassette, Mode};
use skillgauge_run::model::{Failure, Response, open};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script};

use crate::model::stage::{KEY, SERVICES, access, question, serve, verdict_question};

/// Every way to show a result.
fn shown(result: &Result<Response, Failure>) -> String {
    match result {
        Ok(response) => format!("{response:?} {}", serde_json::to_string(response).unwrap()),
        Err(failure) => {
            format!("{failure} {failure:?} {}", serde_json::to_string(failure).unwrap())
        }
    }
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let files = fs_err::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|path| (path.display().to_string(), fs_err::read_to_string(&path).unwrap())).collect()
}

#[tokio::test]
async fn a_key_is_in_nothing_that_is_kept_even_if_a_service_says_it_back() {
    let echo = format!("You sent {KEY}; here is {{\"score\": \"{KEY}\"}}");
    for name in SERVICES {
        let script = Script::new()
            .rule(Rule::fault(Fault::status(500).message(echo.clone())).times(1))
            .rule(Rule::fault(Fault::Malformed { after_chunks: 9 }).times(1))
            .rule(Rule::fault(Fault::status(401).message(format!("Bad key {KEY}"))).prompt("fail"))
            .rule(Rule::reply(Reply::text(echo.clone())));
        let server = serve(script);
        let access = access(&server);
        let folder = tempfile::tempdir().unwrap();
        let mode = Mode::Record(folder.path().to_owned());
        let cassette = Arc::new(Cassette::open(mode, access.environment.secrets()).unwrap());
        let model = open(&name.parse().unwrap(), &access, &cassette).unwrap();

        let mut leaking = question();
        leaking.user = vec![format!("The user pasted {KEY} here.")];
        let mut failing = question();
        failing.user = vec!["Please fail.".to_owned()];
        let mut everything = vec![format!("{model:?} {access:?} {cassette:?}")];
        for request in [question(), verdict_question(), leaking, failing] {
            everything.push(shown(&model.answer(&request).await));
        }
        let recorded = files(folder.path());
        assert_eq!(recorded.len(), 4, "{name}");
        everything.extend(recorded.into_iter().flat_map(|(name, text)| [name, text]));
        for text in &everything {
            assert!(!text.contains(KEY), "{name}: {text}");
        }
        assert!(
            everything.iter().any(|text| text.contains("<secret>")),
            "{name}: nothing was scrubbed"
        );
        // The request itself did go out as it was.
        assert!(server.requests().iter().any(|request| request.json().to_string().contains(KEY)));
    }
}

#[tokio::test]
async fn a_key_is_sent_in_its_header_and_nowhere_else() {
    for (name, header) in SERVICES.into_iter().zip(["x-api-key", "authorization"]) {
        let server = serve(Script::always(Reply::text("Four.")));
        crate::model::stage::ask(name, &access(&server), &question()).await.unwrap();
        let [sent] = server.requests().try_into().unwrap();
        assert_eq!(sent.header(header), Some("<redacted>"), "the server blanks what it keeps");
        let elsewhere = format!("{:?} {} {}", sent.headers, sent.query, sent.json());
        assert!(!elsewhere.contains(KEY), "{elsewhere}");
    }
}
