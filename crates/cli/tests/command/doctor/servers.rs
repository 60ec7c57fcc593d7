//! Stores on a PostgreSQL server: one that is well, and everything that may be wrong with one.

use tokio_postgres::{Client, NoTls};

use super::report::{Report, doctor, examine};
use crate::machine::{Machine, free_address, run_to_end};
use secateur_testing::postgres::{create_schema, server_url};

async fn connect(store: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(store, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn report(machine: &Machine, store: &str) -> Report {
    let report = tokio::task::block_in_place(|| examine(doctor(machine).env("SECATEUR_STORE", store)));
    let password = store.split_once("://").and_then(|(_, rest)| rest.split_once(':')?.1.split_once('@'));
    if let Some((password, _)) = password {
        assert!(!report.text.contains(password), "a password is shown");
    }
    report
}

fn make(machine: &Machine, store: &str) {
    let run = tokio::task::block_in_place(|| {
        run_to_end(&mut machine.secateur(&["session", "list", "--store", store]))
    });
    assert_eq!(run.code, 0, "{}", run.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_asked_and_left_alone() {
    let Some(server) = server_url() else { return };
    let machine = Machine::new();
    let store = create_schema(&server, "doctor_well").await;
    let client = connect(&store).await;
    let tables = async || {
        let sql = "SELECT count(*) FROM pg_tables WHERE schemaname = 'doctor_well'";
        client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0)
    };
    let empty = report(&machine, &store);
    empty.find("store", "ok", "has no tables yet");
    empty.find("clock", "ok", "the PostgreSQL server");
    assert_eq!((empty.faults(), tables().await), (0, 0), "{}", empty.text);

    make(&machine, &store);
    let made = report(&machine, &store);
    made.find("store", "ok", "can be read and written");
    made.find("schema", "ok", "the newest");
    assert_eq!(made.faults(), 0, "{}", made.text);

    let version = async |version: i32| {
        let sql = format!("UPDATE secateur_schema SET version = {version}");
        client.batch_execute(&sql).await.unwrap();
        report(&machine, &store)
    };
    let (_, fix) = version(3).await.find("schema", "warning", "old schema 3");
    assert!(fix.contains("`secateur serve` migrates it"), "{fix}");
    let (_, fix) = version(9).await.find("schema", "fault", "schema 9");
    assert!(fix.contains("install the version"), "{fix}");
    let left = client.query_one("SELECT version FROM secateur_schema", &[]).await.unwrap();
    assert_eq!(left.get::<_, i32>(0), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_used_is_found() {
    let Some(server) = server_url() else { return };
    let machine = Machine::new();
    let store = create_schema(&server, "doctor_ill").await;
    let read_only = store.replace("options=", "options=-c%20default_transaction_read_only%3Don%20");
    report(&machine, &read_only).find("store", "fault", "is read-only");

    // A user who may read and not write, before and after the tables are made.
    let client = connect(&store).await;
    let guest = "DROP ROLE IF EXISTS doctor_guest; CREATE ROLE doctor_guest LOGIN PASSWORD 'guest'; \
                 GRANT USAGE ON SCHEMA doctor_ill TO doctor_guest";
    client.batch_execute(guest).await.unwrap();
    let (_, rest) = store.split_once('@').unwrap();
    let guests = format!("postgres://doctor_guest:guest@{rest}");
    let (_, fix) = report(&machine, &guests).find("store", "fault", "may not create the missing tables");
    assert!(fix.contains("GRANT CREATE"), "{fix}");
    make(&machine, &store);
    client.batch_execute("GRANT SELECT ON ALL TABLES IN SCHEMA doctor_ill TO doctor_guest").await.unwrap();
    report(&machine, &guests).find("store", "fault", "may not write");
    client.batch_execute("DROP OWNED BY doctor_guest; DROP ROLE doctor_guest").await.unwrap();

    let wrong = format!("postgres://nobody:wrong@{rest}");
    report(&machine, &wrong).find("store", "fault", "password authentication failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_found() {
    let machine = Machine::new();
    let store = format!("postgres://me:secret@{}/db", free_address());
    let (found, fix) = report(&machine, &store).find("store", "fault", "refused");
    assert!(fix.contains("check that the server runs"), "{found} {fix}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_in_memory_is_not_taken_for_a_server() {
    report(&Machine::new(), "sqlite::memory:").find("store", "warning", "lost when the proxy stops");
}
