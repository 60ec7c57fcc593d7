//! Two proxies on one PostgreSQL, killed and started again at random, while many agents work through them.
//!
//! Short as a rule; `SECATEUR_SOAK=300` lets 200 agents work for 300 seconds.

use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use crate::agent::{Agent, WIRES};
use crate::client::{Answer, text};
use crate::dice::Dice;
use crate::place::{schema, server};
use crate::process::Process;
use crate::stage::model;
use crate::tap::Tap;

const WINDOW: u64 = 6_000;
const STEPS: u64 = 14;

/// Where the two are at the moment.
type Addresses = Arc<RwLock<[SocketAddr; 2]>>;

/// How long agents begin new work, and how many of them.
fn extent() -> (Duration, u64) {
    let seconds = std::env::var("SECATEUR_SOAK").ok().and_then(|seconds| seconds.parse().ok());
    seconds.map_or((Duration::from_secs(4), 6), |seconds| (Duration::from_secs(seconds), 200))
}

/// Works through whichever proxy chance names, asks again where none answers, and begins anew as long as there is time.
async fn work(number: u64, addresses: Addresses, until: Instant) -> (Agent, u64) {
    let mut dice = Dice::new(number);
    let wire = WIRES[usize::try_from(number).unwrap() % WIRES.len()];
    for round in 0.. {
        let task = format!("SCENARIO:long steps={STEPS} bytes=3000");
        let mut agent = Agent::new(wire, &task).named(&format!("agent {number} in round {round}"));
        loop {
            let to = addresses.read().unwrap()[usize::try_from(dice.roll(2)).unwrap()];
            let answer = agent.ask(to).await;
            if !is_answered(&answer) {
                tokio::time::sleep(Duration::from_millis(20 + dice.roll(60))).await;
                continue;
            }
            let Some(text) = agent.take(&answer) else { continue };
            assert_eq!(text, format!("Finished long after {STEPS} steps."), "{}", agent.name);
            break;
        }
        if Instant::now() > until {
            return (agent, round + 1);
        }
    }
    unreachable!("there is always another round")
}

/// Whether a proxy lived long enough to answer.
fn is_answered(answer: &Answer) -> bool {
    if answer.status() == 0 || !answer.is_whole {
        return false;
    }
    assert_eq!((answer.status(), answer.cause()), (200, ""), "{} {}", answer.head, answer.body);
    true
}

/// Both send the same bytes for the same request, once nothing is left to be decided: an answer may tell that there is
/// hardly any room, and then the next request is shorter, whoever is asked.
pub(crate) async fn agree(agent: &Agent, tap: &Tap, proxies: [SocketAddr; 2]) {
    let (mut last, mut told) = (String::new(), Vec::new());
    for to in proxies.into_iter().cycle().take(8) {
        tap.take();
        let answer = agent.ask(to).await;
        assert_eq!(answer.status(), 200);
        let sent = text(tap.take().first().unwrap());
        if sent == last {
            return;
        }
        told.push(format!("{} {} {}", answer.header("x-secateur-session"), answer.did(), sent.len()));
        last = sent;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    panic!("{}: the proxies do not agree\n{}", agent.name, told.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_finish_their_work_whoever_dies_under_them() {
    let Some(server) = server() else { return };
    let (lasting, agents) = extent();
    let folder = tempfile::tempdir().unwrap();
    let model = model(Some(WINDOW)).await;
    let tap = Tap::start(&model.url()).await;
    let store = schema(&server, "proxy_soak").await;
    let start = || Process::start_on(folder.path(), &store, &tap.url(), WINDOW);
    let mut proxies = [Some(start()), Some(start())];
    let address = |proxy: &Option<Process>| proxy.as_ref().unwrap().address;
    let addresses: Addresses = Arc::new(RwLock::new([address(&proxies[0]), address(&proxies[1])]));
    let until = Instant::now() + lasting;
    let work = (0..agents).map(|number| tokio::spawn(work(number, addresses.clone(), until)));
    let work: Vec<_> = work.collect();
    let (mut dice, mut deaths) = (Dice::new(agents + 1), 0);
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(300 + dice.roll(1_200))).await;
        let which = usize::try_from(dice.roll(2)).unwrap();
        proxies[which].take().unwrap().kill();
        tokio::time::sleep(Duration::from_millis(dice.roll(300))).await;
        proxies[which] = Some(tokio::task::block_in_place(start));
        addresses.write().unwrap()[which] = address(&proxies[which]);
        deaths += 1;
        // Only what is asked at the end is looked at.
        tap.take();
    }
    let mut rounds = 0;
    let mut done = Vec::new();
    for work in work {
        let (agent, worked) = work.await.unwrap();
        rounds += worked;
        done.push(agent);
    }
    println!("{agents} agents finished {rounds} tasks while {deaths} proxies died");
    for agent in &done {
        agree(agent, &tap, [address(&proxies[0]), address(&proxies[1])]).await;
    }
    let stats = model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
}
