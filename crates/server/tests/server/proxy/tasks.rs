//! Tasks that are many times longer than the model's window, through the proxy.

use super::own_paths::{counter, get};
use crate::setup::{Setup, catalogue, empty_catalogue, engine};
use secateur::{Catalogue, Profiles};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::ScriptedModel;
use secateur_testing::client::ClientResponse;
use secateur_testing::configuration::model_catalogue;

const WINDOW: u64 = 10_000;

/// More than five times the window.
const TASK: &str = "SCENARIO:long steps=36 bytes=6000";

/// Only where the proxy decided something, the provider had to read again what it had read before, and at most once.
fn check_log(setup: &Setup, answers: &[ClientResponse]) {
    let stats = setup.model.stats();
    assert_eq!(stats["malformed"], 0, "{stats}");
    let log = stats["log"].as_array().unwrap();
    let turns = log.iter().filter(|line| line["purpose"] == "turn" && line["outcome"] == "answered");
    let turns: Vec<_> = turns.collect();
    assert_eq!(turns.len(), answers.len());
    for (number, (turn, answer)) in turns.iter().zip(answers).enumerate() {
        let is_broken = turn["prefix_broken"] == true;
        assert!(!is_broken || answer.is_flush(), "request {number}: {} {turn}", answer.head);
    }
    let count = |did: &str| answers.iter().filter(|answer| answer.outcome() == did).count();
    println!("{} pruned, {} compacted, {} broken", count("pruned"), count("compacted"), stats["broken"]);
    assert!(count("pruned") + count("compacted") > 0, "such a task does not fit by itself");
}

/// The task without a proxy and without a window.
async fn alone(wire: Wire) -> String {
    let model = ScriptedModel::with_window(None).await;
    let address = model.url().trim_start_matches("http://").parse().unwrap();
    let mut agent = Agent::new(wire, TASK);
    agent.work(address).await.0
}

async fn through(wire: Wire, streams: bool) {
    let setup =
        Setup::start_with(Some(WINDOW), engine("sqlite::memory:").await, catalogue(WINDOW), |_| {}).await;
    let mut agent = Agent { streams, ..Agent::new(wire, TASK) };
    let (text, answers) = agent.work(setup.address()).await;
    assert!(agent.body().len() as u64 / 4 > 5 * WINDOW, "{}", agent.body().len());
    assert_eq!(text, alone(wire).await, "{wire:?}");
    assert!(answers.iter().all(|answer| answer.reason().is_empty()), "{wire:?}");
    assert_eq!(setup.model.stats()["violations"], 0, "{wire:?}");
    check_log(&setup, &answers);
    assert_eq!(setup.proxy.counters().overflows, 0);
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_in_anthropics_language() {
    through(Wire::Anthropic, false).await;
    through(Wire::Anthropic, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_as_chat() {
    through(Wire::OpenAiChat, false).await;
    through(Wire::OpenAiChat, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_as_responses() {
    through(Wire::OpenAiResponses, false).await;
    through(Wire::OpenAiResponses, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_in_geminis_language() {
    through(Wire::Gemini, false).await;
    through(Wire::Gemini, true).await;
}

/// The proxy does not know the model's window: it learns that from the refusals, and no client sees one.
#[tokio::test]
async fn no_client_sees_that_a_request_did_not_fit() {
    for wire in Wire::ALL {
        let setup =
            Setup::start_with(Some(WINDOW), engine("sqlite::memory:").await, empty_catalogue(), |_| {}).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=6000");
        let (text, answers) = agent.work(setup.address()).await;
        assert_eq!(text, "Finished long after 24 steps.", "{wire:?}");
        check_log(&setup, &answers);
        let (overflows, violations) = (setup.proxy.counters().overflows, &setup.model.stats()["violations"]);
        println!("{wire:?}: {overflows} refusals");
        assert_eq!(overflows, violations.as_u64().unwrap());
        assert!((1..=6).contains(&overflows), "{wire:?}: {overflows}");
    }
}

/// The whole request gets dearer above a limit. Cuts keep requests below it that rent alone would leave above.
#[tokio::test]
async fn requests_stay_below_a_price_band() {
    const LIMIT: u64 = 30_000;
    let price = "price = { input = 1.0, output = 5.0, cache_read = 0.02 }\n";
    let band = format!(
        "bands = [{{ above = {LIMIT}, price = {{ input = 5.0, output = 25.0, cache_read = 0.1 }} }}]\n"
    );
    let mut longest = Vec::new();
    for prices in [price.to_owned(), format!("{price}{band}")] {
        let text = model_catalogue(200_000).replace("output = 1000\n", &format!("output = 1000\n{prices}"));
        let known = Catalogue::parse(&text, "test").unwrap();
        let setup = Setup::start_with(None, engine("sqlite::memory:").await, known, |_| {}).await;
        let (_, answers) = Agent::new(Wire::OpenAiChat, TASK).work(setup.address()).await;
        let sent = answers.iter().map(|answer| {
            let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
            body["usage"]["prompt_tokens"].as_u64().unwrap()
        });
        longest.push(sent.max().unwrap());
        let metrics = get(setup.address(), "/metrics").await;
        let cuts =
            counter(&metrics, "secateur_cuts_total{occasion=\"before-request\",reason=\"price-band\"}");
        assert_eq!(cuts > 0, prices.contains("bands"), "{metrics}");
    }
    assert!(longest[0] > LIMIT && longest[1] <= LIMIT, "{longest:?}");
}

/// Neither the catalogue nor the provider names a window: the profile's default keeps the conversation bounded, and the
/// client is told.
#[tokio::test]
async fn an_unknown_model_is_kept_inside_the_window_that_the_profile_assumes() {
    let mut profiles = Profiles::builtin();
    let text = format!("name = \"assuming\"\nextends = \"balanced\"\n[window]\ndefault = {WINDOW}\n");
    let name = profiles.add("test", &text).unwrap();
    let engine = engine("sqlite::memory:").await.with_profiles(profiles, Vec::new());
    let setup = Setup::start_with(None, engine, empty_catalogue(), |settings| settings.profile = name).await;
    let mut agent = Agent::new(Wire::OpenAiChat, TASK);
    let (_, answers) = agent.work(setup.address()).await;
    check_log(&setup, &answers);
    let longest = answers.iter().map(|answer| {
        let (_, sent) = answer.header("x-secateur-bytes").split_once('/').unwrap();
        sent.parse::<u64>().unwrap()
    });
    assert!(longest.max().unwrap() / 4 < 2 * WINDOW);
    assert!(answers.iter().all(|answer| answer.header("x-secateur-assumed-window") == WINDOW.to_string()));
    let known = Setup::start(WINDOW).await;
    let (_, answers) = Agent::new(Wire::OpenAiChat, TASK).work(known.address()).await;
    assert!(answers.iter().all(|answer| answer.header("x-secateur-assumed-window").is_empty()));
}

/// The catalogue promises more than the provider keeps.
#[tokio::test]
async fn a_window_that_is_smaller_than_everybody_thought_is_learned() {
    for wire in Wire::ALL {
        let store = engine("sqlite::memory:").await;
        let setup = Setup::start_with(Some(WINDOW), store, catalogue(3 * WINDOW), |_| {}).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=6000").streaming();
        let (text, answers) = agent.work(setup.address()).await;
        assert_eq!(text, "Finished long after 24 steps.", "{wire:?}");
        check_log(&setup, &answers);
        let overflows = setup.proxy.counters().overflows;
        println!("{wire:?}: {overflows} refusals");
    }
}
