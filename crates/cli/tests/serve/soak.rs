//! Two proxies on one PostgreSQL, killed and started again at random, while many agents work through them. Each agent
//! hears what it hears from one proxy that is not killed, and what was said and cut can be had back in the end.
//!
//! Short as a rule; `SECATEUR_SOAK=300` lets 200 agents work for 300 seconds.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::Process;
use crate::random::Random;
use crate::sent_texts::{PATIENCE, SentTexts, is_kept, texts};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::Relay;
use secateur_testing::ScriptedModel;
use secateur_testing::client::{ClientResponse, assert_same, text};
use secateur_testing::postgres::{create_schema, server_url};

const WINDOW: u64 = 6_000;
const STEPS: u64 = 14;

/// The name of the agent that has a proxy for itself. All names are of the same length, and so are histories.
const ALONE: &str = "a000r000";

/// Where the two are at the moment.
type Addresses = Arc<RwLock<[SocketAddr; 2]>>;

/// How long agents begin new work, and how many of them.
fn extent() -> (Duration, u64) {
    let seconds = std::env::var("SECATEUR_SOAK").ok().and_then(|seconds| seconds.parse().ok());
    seconds.map_or((Duration::from_secs(4), 6), |seconds| (Duration::from_secs(seconds), 200))
}

/// An agent with the task of all of them, by this name.
fn begin(wire: Wire, name: &str) -> Agent {
    Agent::new(wire, &format!("SCENARIO:long steps={STEPS} bytes=3000 run={name}")).named(name)
}

/// What comes of the task in each language if there is one proxy with a store of its own, and it is not killed.
async fn alone(model: &str) -> Vec<Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Process::start(folder.path(), model, WINDOW);
    let mut histories = Vec::new();
    for wire in Wire::ALL {
        let mut agent = begin(wire, ALONE);
        agent.work(proxy.address).await;
        histories.push(agent.items);
    }
    histories
}

/// A history in lines, without the ids that a model gives to its answers.
fn heard(items: &[Value]) -> String {
    let line = |item: &Value| {
        let mut item = item.clone();
        if item["type"] == "message" {
            item["id"].take();
        }
        format!("{item}\n")
    };
    items.iter().map(line).collect()
}

/// What an agent has done: its last task, how many there were, and what it has said in all of them.
struct Done {
    agent: Agent,
    tasks: u64,
    said: HashSet<String>,
}

/// Works through whichever proxy chance names, asks again where none answers, and begins anew as long as there is time.
async fn work(number: u64, addresses: Addresses, until: Instant, alone: Arc<Vec<Vec<Value>>>) -> Done {
    let mut random = Random::new(number);
    let which = usize::try_from(number).unwrap() % Wire::ALL.len();
    let mut said = HashSet::new();
    for round in 0.. {
        // Several agents say the same in the same language, word for word and again and again; some are ahead of others.
        let mut agent = begin(Wire::ALL[which], &format!("a{which:03}r001"));
        loop {
            let to = addresses.read().unwrap()[usize::try_from(random.below(2)).unwrap()];
            let answer = agent.ask(to).await;
            if !is_answered(&answer) {
                tokio::time::sleep(Duration::from_millis(20 + random.below(60))).await;
                continue;
            }
            let Some(text) = agent.take(&answer) else { continue };
            assert_eq!(text, format!("Finished long after {STEPS} steps."), "{}", agent.name);
            break;
        }
        // Each answer is what one proxy alone would have let through.
        let as_alone = heard(&agent.items).replace(&agent.name, ALONE);
        assert_same(&as_alone, &heard(&alone[which]), &agent.name);
        said.extend(texts(&agent.items));
        if Instant::now() > until {
            return Done { agent, tasks: round + 1, said };
        }
    }
    unreachable!("there is always another round")
}

/// Whether a proxy lived long enough to answer.
fn is_answered(answer: &ClientResponse) -> bool {
    if answer.status() == 0 || !answer.is_whole {
        return false;
    }
    assert_eq!((answer.status(), answer.reason()), (200, ""), "{} {}", answer.head, answer.body);
    true
}

/// Both send the same bytes for the same request, once nothing is left to be decided: an answer may tell that there is
/// hardly any room, and then the next request is shorter, on both proxies. The session that they agree on.
pub(crate) async fn agree(agent: &Agent, relay: &Relay, proxies: [SocketAddr; 2]) -> String {
    let (mut last, mut reported) = (String::new(), Vec::new());
    let began = Instant::now();
    for to in proxies.into_iter().cycle().take_while(|_| began.elapsed() < PATIENCE) {
        relay.take();
        let answer = agent.ask(to).await;
        assert_eq!(answer.status(), 200);
        let sent = text(relay.take().first().unwrap());
        if sent == last {
            return answer.header("x-secateur-session").to_owned();
        }
        reported.push(format!("{} {} {}", answer.header("x-secateur-session"), answer.outcome(), sent.len()));
        last = sent;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    panic!("{}: the proxies do not agree\n{}", agent.name, reported.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_finish_their_work_while_proxies_are_killed() {
    let Some(server) = server_url() else { return };
    let (lasting, agents) = extent();
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let relay = Relay::start(&model.url()).await;
    let store = create_schema(&server, "proxy_soak").await;
    let start = || Process::start_on(folder.path(), &store, &relay.url(), WINDOW);
    let mut proxies = [Some(start()), Some(start())];
    let address = |proxy: &Option<Process>| proxy.as_ref().unwrap().address;
    let addresses: Addresses = Arc::new(RwLock::new([address(&proxies[0]), address(&proxies[1])]));
    let alone = Arc::new(alone(&model.url()).await);
    let until = Instant::now() + lasting;
    let work = (0..agents).map(|number| tokio::spawn(work(number, addresses.clone(), until, alone.clone())));
    let work: Vec<_> = work.collect();
    let mut sent_texts = SentTexts::default();
    let (mut random, mut deaths) = (Random::new(agents + 1), 0);
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(300 + random.below(1_200))).await;
        let which = usize::try_from(random.below(2)).unwrap();
        proxies[which].take().unwrap().kill();
        tokio::time::sleep(Duration::from_millis(random.below(300))).await;
        proxies[which] = Some(tokio::task::block_in_place(start));
        addresses.write().unwrap()[which] = address(&proxies[which]);
        deaths += 1;
        sent_texts.shown(&relay.take());
    }
    let (mut rounds, mut done) = (0, Vec::new());
    for work in work {
        let Done { agent, tasks, said } = work.await.unwrap();
        rounds += tasks;
        sent_texts.said(said);
        done.push(agent);
    }
    sent_texts.shown(&relay.take());
    let here = [address(&proxies[0]), address(&proxies[1])];
    for agent in &done {
        let session = agree(agent, &relay, here).await;
        is_kept(agent, &session, here[0]).await;
    }
    let handles = sent_texts.check(here).await;
    println!(
        "{agents} agents finished {rounds} tasks while {deaths} proxies died; {handles} handles were good"
    );
    assert!(handles > 0, "nothing was cut");
    let stats = model.stats();
    let refused: Vec<_> =
        stats["log"].as_array().unwrap().iter().filter(|line| line["outcome"] != "answered").collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
