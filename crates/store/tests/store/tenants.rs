//! Tenants: what one stores does not exist for another.

use std::sync::Arc;

use secateur_store::{
    ClippingSearch, Commit, Forget, Fork, MessageChange, NewClipping, SessionCursor, Store, StoreError,
    TenantScope,
};

use crate::rows::{everything, message, new_session, operation, says};
use secateur_testing::store_home::run;
use secateur_testing::{Backend, StoreHome, on_each_home, on_each_store};

on_each_store!(
    a_tenant_finds_nothing_of_another,
    the_same_history_has_two_owners,
    a_foreign_session_cannot_be_changed,
    a_fork_stays_with_its_tenant,
    a_handle_is_taken_only_for_its_tenant,
    forgetting_leaves_the_same_text_of_others,
    an_operator_sees_and_changes_all,
    a_database_without_tenants_is_the_local_ones,
);
on_each_home!(bodies_and_words_of_tenants_are_apart);

const SECRET: &str = "the pump of anna leaks at valve seven";

/// The handle of each text, with which the letters of two texts begin.
const HANDLE: &str = "kbqzwmtaxyzw";

fn of(store: &Arc<dyn Store>, tenant: &str) -> Arc<dyn Store> {
    store.scoped(TenantScope::One(tenant.to_owned()))
}

/// A session with two messages, an operation, an event, and a cut of the first message.
async fn fill(store: &Arc<dyn Store>, id: &str, text: &str) {
    store.create(new_session(id)).await.unwrap();
    let first = message("m1", text.as_bytes());
    let clipping = NewClipping {
        seq: 1,
        part: 0,
        handle: HANDLE.to_owned(),
        letters: Some(format!("{HANDLE}{}", if text == SECRET { "a" } else { "b" })),
        facts: "{}".to_owned(),
        text: text.to_owned(),
    };
    let commit = Commit {
        append: vec![first, message("m2", b"short")],
        change: vec![MessageChange {
            seq: 1,
            cuts: Some("[1]".to_owned()),
            shown: Some(Some(b"[cut]".to_vec())),
            ..MessageChange::default()
        }],
        operations: vec![operation("prune")],
        events: vec![format!(r#"{{"said":"{text}"}}"#)],
        clippings: vec![clipping],
        ..says(0, vec![])
    };
    store.commit(id, commit).await.unwrap();
}

fn search(session: Option<&str>) -> ClippingSearch {
    ClippingSearch { words: "pump valve".to_owned(), session: session.map(str::to_owned), limit: 99 }
}

/// Everything that a tenant can ask for without knowing anything of others, and with the ids of their sessions.
async fn asked_of_all(store: &Arc<dyn Store>, foreign: &str) -> String {
    let ids = ["m1".to_owned(), "m2".to_owned()];
    let start = SessionCursor { updated: i64::MAX, id: "~".to_owned() };
    let mut answers = vec![
        format!("{:?}", store.sessions(99).await.unwrap()),
        format!("{:?}", store.sessions_after(&start, 99).await.unwrap()),
        format!("{:?}", store.find(&ids).await.unwrap()),
        format!("{:?}", store.find_in(foreign, &ids).await.unwrap()),
        format!("{:?}", store.clippings(HANDLE).await.unwrap()),
        format!("{:?}", store.clippings(&format!("{HANDLE}a")).await.unwrap()),
        format!("{:?}", store.search(search(None)).await.unwrap()),
    ];
    let refusals = [
        store.session(foreign).await.err(),
        store.load(foreign).await.err(),
        store.originals(foreign, &[1, 2]).await.err(),
        store.facts(foreign, 0, 99).await.err(),
        store.messages(foreign, 0, 99).await.err(),
        store.operations(foreign, 0, 99).await.err(),
        store.events(foreign, 0, 99).await.err(),
        store.search(search(Some(foreign))).await.err(),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Some(StoreError::NoSession { .. })), "{refusal:?}");
        answers.push(refusal.unwrap().to_string().replace(foreign, "…"));
    }
    answers.join("\n")
}

async fn a_tenant_finds_nothing_of_another(store: Arc<dyn Store>) {
    let (anna, bert) = (of(&store, "anna"), of(&store, "bert"));
    let before = asked_of_all(&bert, "s-anna").await;
    fill(&anna, "s-anna", SECRET).await;
    let after = asked_of_all(&bert, "s-anna").await;
    assert_eq!(after, before, "it makes no difference to bert what anna has");
    assert_eq!(asked_of_all(&store, "s-anna").await, before, "nor to the local tenant");
    // Anna has all of it.
    assert_eq!(anna.sessions(9).await.unwrap()[0].tenant, "anna");
    assert_eq!(anna.find(&["m1".to_owned()]).await.unwrap().len(), 1);
    assert_eq!(anna.clippings(HANDLE).await.unwrap().len(), 1);
    assert_eq!(anna.search(search(None)).await.unwrap().len(), 1);
}

async fn the_same_history_has_two_owners(store: Arc<dyn Store>) {
    for tenant in ["", "anna", "bert"] {
        fill(&of(&store, tenant), &format!("s-{tenant}"), SECRET).await;
    }
    for tenant in ["", "anna", "bert"] {
        let (own, view) = (format!("s-{tenant}"), of(&store, tenant));
        let sessions = view.sessions(9).await.unwrap();
        assert_eq!(sessions.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), [&own]);
        let found = view.find(&["m1".to_owned()]).await.unwrap();
        assert_eq!(found.iter().map(|found| found.session.as_str()).collect::<Vec<_>>(), [&own]);
        for found in [view.clippings(HANDLE).await.unwrap(), view.search(search(None)).await.unwrap()] {
            assert_eq!(found.iter().map(|found| found.session.as_str()).collect::<Vec<_>>(), [&own]);
        }
        assert_eq!(view.originals(&own, &[1]).await.unwrap(), [Some(SECRET.as_bytes().to_vec())]);
    }
}

async fn a_foreign_session_cannot_be_changed(store: Arc<dyn Store>) {
    let (anna, bert) = (of(&store, "anna"), of(&store, "bert"));
    fill(&anna, "s", SECRET).await;
    let lease = anna.lease("s", "anna's process", 60_000).await.unwrap().unwrap();
    let before = everything(&anna, "s").await;
    let fork = Fork { revision: 1, at: 2, id: "f".to_owned(), title: None, time: 9 };
    let forget = Forget { revision: 1, time: 9, cut: vec![1], ..Forget::default() };
    for refusal in [
        bert.commit("s", says(1, vec![message("m3", b"mine")])).await.err(),
        bert.fork("s", fork).await.err(),
        bert.forget("s", forget).await.err(),
        bert.lease("s", "bert's process", 1).await.err(),
    ] {
        assert!(matches!(refusal, Some(StoreError::NoSession { .. })), "{refusal:?}");
    }
    bert.release("s", "anna's process").await.unwrap();
    assert_eq!(everything(&anna, "s").await, before);
    // She still holds her lease.
    let commit = Commit { lease: Some(lease.token), ..says(1, vec![]) };
    anna.commit("s", commit).await.unwrap();
    assert!(anna.lease("s", "another process", 1).await.unwrap().is_none());
}

async fn a_fork_stays_with_its_tenant(store: Arc<dyn Store>) {
    let anna = of(&store, "anna");
    fill(&anna, "s", SECRET).await;
    let fork = Fork { revision: 1, at: 2, id: "f".to_owned(), title: None, time: 9 };
    assert_eq!(anna.fork("s", fork).await.unwrap().tenant, "anna");
    assert_eq!(anna.originals("f", &[1]).await.unwrap(), [Some(SECRET.as_bytes().to_vec())]);
    assert!(matches!(of(&store, "bert").session("f").await, Err(StoreError::NoSession { .. })));
}

async fn a_handle_is_taken_only_for_its_tenant(store: Arc<dyn Store>) {
    let (anna, bert) = (of(&store, "anna"), of(&store, "bert"));
    fill(&anna, "a", SECRET).await;
    // It makes no difference to him which handles her texts have.
    fill(&bert, "b", "another text of the pump and its valve").await;
    let found = bert.clippings(HANDLE).await.unwrap();
    assert_eq!(found.iter().map(|found| found.session.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(bert.clippings(&format!("{HANDLE}a")).await.unwrap(), []);
    assert_eq!(anna.clippings(&format!("{HANDLE}a")).await.unwrap().len(), 1);
    // Within a tenant it is taken.
    bert.create(new_session("c")).await.unwrap();
    let third = NewClipping {
        seq: 1,
        handle: HANDLE.to_owned(),
        letters: Some(format!("{HANDLE}c")),
        ..NewClipping::default()
    };
    let commit = Commit { clippings: vec![third], ..says(0, vec![message("m1", b"third")]) };
    assert!(matches!(bert.commit("c", commit).await, Err(StoreError::HandleTaken { .. })));
}

async fn forgetting_leaves_the_same_text_of_others(store: Arc<dyn Store>) {
    let (anna, bert) = (of(&store, "anna"), of(&store, "bert"));
    fill(&anna, "a", SECRET).await;
    fill(&bert, "b", SECRET).await;
    let forget = Forget { revision: 1, time: 9, cut: vec![1], ..Forget::default() };
    let forgotten = anna.forget("a", forget).await.unwrap();
    assert_eq!((forgotten.messages, forgotten.bytes), (1, SECRET.len() as u64));
    assert_eq!(anna.originals("a", &[1]).await.unwrap(), [None]);
    assert_eq!(anna.search(search(None)).await.unwrap(), []);
    store.shrink().await.unwrap();
    assert_eq!(bert.originals("b", &[1]).await.unwrap(), [Some(SECRET.as_bytes().to_vec())]);
    assert_eq!(bert.search(search(None)).await.unwrap().len(), 1);
}

async fn an_operator_sees_and_changes_all(store: Arc<dyn Store>) {
    for (tenant, id) in [("", "s0"), ("anna", "s1"), ("bert", "s2")] {
        fill(&of(&store, tenant), id, SECRET).await;
    }
    let operator = of(&store, "bert").scoped(TenantScope::All);
    let sessions = operator.sessions(9).await.unwrap();
    let sessions: Vec<_> = sessions.iter().map(|row| (row.tenant.as_str(), row.id.as_str())).collect();
    assert_eq!(sessions, [("bert", "s2"), ("anna", "s1"), ("", "s0")]);
    let cursor = SessionCursor { updated: 2_000, id: "s2".to_owned() };
    assert_eq!(operator.sessions_after(&cursor, 1).await.unwrap()[0].id, "s1");
    assert_eq!(operator.find(&["m1".to_owned()]).await.unwrap().len(), 3);
    assert_eq!(operator.clippings(HANDLE).await.unwrap().len(), 3);
    assert_eq!(operator.search(search(None)).await.unwrap().len(), 3);
    assert_eq!(operator.search(search(Some("s1"))).await.unwrap()[0].session, "s1");
    // What it writes belongs to the session's tenant.
    let another = Commit {
        append: vec![message("m3", b"a word for anna")],
        clippings: vec![NewClipping {
            seq: 3,
            handle: "h3".to_owned(),
            text: "a word for anna".to_owned(),
            ..NewClipping::default()
        }],
        ..says(1, vec![])
    };
    operator.commit("s1", another).await.unwrap();
    let anna = of(&store, "anna");
    assert_eq!(anna.originals("s1", &[3]).await.unwrap(), [Some(b"a word for anna".to_vec())]);
    assert_eq!(anna.clippings("h3").await.unwrap().len(), 1);
    let words = ClippingSearch { words: "anna word".to_owned(), session: None, limit: 9 };
    assert_eq!(anna.search(words).await.unwrap().len(), 1);
    assert!(matches!(operator.session("none").await, Err(StoreError::NoSession { .. })));
}

async fn a_database_without_tenants_is_the_local_ones(store: Arc<dyn Store>) {
    fill(&store, "s", SECRET).await;
    assert_eq!(store.session("s").await.unwrap().tenant, "");
    assert_eq!(everything(&of(&store, ""), "s").await, everything(&store, "s").await);
}

/// No lookup meets rows of others: equal texts have rows of their own, so that neither the time of a write nor that of a
/// search depends on what others have.
async fn bodies_and_words_of_tenants_are_apart(home: StoreHome) {
    let store = home.open().await;
    fill(&of(&store, "anna"), "s1", SECRET).await;
    let count = |sql: &str| format!("SELECT count(*) FROM {sql}");
    let before = home.query_all_tenants(&count("bodies")).await;
    fill(&of(&store, "bert"), "s2", SECRET).await;
    assert_eq!(home.query_all_tenants(&count("bodies")).await, 2 * before);
    assert_eq!(home.query_all_tenants(&count("clippings WHERE tenant = 'bert'")).await, 1);
    // A plain word meets neither of them.
    let plain = match home.backend {
        Backend::Postgres => count("clippings WHERE words @@ 'pump'::tsquery"),
        _ => count("clippings_words WHERE clippings_words MATCH 'pump'"),
    };
    assert_eq!(home.query_all_tenants(&plain).await, 0);
}

/// The second fence: statements without any condition, by the role that owns the tables.
#[test]
fn policies_hide_rows_from_statements_that_forget_to_ask() {
    const TABLES: [&str; 6] = ["sessions", "messages", "operations", "events", "leases", "bodies"];
    run(Backend::Postgres, |home| async move {
        let store = home.open().await;
        for (tenant, id) in [("anna", "s1"), ("bert", "s2")] {
            fill(&of(&store, tenant), id, SECRET).await;
            of(&store, tenant).lease(id, "me", 60_000).await.unwrap();
        }
        let mut client = home.connect().await;
        let is_super = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
        assert!(
            !client.query_one(is_super, &[]).await.unwrap().get::<_, bool>(0),
            "policies would not count"
        );
        for (tenant, share) in
            [(None, 0), (Some("anna"), 1), (Some("bert"), 1), (Some("*"), 2), (Some("x"), 0)]
        {
            let transaction = client.transaction().await.unwrap();
            if let Some(tenant) = tenant {
                let set = "SELECT set_config('secateur.tenant', $1, TRUE)";
                transaction.execute(set, &[&tenant]).await.unwrap();
            }
            for table in TABLES {
                let rows = transaction.query(&format!("SELECT * FROM {table}"), &[]).await.unwrap().len();
                let each = if matches!(table, "messages") {
                    2
                } else if table == "bodies" {
                    3
                } else {
                    1
                };
                assert_eq!(rows, each * share, "{table} for {tenant:?}");
            }
            // Nor can rows of others be changed, made or deleted.
            let changed = transaction.execute("UPDATE sessions SET title = 'x'", &[]).await.unwrap();
            assert_eq!(changed, share as u64, "{tenant:?}");
            let made =
                "INSERT INTO events (session, number, time, data) SELECT key, 99, 0, '{}' FROM sessions";
            assert_eq!(transaction.execute(made, &[]).await.unwrap(), share as u64, "{tenant:?}");
            transaction.rollback().await.unwrap();
        }
        let transaction = client.transaction().await.unwrap();
        transaction.batch_execute("SELECT set_config('secateur.tenant', 'bert', TRUE)").await.unwrap();
        let stolen =
            "INSERT INTO bodies VALUES (decode(repeat('00', 32), 'hex') || 'anna'::bytea, 0, 1, 'x')";
        let refused = transaction.batch_execute(stolen).await.unwrap_err();
        assert!(refused.as_db_error().unwrap().message().contains("row-level security"), "{refused:?}");
        transaction.rollback().await.unwrap();
        // The setting ended with its transaction: the next user of the connection starts without it.
        assert!(client.query("SELECT * FROM sessions", &[]).await.unwrap().is_empty());
    });
}
