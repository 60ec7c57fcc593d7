//! Clients, processes of the proxy, a store and a provider, and everything that can go wrong between them.

/// Notes a line of the trace, if there is one.
macro_rules! note {
    ($world:expr, $($argument:tt)*) => {
        if let Some(trace) = &mut $world.trace {
            let at = $world.began.elapsed().as_millis();
            let _ = write!(trace, "{at:>8} ms  ");
            let _ = writeln!(trace, $($argument)*);
        }
    };
}

mod judgement;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use secateur::Catalogue;
use secateur_engine::Clock;
use secateur_engine::provider::LanguageModel;
use secateur_formats::Wire;
use secateur_testing::SeededRandom;
use secateur_testing::simulated_store::{SimulatedStore, StoreCondition};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::client::SimulatedClient;
use super::client_message::MarkNumbers;
use super::exchange::SimulatedExchange;
use super::process::{SimulatedProcess, TENANTS, catalogue};
use super::provider::SimulatedProvider;
use super::repertoire::Repertoire;
use super::summariser::SimulatedSummariser;

/// The time at which every schedule begins.
const FIRST_MOMENT: i64 = 1_700_000_000_000;

/// The most clients of a schedule.
const MOST_CLIENTS: usize = 5;

/// A placeholder's handle that a client received, and what it stands for.
struct SentHandle {
    tenant: usize,
    handle: String,
    text: String,
}

/// Whether other exchanges took place at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Others,
}

pub(super) struct World {
    random: SeededRandom,
    repertoire: Repertoire,
    numbers: MarkNumbers,
    store: SimulatedStore,
    provider: RefCell<SimulatedProvider>,
    catalogue: Catalogue,
    summariser: Option<Arc<dyn LanguageModel>>,
    processes: Vec<SimulatedProcess>,
    /// What the clocks of the processes are ahead of the true time.
    skews: Vec<i64>,
    starts: u64,
    clients: Vec<SimulatedClient>,
    /// What the model saw last of each client, if it thinks.
    answers: Vec<Option<Value>>,
    handles: BTreeMap<(usize, String), SentHandle>,
    /// Whose sessions are whose.
    owners: HashMap<String, usize>,
    began: Instant,
    /// Nothing goes wrong.
    is_calm: bool,
    is_damaged: bool,
    trace: Option<String>,
    pub seen: BTreeSet<&'static str>,
}

impl World {
    pub(super) fn new(seed: u64, repertoire: Repertoire, is_traced: bool) -> Self {
        let mut random = SeededRandom::new(seed);
        let is_calm = random.happens(15);
        let store = SimulatedStore::new(random.draw());
        if !repertoire.checks_bodies {
            store.leave_bodies_unchecked();
        }
        let provider = SimulatedProvider::new(&mut random, repertoire, is_calm);
        let catalogue = catalogue(&provider);
        let summariser = random.happens(60).then(|| -> Arc<dyn LanguageModel> {
            Arc::new(SimulatedSummariser::new(&mut random, provider.window, is_calm))
        });
        let mut world = Self {
            repertoire,
            numbers: MarkNumbers::default(),
            store,
            provider: RefCell::new(provider),
            catalogue,
            summariser,
            processes: Vec::new(),
            skews: Vec::new(),
            starts: 0,
            clients: Vec::new(),
            answers: Vec::new(),
            handles: BTreeMap::new(),
            owners: HashMap::new(),
            began: Instant::now(),
            is_calm,
            is_damaged: false,
            trace: is_traced.then(String::new),
            seen: BTreeSet::new(),
            random,
        };
        note!(world, "{:?}", world.provider.borrow());
        for _ in 0..1 + world.random.below(2) {
            let process = world.start_process();
            world.processes.push(process);
            world.skews.push(0);
        }
        for _ in 0..1 + world.random.below(2) {
            world.add_client();
        }
        if world.random.happens(60) {
            world.store.set(StoreCondition::Busy);
        }
        world
    }

    /// What happened, a line each.
    pub(super) fn trace(&self) -> &str {
        self.trace.as_deref().unwrap_or_default()
    }

    fn fail(&self, why: &str) -> ! {
        panic!("{why}");
    }

    fn start_process(&mut self) -> SimulatedProcess {
        self.starts += 1;
        let clock = Clock::seeded(FIRST_MOMENT, self.starts);
        SimulatedProcess::start(self.starts, &self.store, clock, &self.catalogue, self.summariser.clone())
    }

    fn add_client(&mut self) {
        let wire = match self.random.below(20) {
            0..9 => Wire::Anthropic,
            9..17 => Wire::OpenAiChat,
            17..19 => Wire::OpenAiResponses,
            _ => Wire::Gemini,
        };
        let tenant = self.random.place(TENANTS.len());
        let window = self.provider.borrow().window_bytes();
        let (random, numbers) = (&mut self.random, &mut self.numbers);
        let mut client = SimulatedClient::new(random, numbers, tenant, wire, window / 8);
        // Many are in the middle of their work.
        let begun = window * random.below(90) / 100;
        while random.happens(90) && (client.body().len() as u64) < begun {
            client.go_on(random, numbers, None);
        }
        note!(
            self,
            "client {} of tenant {tenant} on {wire}, {} bytes",
            self.clients.len(),
            client.body().len()
        );
        self.clients.push(client);
        self.answers.push(None);
    }

    /// Whether something was decided that no process knows any more: rows were damaged, or a process died while the
    /// store was away.
    fn may_have_lost_decisions(&self) -> bool {
        self.is_damaged || (self.store.faults() > 0 && self.starts > self.processes.len() as u64)
    }

    /// Plays the whole schedule.
    pub(super) async fn run(&mut self) {
        for _ in 0..8 + self.random.below(14) {
            self.set_clocks();
            self.step().await;
        }
        self.finish().await;
    }

    fn set_clocks(&self) {
        let elapsed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        for (process, skew) in self.processes.iter().zip(&self.skews) {
            process.clock.set(FIRST_MOMENT + elapsed + skew);
        }
    }

    async fn step(&mut self) {
        let is_well =
            self.store.condition() == StoreCondition::Works || self.store.condition() == StoreCondition::Busy;
        if !is_well && self.random.happens(30) {
            self.heal();
        }
        match self.random.below(100) {
            0..46 => self.talk().await,
            46..52 => self.ask_again().await,
            52..57 => self.fork_client(),
            57..62 => self.rewind_client(),
            62..67 => self.talk_at_once().await,
            67..71 => self.wait().await,
            71..74 => self.recall_some().await,
            _ if self.is_calm => self.talk().await,
            74..80 => self.change_store(),
            80..84 => {
                let call = 1 + self.random.below(6);
                note!(self, "store call {call} from now fails");
                self.store.fail_once(call);
            }
            84..86 => self.talk_while_power_is_lost().await,
            86..89 => self.crash(),
            89..92 => self.crash_while_talking().await,
            92..94 => self.jump_clock(),
            94..96 => self.jump_store_clock(),
            96..99 => self.damage(),
            _ => self.restart().await,
        }
    }

    fn heal(&mut self) {
        let condition = if self.random.happens(50) { StoreCondition::Works } else { StoreCondition::Busy };
        note!(self, "the store is {condition:?}");
        self.store.set(condition);
    }

    fn change_store(&mut self) {
        let condition = *self.random.pick(&[
            StoreCondition::Fails,
            StoreCondition::Full,
            StoreCondition::LosesAnswers,
            StoreCondition::Flaky,
            StoreCondition::Slow,
            StoreCondition::Hangs,
        ]);
        note!(self, "the store is {condition:?}");
        self.store.set(condition);
    }

    fn jump_clock(&mut self) {
        let place = self.random.place(self.skews.len());
        let by = *self.random.pick(&[-86_400_000, -3_600_000, -1_000, 1_000, 3_600_000, 86_400_000 * 40]);
        note!(self, "the clock of process {place} jumps by {by} ms");
        self.skews[place] += by;
    }

    fn jump_store_clock(&mut self) {
        let by = *self.random.pick(&[-86_400_000, -3_600_000, 1_000, 60_000, 86_400_000]);
        if by > 0 || self.repertoire.store_clock_goes_back {
            note!(self, "the clock of the store jumps by {by} ms");
            self.store.move_clock(by);
        }
    }

    fn damage(&mut self) {
        if !self.repertoire.damages {
            return;
        }
        let what = self.store.damage(&mut self.random);
        note!(self, "damaged: {what:?}");
        self.is_damaged |= what.is_some();
    }

    async fn wait(&mut self) {
        let ms = *self.random.pick(&[3, 15, 700, 20_000, 400_000]);
        note!(self, "{ms} ms go by");
        sleep(Duration::from_millis(ms)).await;
    }

    /// A process dies and is started again.
    fn crash(&mut self) {
        let place = self.random.place(self.processes.len());
        self.replace_process(place);
    }

    fn replace_process(&mut self, place: usize) {
        note!(self, "process {place} dies and is started again");
        self.seen.insert("a crash");
        self.processes[place].connection.die();
        let process = self.start_process();
        self.processes[place] = process;
        self.skews[place] = 0;
        self.set_clocks();
    }

    /// A process is stopped in order and started again.
    async fn restart(&mut self) {
        let place = self.random.place(self.processes.len());
        note!(self, "process {place} is stopped");
        self.processes[place].finish().await;
        self.replace_process(place);
    }

    fn fork_client(&mut self) {
        if self.clients.len() >= MOST_CLIENTS {
            return;
        }
        let place = self.random.place(self.clients.len());
        let mut fork = self.clients[place].clone();
        if self.random.happens(30) {
            fork.rewind(&mut self.random);
        }
        if self.random.happens(40) {
            fork.key = None;
        }
        // Thinking of an open turn cannot be taken from one tenant's conversation to another's if nothing drops it.
        let can_move = !fork.thinks || self.provider.borrow().can_drop_thinking();
        if can_move && self.repertoire.tenants_share_texts && self.random.happens(50) {
            (fork.tenant, fork.last) = (1 - fork.tenant, None);
        }
        note!(self, "client {} of tenant {} begins as client {place} is", self.clients.len(), fork.tenant);
        self.clients.push(fork);
        self.answers.push(self.answers[place].clone());
    }

    fn rewind_client(&mut self) {
        let place = self.random.place(self.clients.len());
        let client = &mut self.clients[place];
        if client.rewind(&mut self.random) {
            // The model sees another history, so it has not thought about it yet.
            self.answers[place] = None;
            let length = client.messages.len();
            note!(self, "client {place} goes back to {length} messages");
        }
    }

    /// A client goes on, if its last request was answered.
    fn continue_client(&mut self, place: usize) {
        let client = &mut self.clients[place];
        if !client.is_ahead {
            client.go_on(&mut self.random, &mut self.numbers, self.answers[place].as_ref());
        }
    }

    fn pick_places(&mut self) -> (usize, usize) {
        (self.random.place(self.processes.len()), self.random.place(self.clients.len()))
    }

    async fn talk(&mut self) {
        let (process, client) = self.pick_places();
        self.continue_client(client);
        self.send(process, client).await;
    }

    /// A client sends its last request again.
    async fn ask_again(&mut self) {
        let (process, client) = self.pick_places();
        self.send(process, client).await;
    }

    async fn exchange(&self, process: usize, client: usize) -> SimulatedExchange {
        let (place, process) = (client, &self.processes[process]);
        SimulatedExchange::run(&self.store, &self.provider, process, place, &self.clients[client]).await
    }

    async fn send(&mut self, process: usize, client: usize) {
        let exchange = self.exchange(process, client).await;
        self.judge(process, client, exchange, Company::Alone);
    }

    /// Two requests at once, of two clients or of one that is impatient.
    async fn talk_at_once(&mut self) {
        let (one, client) = self.pick_places();
        let (other, other_client) = self.pick_places();
        self.continue_client(client);
        self.continue_client(other_client);
        note!(self, "at once:");
        let both = join(self.exchange(one, client), self.exchange(other, other_client));
        let (first, second) = both.await;
        self.judge(one, client, first, Company::Others);
        self.judge(other, other_client, second, Company::Others);
    }

    async fn talk_while_power_is_lost(&mut self) {
        let (process, client) = self.pick_places();
        self.continue_client(client);
        let ms = *self.random.pick(&[0, 1, 5, 10, 15, 400]);
        note!(self, "the store loses power in {ms} ms");
        let loss = async {
            sleep(Duration::from_millis(ms)).await;
            self.store.lose_power();
        };
        let (exchange, ()) = join(self.exchange(process, client), loss).await;
        self.judge(process, client, exchange, Company::Alone);
    }

    async fn crash_while_talking(&mut self) {
        let (process, client) = self.pick_places();
        self.continue_client(client);
        let ms = *self.random.pick(&[0, 1, 3, 10, 20, 500, 5_000, 30_000]);
        let limit = Duration::from_millis(ms);
        match timeout(limit, self.exchange(process, client)).await {
            Ok(exchange) => self.judge(process, client, exchange, Company::Alone),
            Err(_) => note!(self, "client {client} was waiting for process {process}"),
        }
        self.replace_process(process);
        if self.random.happens(30) {
            self.jump_store_clock();
        }
        // Most clients try again at once.
        if self.random.happens(60) {
            let process = self.random.place(self.processes.len());
            self.send(process, client).await;
        }
    }

    /// Everything works again: every client goes on, and everything that was cut is there.
    async fn finish(&mut self) {
        note!(self, "everything works again");
        self.store.set(StoreCondition::Works);
        if self.random.happens(50) {
            sleep(Duration::from_secs(60)).await;
        }
        if self.random.happens(50) {
            for place in 0..self.processes.len() {
                self.replace_process(place);
            }
        }
        self.set_clocks();
        for client in 0..self.clients.len() {
            let process = self.random.place(self.processes.len());
            self.continue_client(client);
            self.send(process, client).await;
        }
        for name in self.handles.keys().cloned().collect::<Vec<_>>() {
            self.recall(&name).await;
        }
        let (cached, new) = self.provider.borrow().cached;
        note!(self, "{cached} tokens were in the cache, {new} were not");
    }
}
