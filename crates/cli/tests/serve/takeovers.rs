//! A proxy that dies, sleeps or is merely slow while it compacts, and another one on the same PostgreSQL that is asked to go
//! on: the conversation has one summary in the end, whichever proxy made it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secateur_store::{Store, open};
use tokio::task::JoinHandle;

use crate::process::Process;
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::ScriptedModel;
use secateur_testing::client::{ClientResponse, assert_same, text};
use secateur_testing::connection::within;
use secateur_testing::postgres::{create_schema, server_url};
use secateur_testing::{Action, Relay};

const WINDOW: u64 = 6_000;
const STEPS: usize = 24;

/// Two proxies, a conversation, and what comes to the model.
struct Scene {
    model: ScriptedModel,
    relay: Relay,
    store: Arc<dyn Store>,
    address: String,
    folder: tempfile::TempDir,
    agent: Agent,
    proxies: [Process; 2],
}

impl Scene {
    async fn new(server: &str, story: &str, wire: Wire) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = ScriptedModel::with_window(Some(WINDOW)).await;
        let relay = Relay::start(&model.url()).await;
        let address = create_schema(server, &format!("takeovers_{story}_{wire:?}").to_lowercase()).await;
        let store = open(&address).await.unwrap();
        let proxies = [(); 2].map(|()| start(folder.path(), &address, &relay));
        let agent = Agent::new(wire, &format!("SCENARIO:long steps={STEPS} bytes=3000"));
        Self { model, relay, store, address, folder, agent, proxies }
    }

    fn addresses(&self) -> [SocketAddr; 2] {
        [self.proxies[0].address, self.proxies[1].address]
    }

    /// Asks one of the two.
    fn ask(&self, which: usize) -> JoinHandle<ClientResponse> {
        let (agent, to) = (self.agent.clone(), self.proxies[which].address);
        tokio::spawn(async move { agent.ask(to).await })
    }

    /// Works through the first until it has asked for a summary, which does not come. The request that waits for it.
    async fn work_until_it_compacts(&mut self) -> JoinHandle<ClientResponse> {
        self.relay.plan_summaries([Action::Hold]);
        loop {
            let mut asking = self.ask(0);
            tokio::select! {
                () = self.relay.stalled() => return asking,
                answer = &mut asking => assert_eq!(self.agent.take(&answer.unwrap()), None, "nothing was compacted"),
            }
        }
    }

    /// The one session that the conversation is.
    async fn session(&self) -> String {
        let mut sessions = self.store.sessions(9).await.unwrap();
        assert_eq!(sessions.len(), 1, "{:?}: one conversation is one session", self.agent.wire);
        sessions.remove(0).id
    }

    /// Waits until nothing more is stored of what was said: for long enough that a busy machine has had its chance.
    async fn settle(&self) {
        let (mut last, mut quiet) = (0, 0);
        while quiet < 25 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            let now = self.store.session(&self.session().await).await.unwrap().revision;
            quiet = if now == last { quiet + 1 } else { 0 };
            last = now;
        }
    }

    /// How often it was compacted.
    async fn compactions(&self) -> usize {
        let operations = self.store.operations(&self.session().await, 0, 99).await.unwrap();
        operations.iter().filter(|operation| operation.kind == "compact").count()
    }

    /// Whether a summary came that hardly made it any shorter.
    async fn is_superfluous(&self) -> bool {
        let events = self.store.events(&self.session().await, 0, 99).await.unwrap();
        events.iter().any(|event| event.data.contains("no-progress"))
    }

    /// It was compacted so often, and each time one summary was made.
    async fn check_compactions(&self, expected: usize) {
        let messages = self.store.messages(&self.session().await, 0, u64::MAX).await.unwrap();
        let summaries = messages.iter().filter(|message| message.facts.contains("\"summary\"")).count();
        assert_eq!((self.compactions().await, summaries), (expected, expected), "{:?}", self.agent.wire);
    }

    /// Both send the same for the same request, the work is finished through both, and nothing was ever too long.
    async fn finish(mut self) {
        let wire = self.agent.wire;
        loop {
            let before = self.compactions().await;
            self.relay.take();
            for which in 0..2 {
                let answer = self.ask(which).await.unwrap();
                assert_eq!((answer.status(), answer.reason()), (200, ""), "{wire:?}: {}", answer.head);
            }
            let asked: Vec<String> = self.relay.take().iter().map(text).collect();
            // What the first learns may lead to a summary ahead of time, which the second uses.
            if self.compactions().await == before {
                assert_same(&asked[0], &asked[1], &format!("{wire:?}, on both proxies"));
                break;
            }
        }
        for to in self.addresses().into_iter().cycle() {
            let (answer, end) = self.agent.step(to).await;
            assert_eq!(answer.reason(), "", "{wire:?}: {}", answer.head);
            if let Some(end) = end {
                assert_eq!(end, format!("Finished long after {STEPS} steps."), "{wire:?}");
                break;
            }
        }
        let stats = self.model.stats();
        assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()), "{wire:?}");
    }
}

fn start(folder: &Path, store: &str, relay: &Relay) -> Process {
    tokio::task::block_in_place(|| Process::start_on(folder, store, &relay.url(), WINDOW))
}

/// That an answer came, of a request that was made to fit.
fn check(answer: &ClientResponse, did: &[&str]) {
    assert_eq!((answer.status(), answer.reason()), (200, ""), "{} {}", answer.head, answer.body);
    assert!(did.contains(&answer.outcome()), "{}", answer.head);
}

/// Plays a story in all languages at once.
async fn on_every_wire<S: Future<Output = ()> + Send + 'static>(story: impl Fn(String, Wire) -> S) {
    let Some(server) = server_url() else { return };
    for story in Wire::ALL.map(|wire| tokio::spawn(story(server.clone(), wire))) {
        story.await.unwrap();
    }
}

/// The first is killed while it waits for the summary. The second is asked afterwards, and makes its own.
async fn dies(server: String, wire: Wire) {
    let mut scene = Scene::new(&server, "dies", wire).await;
    let asking = scene.work_until_it_compacts().await;
    let next = start(scene.folder.path(), &scene.address, &scene.relay);
    std::mem::replace(&mut scene.proxies[0], next).kill();
    assert!(!asking.await.unwrap().is_whole, "{wire:?}: the dead have answered");
    scene.check_compactions(0).await;
    let answer = scene.ask(1).await.unwrap();
    check(&answer, &["compacted"]);
    assert_eq!(scene.relay.take_summaries().len(), 2, "{wire:?}: one of the dead and one of the heir");
    scene.check_compactions(1).await;
    scene.agent.take(&answer);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_of_a_killed_proxy_is_made_by_the_next_one() {
    on_every_wire(dies).await;
}

/// Both are asked the same while one summary is being made; then it comes, or the proxy that makes it is killed.
async fn both_are_asked(server: String, wire: Wire, is_killed: bool) {
    let story = if is_killed { "inherits" } else { "waits" };
    let mut scene = Scene::new(&server, story, wire).await;
    let first = scene.work_until_it_compacts().await;
    let second = scene.ask(1);
    // Should the second make a summary of its own, it has time to ask for it.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(scene.relay.take_summaries().len(), 1, "{wire:?}: one compaction at a time");
    if is_killed {
        let next = start(scene.folder.path(), &scene.address, &scene.relay);
        std::mem::replace(&mut scene.proxies[0], next).kill();
        assert!(!first.await.unwrap().is_whole, "{wire:?}: the dead have answered");
        let answer = second.await.unwrap();
        check(&answer, &["compacted"]);
        assert_eq!(scene.relay.take_summaries().len(), 1, "{wire:?}: that of the heir");
        scene.agent.take(&answer);
    } else {
        scene.relay.take();
        scene.relay.release();
        let (first, second) = (first.await.unwrap(), second.await.unwrap());
        check(&first, &["compacted"]);
        // It was compacted since the second was asked last, by whomever.
        check(&second, &["compacted", "replayed"]);
        let sent: Vec<String> = scene.relay.take().iter().map(text).collect();
        assert_same(&sent[0], &sent[1], &format!("{wire:?}, asked at once"));
        assert_eq!(scene.relay.take_summaries().len(), 0, "{wire:?}: one compaction at a time");
        scene.agent.take(&first);
    }
    scene.check_compactions(1).await;
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_are_asked_at_once_make_one_compaction() {
    on_every_wire(|server, wire| both_are_asked(server, wire, false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_waits_for_the_compaction_of_a_killed_one_makes_it() {
    on_every_wire(|server, wire| both_are_asked(server, wire, true)).await;
}

/// The first sleeps through the end of its lease, the second makes the summary, and then the first wakes up and gets its
/// own, which comes too late.
async fn sleeps(server: String, wire: Wire) {
    let mut scene = Scene::new(&server, "sleeps", wire).await;
    let asking = scene.work_until_it_compacts().await;
    scene.proxies[0].sleep();
    let answer = scene.ask(1).await.unwrap();
    check(&answer, &["compacted"]);
    scene.relay.release();
    scene.proxies[0].wake();
    check(&asking.await.unwrap(), &["compacted", "replayed"]);
    scene.check_compactions(1).await;
    let sent: Vec<String> = scene.relay.take().iter().rev().take(2).map(text).collect();
    assert_same(&sent[0], &sent[1], &format!("{wire:?}, before and after the sleep"));
    scene.agent.take(&answer);
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_comes_too_late_is_dropped() {
    on_every_wire(sleeps).await;
}

/// A summary that is made before it is needed delays no request, wherever the conversation goes on, and takes its place though
/// no request comes back to the proxy that made it.
async fn prepares(server: String, wire: Wire) {
    let mut scene = Scene::new(&server, "prepares", wire).await;
    let (folder, url) = (scene.folder.path(), scene.relay.url());
    let start = || Process::start_by("balanced", folder, &scene.address, &url, WINDOW);
    scene.proxies = tokio::task::block_in_place(|| [start(), start()]);
    drop(scene.work_until_it_compacts().await.await);
    scene.settle().await;
    // The second time it has heard from the model that there is little room left, and would prepare a summary itself.
    check(&scene.ask(1).await.unwrap(), &["unchanged", "replayed"]);
    let answer = scene.ask(1).await.unwrap();
    check(&answer, &["unchanged", "replayed"]);
    scene.agent.take(&answer);
    scene.check_compactions(0).await;
    scene.relay.release();
    // The request behind the one that it was begun for may have been cut. Then it is not worth its place any more.
    let made = async {
        while scene.compactions().await == 0 && !scene.is_superfluous().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within(made).await;
    assert_eq!(scene.relay.take_summaries().len(), 1, "{wire:?}: no other was made");
    scene.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_that_is_made_ahead_is_good_wherever_the_conversation_goes_on() {
    on_every_wire(prepares).await;
}
