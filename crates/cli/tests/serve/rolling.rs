//! Versions of the program side by side on one store, as they are while instances are replaced one after another.
//!
//! There is only one program here, so the other versions are played: an older one by its tables and its SQL, a newer one by
//! what it may do to tables and rows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_postgres::{Client, NoTls};

use crate::process::Process;
use crate::soak::agree;
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::Relay;
use secateur_testing::ScriptedModel;
use secateur_testing::client::assert_same;
use secateur_testing::connection::within;
use secateur_testing::postgres::{create_schema, server_url};

const WINDOW: u64 = 6_000;
const STEPS: usize = 24;

/// The tables of version 3.
const OLD: [&str; 3] = [
    include_str!("../../../store/src/postgres/schema/1.sql"),
    include_str!("../../../store/src/postgres/schema/2.sql"),
    include_str!("../../../store/src/postgres/schema/3.sql"),
];

/// The newest schema that the program knows.
const KNOWN: u32 = 7;

/// The lock that a schema step holds.
const LOCK: i64 = 0x7365_6361_7465_7572;

/// What the next version may do to tables, in words that both databases understand.
const NEXT: &str = "ALTER TABLE sessions ADD COLUMN next text;
    ALTER TABLE messages ADD COLUMN next integer NOT NULL DEFAULT 7;
    ALTER TABLE bodies ADD COLUMN next text;
    ALTER TABLE operations ADD COLUMN next text;
    ALTER TABLE events ADD COLUMN next text;
    ALTER TABLE leases ADD COLUMN next text;
    ALTER TABLE clippings ADD COLUMN next text;
    CREATE TABLE next_things (session integer NOT NULL REFERENCES sessions (key), next text);
    CREATE INDEX next_messages ON messages (next);";

async fn connect(store: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(store, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn start(folder: &Path, store: &str, relay: &Relay) -> Process {
    tokio::task::block_in_place(|| Process::start_on(folder, store, &relay.url(), WINDOW))
}

fn agent(wire: Wire) -> Agent {
    Agent::new(wire, &format!("SCENARIO:long steps={STEPS} bytes=3000"))
}

/// Works through proxies in turn to the end.
async fn finish(mut agent: Agent, proxies: &[Process]) {
    for proxy in proxies.iter().cycle() {
        let (answer, end) = agent.step(proxy.address).await;
        assert_eq!(answer.reason(), "", "{:?}: {}", agent.wire, answer.head);
        if let Some(end) = end {
            assert_eq!(end, format!("Finished long after {STEPS} steps."), "{:?}", agent.wire);
            return;
        }
    }
}

/// Makes the tables of version 3 at one place and fills them with what is at another.
async fn make_old(store: &str, filled: &str) {
    let mut sql = OLD.concat();
    sql += "CREATE TABLE secateur_schema (version integer NOT NULL); INSERT INTO secateur_schema VALUES (3);";
    let client = connect(store).await;
    client.batch_execute(&sql).await.unwrap();
    for table in ["sessions", "bodies", "operations", "messages", "events", "leases"] {
        // Later versions have more columns.
        let columns = "SELECT string_agg(column_name, ', ') FROM information_schema.columns \
                       WHERE table_schema = current_schema() AND table_name = $1";
        let columns: String = client.query_one(columns, &[&table]).await.unwrap().get(0);
        let copy = format!(
            "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM {filled}.{table}"
        );
        client.batch_execute(&copy).await.unwrap();
    }
    let numbers = "SELECT setval(pg_get_serial_sequence('sessions', 'key'), (SELECT max(key) FROM sessions))";
    client.batch_execute(numbers).await.unwrap();
}

/// Appends messages to a session of its own, as version 3 does, until it is told to stop. How many it has appended.
async fn write_as_before(store: String, stop: Arc<AtomicBool>) -> i64 {
    let client = connect(&store).await;
    let columns = "id, dialect, profile, frame, state, revision, head, live_from, last_operation, last_event, \
                   created, updated";
    let values = "'old', 'anthropic', 'balanced', '{}', '{}', 0, 0, 1, 0, 0, 5, 5";
    client.batch_execute(&format!("INSERT INTO sessions ({columns}) VALUES ({values})")).await.unwrap();
    let mut seq = 0;
    while !stop.load(Ordering::Relaxed) {
        let next = seq + 1;
        let commit = format!(
            "BEGIN;
             SELECT key FROM sessions WHERE id = 'old' FOR UPDATE;
             INSERT INTO bodies (digest, encoding, size, bytes) VALUES ('\\x{next:08x}', 0, 1, 'x');
             INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, shown, facts, cuts)
             SELECT key, {next}, 'old-{next}', NULL, FALSE, FALSE, 5, '\\x{next:08x}', NULL, '{{}}', ''
             FROM sessions WHERE id = 'old';
             UPDATE sessions SET revision = {next}, head = {next}, updated = 6 WHERE id = 'old';
             COMMIT"
        );
        match client.batch_execute(&commit).await {
            Ok(()) => seq = next,
            // Two stood in each other's way, and one of them tries again.
            Err(error) if error.code().is_some_and(|code| code.code() == "40P01") => {
                client.batch_execute("ROLLBACK").await.unwrap();
            }
            Err(error) => panic!("{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    seq
}

/// Starts two at once that both find the tables to be old.
async fn start_two(folder: &Path, store: &str, relay: &Relay) -> [Process; 2] {
    let named = format!("{store}&application_name=rolling");
    let holder = connect(store).await;
    holder.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.unwrap();
    let starting = [(); 2].map(|()| {
        let (folder, named, url) = (folder.to_owned(), named.clone(), relay.url());
        tokio::task::spawn_blocking(move || Process::start_on(&folder, &named, &url, WINDOW))
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE application_name = 'rolling' AND wait_event = 'advisory'";
    let both = async {
        while holder.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(both).await;
    // From here on one of them changes the tables. A second time that would fail.
    holder.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).await.unwrap();
    let [one, other] = starting;
    [one.await.unwrap(), other.await.unwrap()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_store_goes_on_under_two_that_start_at_once_while_an_old_one_writes() {
    let Some(server) = server_url() else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let relay = Relay::start(&model.url()).await;
    // Conversations in all languages, each with a compaction behind it.
    let filled = create_schema(&server, "rolling_filled").await;
    let proxy = start(folder.path(), &filled, &relay);
    let mut agents = Wire::ALL.map(agent);
    let mut expected = Vec::new();
    for agent in &mut agents {
        while agent.step(proxy.address).await.0.outcome() != "compacted" {}
        agent.step(proxy.address).await;
        agree(agent, &relay, [proxy.address; 2]).await;
        relay.take();
        agent.ask(proxy.address).await;
        expected.push(relay.last_body());
    }
    proxy.kill();

    let store = create_schema(&server, "rolling_old").await;
    make_old(&store, "rolling_filled").await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(write_as_before(store.clone(), Arc::clone(&stop)));
    let proxies = start_two(folder.path(), &store, &relay).await;
    for (agent, expected) in agents.iter().zip(&expected) {
        for proxy in &proxies {
            relay.take();
            agent.ask(proxy.address).await;
            assert_same(&relay.last_body(), expected, &format!("{:?}, as before", agent.wire));
        }
    }
    for agent in agents {
        finish(agent, &proxies).await;
    }
    stop.store(true, Ordering::Relaxed);
    let written = writer.await.unwrap();
    let client = connect(&store).await;
    let count = async |sql: &str| client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0);
    assert!(written > 0);
    assert_eq!(count("SELECT count(*) FROM messages WHERE id LIKE 'old-%'").await, written);
    assert_eq!(count("SELECT version::bigint FROM secateur_schema").await, i64::from(KNOWN));
    assert_eq!(count("SELECT count(*) FROM sessions").await, 5);
    assert_eq!(model.stats()["violations"], 0);
}

/// What a newer version may do to tables and rows, done by another process.
enum Newer<'s> {
    Postgres(&'s Client),
    Sqlite(rusqlite::Connection),
}

impl Newer<'_> {
    async fn run(&self, sql: &str) {
        match self {
            Self::Postgres(client) => client.batch_execute(sql).await.unwrap(),
            Self::Sqlite(connection) => {
                connection.busy_timeout(Duration::from_secs(30)).unwrap();
                connection.execute_batch(sql).unwrap();
            }
        }
    }

    async fn set_version(&self, version: u32) {
        self.run(&match self {
            Self::Postgres(_) => format!("UPDATE secateur_schema SET version = {version}"),
            Self::Sqlite(_) => format!("PRAGMA user_version = {version}"),
        })
        .await;
    }

    /// Adds to tables, and to what rows say.
    async fn bring_further(&self) {
        let mut sql = format!("BEGIN; {NEXT}");
        for (table, column) in
            [("sessions", "state"), ("messages", "facts"), ("operations", "data"), ("events", "data")]
        {
            let more = match self {
                Self::Postgres(_) => format!("({column}::jsonb || '{{\"next\": {{\"deep\": [1]}}}}')::text"),
                Self::Sqlite(_) => format!("json_set({column}, '$.next', json('{{\"deep\": [1]}}'))"),
            };
            sql += &format!("UPDATE {table} SET {column} = {more};");
        }
        // A row whose content is changed has no seal until it is written again.
        sql += "UPDATE messages SET seal = NULL;";
        self.run(&format!("{sql} COMMIT")).await;
        self.set_version(KNOWN + 1).await;
    }
}

async fn goes_on(store: &str, newer: Newer<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::with_window(Some(WINDOW)).await;
    let relay = Relay::start(&model.url()).await;
    let mut proxies = [(); 2].map(|()| start(folder.path(), store, &relay));
    let mut agents = Wire::ALL.map(agent);
    for agent in &mut agents {
        agent.work_for(8, proxies[0].address).await;
        agree(agent, &relay, [proxies[0].address; 2]).await;
    }
    newer.bring_further().await;
    // Those that run go on, and agree on everything, also one that has not heard of the conversations before.
    for agent in &agents {
        agree(agent, &relay, [proxies[0].address, proxies[1].address]).await;
    }
    let [first, second, ..] = &mut agents;
    for agent in [first, second] {
        finish(agent.clone(), &proxies).await;
    }
    // One that is started now says what to do.
    let (code, said) = tokio::task::block_in_place(|| Process::refuse(folder.path(), store));
    assert_eq!(code, Some(2), "{said}");
    let (schema, known) = (format!("schema {}", KNOWN + 1), format!("up to {KNOWN}"));
    for word in [schema.as_str(), &known, "newer version", "backup"] {
        assert!(said.contains(word), "{word:?} is missing in {said}");
    }
    assert_eq!(agents[2].ask(proxies[0].address).await.reason(), "");
    // The newer version itself takes its place. It would know the number.
    newer.set_version(KNOWN).await;
    proxies[0] = start(folder.path(), store, &relay);
    for agent in agents {
        agree(&agent, &relay, [proxies[0].address, proxies[1].address]).await;
        finish(agent, &proxies).await;
    }
    let stats = model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_that_run_go_on_when_a_newer_one_brings_the_server_further() {
    let Some(server) = server_url() else { return };
    let store = create_schema(&server, "rolling_further").await;
    goes_on(&store, Newer::Postgres(&connect(&store).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_that_run_go_on_when_a_newer_one_brings_the_file_further() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let newer = Newer::Sqlite(rusqlite::Connection::open(&store).unwrap());
    goes_on(store.to_str().unwrap(), newer).await;
}
