//! A model that binds its thinking to everything before it, and refuses a request whose thinking does not belong there.

use secateur::Catalogue;
use secateur_server::Settings;
use secateur_testing::configuration::{BOUND_MODEL, model_catalogue};
use secateur_testing::thinking_binding::{Account, ThinkingBinding};
use secateur_testing::{Agent, ModelSettings, ScriptedModel, StoreHome, on_each_home};
use serde_json::{Value, json};

use crate::setup::{Setup, catalogue, engine, use_steady_profile};

const WINDOW: u64 = 12_000;

/// A hundred steps within one turn of the user, many times the window.
const LOOP: &str = "SCENARIO:long steps=100 bytes=3000";

async fn start(
    store: &str,
    account: Account,
    catalogue: Catalogue,
    change: impl FnOnce(&mut Settings),
) -> Setup {
    let binding = Some(ThinkingBinding { account, knows_betas: true });
    let settings = ModelSettings { window: Some(WINDOW), binding, ..ModelSettings::default() };
    let model = ScriptedModel::start(settings).await.unwrap();
    let change = |settings: &mut Settings| {
        use_steady_profile(settings);
        change(settings);
    };
    Setup::with_model(model, engine(store).await, catalogue, change).await
}

/// Works through the loop. No request may be refused for its thinking, and every thought of the model must still be in the
/// client's history as it came.
async fn work(setup: &Setup, mut agent: Agent) -> Value {
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 100 steps.");
    assert!(agent.body().len() as u64 / 4 > 5 * WINDOW, "{}", agent.body().len());
    let stats = setup.model.stats();
    assert_eq!((&stats["malformed"], &stats["violations"]), (&json!(0), &json!(0)), "{stats}");
    stats
}

on_each_home!(
    a_loop_of_a_hundred_steps_keeps_its_thinking,
    without_clearing_the_provider_is_asked_to_drop_thinking
);

async fn a_loop_of_a_hundred_steps_keeps_its_thinking(home: StoreHome) {
    let store = home.url.clone();
    for (account, streams) in [(Account::Strict, false), (Account::Lenient, true)] {
        let setup = start(&store, account, catalogue(WINDOW), |_| {}).await;
        let agent = Agent { streams, ..Agent::thinking(LOOP).named(&format!("{account:?}")) };
        let stats = work(&setup, agent).await;
        assert_eq!(stats["unbound"], 0, "{stats}");
        assert!(stats["cleared_results"].as_u64() > Some(3), "the provider clears: {stats}");
    }
}

async fn without_clearing_the_provider_is_asked_to_drop_thinking(home: StoreHome) {
    let store = home.url.clone();
    let setup = start(&store, Account::Strict, catalogue(WINDOW), |settings| {
        settings.provider_clearing = false;
    })
    .await;
    let stats = work(&setup, Agent::thinking(LOOP)).await;
    assert_eq!((&stats["unbound"], &stats["cleared_results"]), (&json!(0), &json!(0)), "{stats}");
    assert!(stats["dropped_blocks"].as_u64() > Some(0), "{stats}");
}

#[tokio::test]
async fn a_refusal_is_hidden_and_remembered_for_the_model() {
    // The catalogue is wrong about the model.
    let table = model_catalogue(WINDOW).replace(
        &format!("id = \"{BOUND_MODEL}\"\n"),
        &format!("id = \"{BOUND_MODEL}\"\nbinds_thinking = false\n"),
    );
    let catalogue = Catalogue::parse(&table, "test").unwrap();
    let setup = start("sqlite::memory:", Account::Strict, catalogue, |_| {}).await;
    let stats = work(&setup, Agent::thinking(LOOP)).await;
    assert_eq!(stats["unbound"], 1, "{stats}");
    let stats = work(&setup, Agent::thinking(LOOP).named("another agent")).await;
    assert_eq!(stats["unbound"], 1, "{stats}");
}

#[tokio::test]
async fn what_the_client_asks_for_stands() {
    let setup = start("sqlite::memory:", Account::Lenient, catalogue(WINDOW), |_| {}).await;
    let own = json!({ "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "error" } });
    let headers = "anthropic-beta: thinking-binding-controls-2026-08-01\r\n".to_owned();
    // Short enough that clearing results makes it fit: a summary would make thinking invalid.
    let task = "SCENARIO:long steps=30 bytes=3000";
    let mut agent = Agent { thinking: Some(own), headers, ..Agent::thinking(task) };
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 30 steps.");
    assert!(agent.body().len() as u64 / 4 > WINDOW, "{}", agent.body().len());
    let stats = setup.model.stats();
    // Had anything been cut in front of a block, this request would have failed.
    assert_eq!((&stats["unbound"], &stats["dropped_blocks"]), (&json!(0), &json!(0)), "{stats}");
}
