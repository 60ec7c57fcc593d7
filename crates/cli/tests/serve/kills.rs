//! Proxies that are killed in the middle of what they do, and their successors on the same store.

use std::collections::HashMap;
use std::time::Duration;

use crate::process::Process;
use crate::random::Random;
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::ScriptedModel;
use secateur_testing::client::{ClientResponse, assert_same, text};
use secateur_testing::{Action, Relay};

const WINDOW: u64 = 6_000;

/// How many proxies die for each language.
const LIVES: u64 = 8;

/// What was sent for each request that a client made.
#[derive(Default)]
struct Record {
    sent: HashMap<String, String>,
    again: u32,
    changed: u32,
}

impl Record {
    /// Compares what was sent for a request with what was sent for the same one before.
    fn note(&mut self, agent: &Agent, relay: &Relay, answer: &ClientResponse) {
        for request in relay.take() {
            let sent = text(&request);
            if let Some(before) = self.sent.insert(agent.body(), sent.clone()) {
                self.again += 1;
                self.changed += u32::from(before != sent);
                if !answer.is_flush() {
                    assert_same(&sent, &before, &format!("{:?}: {}", agent.wire, answer.head));
                }
            }
        }
    }
}

/// Asks, and kills the proxy meanwhile. What came of the answer.
async fn ask_and_kill(agent: &Agent, relay: &Relay, proxy: Process, random: &mut Random) -> ClientResponse {
    // The answer stops before its head, in it, or behind it.
    let bytes = [0, 60, 250, 400][usize::try_from(random.below(4)).unwrap()];
    relay.plan([Action::Stall(bytes)]);
    let killing = async {
        if random.below(3) == 0 {
            tokio::time::sleep(Duration::from_micros(random.below(12_000))).await;
        } else {
            relay.stalled().await;
        }
    };
    let asking = agent.ask(proxy.address);
    let killing = async {
        killing.await;
        proxy.kill();
    };
    tokio::join!(asking, killing).0
}

async fn killed_again_and_again(wire: Wire) {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let relay = Relay::start(&model.url()).await;
    let start = || Process::start(folder.path(), &relay.url(), WINDOW);
    let mut agent = Agent::new(wire, "SCENARIO:long steps=32 bytes=3000").streaming();
    let mut random = Random::new(wire as u64);
    let mut record = Record::default();
    for _ in 0..LIVES {
        let proxy = start();
        for _ in 0..1 + random.below(5) {
            let answer = agent.ask(proxy.address).await;
            record.note(&agent, &relay, &answer);
            assert_eq!(answer.reason(), "", "{}", answer.head);
            assert_eq!(agent.take(&answer), None);
        }
        if random.below(4) == 0 {
            // Between two requests, while what the response said is stored.
            tokio::time::sleep(Duration::from_micros(random.below(8_000))).await;
            proxy.kill();
        } else {
            let answer = ask_and_kill(&agent, &relay, proxy, &mut random).await;
            record.note(&agent, &relay, &answer);
        }
        relay.clear_plan();
    }
    let proxy = start();
    let (text, answers) = agent.work(proxy.address).await;
    assert_eq!(text, "Finished long after 32 steps.", "{wire:?}");
    assert!(answers.iter().all(|answer| answer.reason().is_empty()), "{wire:?}");
    let stats = model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()), "{wire:?}");
    println!("{wire:?}: {} requests were made again, {} of them decided anew", record.again, record.changed);
    assert!(record.again > 0, "{wire:?}: {}", record.again);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_after_a_kill_sends_the_same_to_anthropic() {
    killed_again_and_again(Wire::Anthropic).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_after_a_kill_sends_the_same_as_chat() {
    killed_again_and_again(Wire::OpenAiChat).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_after_a_kill_sends_the_same_as_responses() {
    killed_again_and_again(Wire::OpenAiResponses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_after_a_kill_sends_the_same_to_gemini() {
    killed_again_and_again(Wire::Gemini).await;
}
