//! Every way in which a service can fail, and what becomes of it.

use std::time::{Duration, Instant};

use skillgauge_run::model::{Attempt, Cause, ModelError, Phase};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, Stop};

use crate::model::stage::{
    KEY, SERVICES, access, access_at, ask, bodies, question, serve, serve_fault_then, serve_reply,
};

fn good() -> Reply {
    Reply::text("Four.")
}

fn causes(attempts: &[Attempt]) -> Vec<Cause> {
    attempts.iter().map(|attempt| attempt.cause).collect()
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_for_as_long_as_the_service_asks() {
    for name in SERVICES {
        let limit = Fault::status(429).retry_after("1").message("Slow down");
        let server = serve_fault_then(limit, 1, good());
        let started = Instant::now();
        let response = ask(name, &access(&server), &question()).await.unwrap();
        assert!(started.elapsed() >= Duration::from_secs(1), "{name}");
        assert_eq!(causes(&response.attempts), [Cause::First, Cause::Retry]);
        let [limited, answered] = response.attempts.as_slice() else { panic!() };
        let error =
            ModelError::RateLimited { message: "Slow down".into(), retry_after_ms: Some(1000) };
        assert_eq!((limited.error.clone(), limited.status), (Some(error), Some(429)));
        assert_eq!(limited.request_id.as_deref(), Some("req_000001"));
        assert!((1000..1500).contains(&answered.delay_ms), "{answered:?}");
        assert_eq!(answered.error, None);
    }
}

#[tokio::test]
async fn milliseconds_are_understood_and_come_first() {
    let limit = Fault::status(529).retry_after("60").with_header("retry-after-ms", "150");
    let server = serve_fault_then(limit, 1, good());
    let response = ask(SERVICES[0], &access(&server), &question()).await.unwrap();
    assert!((150..300).contains(&response.attempts[1].delay_ms), "{:?}", response.attempts);
    let overloaded =
        ModelError::Overloaded { message: "Overloaded".into(), retry_after_ms: Some(150) };
    assert_eq!(response.attempts[0].error, Some(overloaded));
}

#[tokio::test]
async fn a_service_that_asks_for_too_much_patience_is_not_waited_for() {
    let server = serve_fault_then(Fault::status(429).retry_after("3600"), 1, good());
    let failure = ask(SERVICES[0], &access(&server), &question()).await.unwrap_err();
    assert_eq!(failure.error.retry_after(), Some(Duration::from_hours(1)));
    assert_eq!(failure.attempts.len(), 1);
}

#[tokio::test]
async fn a_failure_of_the_service_passes_and_a_lasting_one_is_reported_with_every_attempt() {
    for name in SERVICES {
        let server = serve_fault_then(Fault::status(500), 2, good());
        let response = ask(name, &access(&server), &question()).await.unwrap();
        assert_eq!(causes(&response.attempts), [Cause::First, Cause::Retry, Cause::Retry]);

        let server = serve(Script::new().rule(Rule::fault(Fault::status(500))));
        let failure = ask(name, &access(&server), &question()).await.unwrap_err();
        assert!(matches!(failure.error, ModelError::Server { status: 500, .. }), "{failure:?}");
        assert_eq!((failure.attempts.len(), bodies(&server).len()), (3, 3), "{name}");
        assert_eq!((failure.usage, failure.cost_usd), (None, None));
        assert!(
            failure.attempts.iter().all(|attempt| attempt.error == Some(failure.error.clone()))
        );
    }
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    for name in SERVICES {
        for (fault, expected) in [
            (
                Fault::status(400).message("no"),
                ModelError::BadRequest { status: 400, message: "no".into() },
            ),
            (
                Fault::status(401).message("no"),
                ModelError::BadKey { status: 401, message: "no".into() },
            ),
            (
                Fault::status(403).message("no"),
                ModelError::BadKey { status: 403, message: "no".into() },
            ),
            (
                Fault::status(404).message("no"),
                ModelError::UnknownModel {
                    model: name.split_once(':').unwrap().1.into(),
                    message: "no".into(),
                },
            ),
            (
                Fault::status(429).kind("insufficient_quota").message("no"),
                ModelError::NoCredit { message: "no".into() },
            ),
        ] {
            let server = serve_fault_then(fault, 1, good());
            let failure = ask(name, &access(&server), &question()).await.unwrap_err();
            assert_eq!(failure.error, expected, "{name}");
            assert_eq!(bodies(&server).len(), 1, "{name} {expected:?}");
        }
    }
}

#[tokio::test]
async fn answers_that_are_no_answers_are_tried_again() {
    type Fits = fn(&ModelError) -> bool;
    let faults: [(Fault, Fits); 4] = [
        (Fault::Malformed { after_chunks: 1 }, |error| {
            matches!(error, ModelError::Malformed { .. })
        }),
        (
            Fault::EmptyBody,
            |error| matches!(error, ModelError::Malformed { excerpt, .. } if excerpt.is_empty()),
        ),
        (
            Fault::Cut { after_chunks: 2 },
            |error| matches!(error, ModelError::Cut { received, .. } if *received > 0),
        ),
        (Fault::Drop, |error| matches!(error, ModelError::Connection { .. })),
    ];
    for name in SERVICES {
        for (fault, fits) in &faults {
            let server = serve_fault_then(fault.clone(), 1, good());
            let response = ask(name, &access(&server), &question()).await.unwrap();
            let error = response.attempts[0].error.clone().unwrap();
            assert!(fits(&error), "{name} {fault:?} {error:?}");
            assert_eq!((response.attempts.len(), response.text.as_str()), (2, "Four."));
        }
    }
}

#[tokio::test]
async fn silence_ends_at_the_limit_of_its_phase() {
    for name in SERVICES {
        let quiet = Rule::reply(good()).and_fault(Fault::DelayHeaders { ms: 5_000 });
        let server = serve(Script::new().rule(quiet));
        let mut access = access(&server);
        access.retry.retries = 0;
        let request = question().timeout(Duration::from_millis(300));
        let started = Instant::now();
        let failure = ask(name, &access, &request).await.unwrap_err();
        assert_eq!(failure.error, ModelError::Timeout { phase: Phase::Total, limit_ms: 300 });
        assert!(started.elapsed() < Duration::from_secs(3), "{name} {:?}", started.elapsed());

        access.timeouts.first_byte = Some(Duration::from_millis(200));
        let failure = ask(name, &access, &question()).await.unwrap_err();
        assert_eq!(failure.error, ModelError::Timeout { phase: Phase::FirstByte, limit_ms: 200 });
    }
}

#[tokio::test]
async fn a_body_that_stops_in_the_middle_ends_at_the_limit_and_a_retry_helps() {
    let stuck =
        Rule::reply(good()).and_fault(Fault::Silence { after_chunks: 1, ms: 5_000 }).times(1);
    let server = serve(Script::new().rule(stuck).rule(Rule::reply(good())));
    let request = question().timeout(Duration::from_millis(400));
    let response = ask(SERVICES[0], &access(&server), &request).await.unwrap();
    let timeout = ModelError::Timeout { phase: Phase::Total, limit_ms: 400 };
    assert_eq!(response.attempts[0].error, Some(timeout));
    assert_eq!(response.text, "Four.");
}

#[tokio::test]
async fn nobody_at_the_address_is_a_connection_error() {
    let server = serve_reply(good());
    let url = server.url();
    drop(server);
    for name in SERVICES {
        let failure = ask(name, &access_at(&url), &question()).await.unwrap_err();
        let ModelError::Connection { detail } = &failure.error else { panic!("{failure:?}") };
        assert!(detail.to_lowercase().contains("refused"), "{detail}");
        assert_eq!(failure.attempts.len(), 3);
    }
}

#[tokio::test]
async fn an_address_that_does_not_even_refuse_is_given_up_while_connecting() {
    // A listener whose queue is full accepts nobody and refuses nobody.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    loop {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            Ok(stream) if held.len() < 10_000 => held.push(stream),
            Ok(_) => panic!("the queue has no end"),
            Err(_) => break,
        }
    }
    let mut access = access_at(&format!("http://{address}"));
    access.timeouts.connect = Duration::from_millis(200);
    access.retry.retries = 0;
    let failure = ask(SERVICES[0], &access, &question()).await.unwrap_err();
    assert_eq!(failure.error, ModelError::Timeout { phase: Phase::Connect, limit_ms: 200 });
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let huge = Rule::reply(good()).and_fault(Fault::HugeBody { bytes: 60_000_000 });
    let server = serve(Script::new().rule(huge));
    let failure = ask(SERVICES[1], &access(&server), &question()).await.unwrap_err();
    assert_eq!(failure.error, ModelError::TooLarge { limit: 16 * 1024 * 1024 });
    assert_eq!(failure.attempts.len(), 1);
}

#[tokio::test]
async fn a_cut_output_and_a_refusal_are_errors_that_cost() {
    for name in SERVICES {
        let server = serve_reply(Reply::text("It is g").stop(Stop::MaxTokens));
        let failure = ask(name, &access(&server), &question()).await.unwrap_err();
        let cut = ModelError::OutputCut { max_output_tokens: 8192, text: "It is g".into() };
        assert_eq!(failure.error, cut, "{name}");
        assert!(failure.error.is_bad_answer());
        assert_eq!(failure.usage.unwrap().output_tokens, 50);

        let server = serve_reply(Reply::text("I will not.").stop(Stop::Refusal));
        let failure = ask(name, &access(&server), &question()).await.unwrap_err();
        assert_eq!(failure.error, ModelError::Refusal { message: "I will not.".into() }, "{name}");
        assert_eq!((failure.attempts.len(), bodies(&server).len()), (1, 1));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = serve_reply(good());
    let redirect =
        Fault::status(307).with_header("location", format!("{}/v1/messages", target.url()));
    let server = serve(Script::new().rule(Rule::fault(redirect)));
    let failure = ask(SERVICES[0], &access(&server), &question()).await.unwrap_err();
    assert!(matches!(failure.error, ModelError::BadRequest { status: 307, .. }), "{failure:?}");
    assert_eq!(target.requests().len(), 0);
}

#[tokio::test]
async fn an_empty_answer_is_no_answer() {
    for name in SERVICES {
        let script =
            Script::new().rule(Rule::reply(Reply::text(" \n")).times(1)).rule(Rule::reply(good()));
        let server = serve(script);
        let response = ask(name, &access(&server), &question()).await.unwrap();
        assert_eq!((response.text.as_str(), response.attempts.len()), ("Four.", 2), "{name}");
        let first = response.attempts[0].error.clone().unwrap();
        assert!(matches!(first, ModelError::Malformed { .. }), "{first:?}");
        assert_eq!(response.usage.unwrap().output_tokens, 100, "both were paid for");
    }
}

#[tokio::test]
async fn a_proxy_is_used_but_not_for_this_machine() {
    let (server, proxy) = (serve_reply(good()), serve_reply(Reply::text("from the proxy")));
    let proxy_url = proxy.url();
    let ask_at = async |address: String| {
        let mut access = access(&server);
        access.environment = [
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", address.as_str()),
            ("HTTP_PROXY", proxy_url.as_str()),
        ]
        .into_iter()
        .collect();
        ask(SERVICES[1], &access, &question()).await.unwrap().text
    };
    assert_eq!(ask_at(server.url_v1()).await, "Four.");
    assert_eq!(ask_at("http://models.invalid/v1".to_owned()).await, "from the proxy");
}

#[tokio::test]
async fn a_server_without_tls_at_a_tls_address_is_a_connection_error() {
    let server = serve_reply(good());
    let mut access = access_at(&server.url().replace("http:", "https:"));
    access.retry.retries = 0;
    for name in SERVICES {
        let failure = ask(name, &access, &question()).await.unwrap_err();
        assert!(matches!(failure.error, ModelError::Connection { .. }), "{name} {failure:?}");
    }
    assert_eq!(server.requests().len(), 0);
}
