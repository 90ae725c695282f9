use std::time::Duration;

use skillgauge_format::transcript::Reason;
use tokio::time::{Instant, timeout};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Services that write down what they tell.
fn services(rules: BreakerRules) -> (Services, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let services = Services::new(rules, move |event| heard.lock().unwrap().push(event.to_string()));
    (services, told)
}

async fn fail(breaker: &Breaker, reason: Reason) {
    breaker.pass().await.unwrap().end(Some(&Problem::new(reason)), "m");
}

async fn succeed(breaker: &Breaker) {
    breaker.pass().await.unwrap().end(None, "");
}

#[tokio::test(start_paused = true)]
async fn five_errors_of_one_kind_pause_and_a_try_that_works_ends_it() {
    let (services, told) = services(BreakerRules::default());
    let breaker = services.breaker("`claude`");
    for _ in 0..4 {
        fail(&breaker, Reason::ServerError).await;
    }
    succeed(&breaker).await;
    for _ in 0..4 {
        fail(&breaker, Reason::ServerError).await;
    }
    // Another kind begins anew; a crash is nobody's.
    fail(&breaker, Reason::RateLimit).await;
    for _ in 0..3 {
        fail(&breaker, Reason::RateLimit).await;
        fail(&breaker, Reason::Crashed).await;
    }
    assert!(told.lock().unwrap().is_empty());
    let began = Instant::now();
    fail(&breaker, Reason::RateLimit).await;
    assert_eq!(
        *told.lock().unwrap(),
        [
            "pausing for 15 s: `claude` failed 5 times in a row (rate_limit: m); then one try decides"
        ]
    );
    succeed(&breaker).await;
    assert_eq!(began.elapsed(), 15 * SECOND);
    assert_eq!(told.lock().unwrap().last().unwrap(), "`claude` works again");
    for _ in 0..4 {
        fail(&breaker, Reason::RateLimit).await;
    }
    assert_eq!((began.elapsed(), services.down()), (15 * SECOND, None));
}

#[tokio::test(start_paused = true)]
async fn when_no_pause_helps_the_service_is_down_for_everybody() {
    let (services, told) = services(BreakerRules::default());
    let breaker = services.breaker("`claude`");
    let began = Instant::now();
    for _ in 0..8 {
        fail(&breaker, Reason::Connection).await;
    }
    assert_eq!(began.elapsed(), (15 + 30 + 60) * SECOND);
    let down = breaker.pass().await.unwrap_err();
    assert_eq!(
        down.to_string(),
        "`claude` failed 8 times in a row, the last 3 after pauses of 15 s, 30 s, 60 s (connection: m)"
    );
    assert!(down.hint().contains("base URL"), "{}", down.hint());
    assert_eq!(services.breaker("the judge").pass().await.unwrap_err(), down);
    assert_eq!((services.down(), told.lock().unwrap().len()), (Some(down), 3));
}

#[tokio::test(start_paused = true)]
async fn all_wait_while_one_pauses_and_one_try_decides_for_its_service_only() {
    let (services, _) = services(BreakerRules::default());
    let (judge, agent) = (services.breaker("judge"), services.breaker("agent"));
    for _ in 0..5 {
        fail(&judge, Reason::Overloaded).await;
    }
    let began = Instant::now();
    let free = agent.pass().await.unwrap();
    assert_eq!(began.elapsed(), 15 * SECOND, "an agent's run is of no use without its judge");
    let trial = judge.pass().await.unwrap();
    assert!(timeout(SECOND, judge.pass()).await.is_err(), "one try decides");
    free.end(None, "");
    // A try that was given up says nothing: the next may try at once.
    drop(trial);
    let trial = timeout(SECOND, judge.pass()).await.unwrap().unwrap();
    let waiting = tokio::spawn({
        let judge = judge.clone();
        async move { judge.pass().await.map(|pass| pass.end(None, "")) }
    });
    tokio::task::yield_now().await;
    trial.end(None, "");
    timeout(SECOND, waiting).await.unwrap().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_under_way_when_it_opened_says_nothing() {
    let (services, told) = services(BreakerRules::default());
    let breaker = services.breaker("s");
    let mut under_way = Vec::new();
    for _ in 0..12 {
        under_way.push(breaker.pass().await.unwrap());
    }
    for pass in under_way {
        pass.end(Some(&Problem::new(Reason::ServerError)), "m");
    }
    assert_eq!(told.lock().unwrap().len(), 1, "a burst is one pause");
}

#[tokio::test(start_paused = true)]
async fn a_service_is_given_the_time_that_it_asks_for_within_reason() {
    let (services, _) = services(BreakerRules::default());
    let breaker = services.breaker("s");
    let asked = |time| Problem::new(Reason::RateLimit).retry_after(time);
    let began = Instant::now();
    for _ in 0..5 {
        breaker.pass().await.unwrap().end(Some(&asked(90 * SECOND)), "m");
    }
    succeed(&breaker).await;
    assert_eq!(began.elapsed(), 90 * SECOND);
    for _ in 0..5 {
        breaker.pass().await.unwrap().end(Some(&asked(3600 * SECOND)), "in an hour");
    }
    let down = breaker.pass().await.unwrap_err();
    assert_eq!((down.errors, began.elapsed()), (5, 90 * SECOND), "nobody waits for an hour");
}

#[tokio::test(start_paused = true)]
async fn a_worker_pauses_for_as_long_as_it_takes() {
    let rules = BreakerRules { after_last: AfterLast::PauseAgain, ..BreakerRules::default() };
    let (services, _) = services(rules);
    let breaker = services.breaker("s");
    let began = Instant::now();
    for _ in 0..15 {
        fail(&breaker, Reason::ServerError).await;
    }
    services.pauses_over().await;
    assert_eq!(began.elapsed(), (15 + 30 + 9 * 60) * SECOND);
    assert_eq!(services.down(), None);
    succeed(&breaker).await;
}
