//! Proxies that are killed in the middle of what they do, and their successors on the same store.

use std::collections::HashMap;
use std::time::Duration;

use crate::agent::{Agent, Wire};
use crate::client::{Answer, same, text};
use crate::dice::Dice;
use crate::process::Process;
use crate::stage::model;
use crate::tap::{Deed, Tap};

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
    fn note(&mut self, agent: &Agent, tap: &Tap, answer: &Answer) {
        for request in tap.take() {
            let sent = text(&request);
            if let Some(before) = self.sent.insert(agent.body(), sent.clone()) {
                self.again += 1;
                self.changed += u32::from(before != sent);
                if !answer.is_flush() {
                    same(&sent, &before, &format!("{:?}: {}", agent.wire, answer.head));
                }
            }
        }
    }
}

/// Asks, and kills the proxy meanwhile. What came of the answer.
async fn ask_and_kill(agent: &Agent, tap: &Tap, proxy: Process, dice: &mut Dice) -> Answer {
    // The answer stops before its head, in it, or behind it.
    let bytes = [0, 60, 250, 400][usize::try_from(dice.roll(4)).unwrap()];
    tap.plan([Deed::Stall(bytes)]);
    let killing = async {
        if dice.roll(3) == 0 {
            tokio::time::sleep(Duration::from_micros(dice.roll(12_000))).await;
        } else {
            tap.stalled().await;
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
    let model = model(Some(WINDOW)).await;
    let tap = Tap::start(&model.url()).await;
    let start = || Process::start(folder.path(), &tap.url(), WINDOW);
    let mut agent = Agent::new(wire, "SCENARIO:long steps=32 bytes=3000").streaming();
    let mut dice = Dice::new(wire as u64);
    let mut record = Record::default();
    for _ in 0..LIVES {
        let proxy = start();
        for _ in 0..1 + dice.roll(5) {
            let answer = agent.ask(proxy.address).await;
            record.note(&agent, &tap, &answer);
            assert_eq!(answer.reason(), "", "{}", answer.head);
            assert_eq!(agent.take(&answer), None);
        }
        if dice.roll(4) == 0 {
            // Between two requests, while what the answer told is stored.
            tokio::time::sleep(Duration::from_micros(dice.roll(8_000))).await;
            proxy.kill();
        } else {
            let answer = ask_and_kill(&agent, &tap, proxy, &mut dice).await;
            record.note(&agent, &tap, &answer);
        }
        tap.forget_plan();
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
async fn whoever_comes_after_the_dead_says_what_they_said_to_anthropic() {
    killed_again_and_again(Wire::Anthropic).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_after_the_dead_says_what_they_said_as_chat() {
    killed_again_and_again(Wire::Chat).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_after_the_dead_says_what_they_said_as_responses() {
    killed_again_and_again(Wire::Responses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_after_the_dead_says_what_they_said_to_gemini() {
    killed_again_and_again(Wire::Gemini).await;
}
