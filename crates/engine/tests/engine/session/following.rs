//! Sessions that follow a history which a client sends again and again.

use secateur::session::{Event, Seq};
use secateur_engine::{Engine, FollowedSession, NewMessage, SessionOptions, Settlement, Target};
use secateur_formats::Wire;

fn user(id: &str, text: &str) -> NewMessage {
    let json = format!(r#"{{"role":"user","content":"{text}"}}"#);
    NewMessage { id: Some(id.to_owned()), json: json.into(), pinned: false }
}

fn call(id: &str) -> NewMessage {
    let json = format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{id}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"run {id}\"}}"}}}}]}}"#
    );
    NewMessage { id: Some(id.to_owned()), json: json.into(), pinned: false }
}

fn result(id: &str, of: &str, len: usize) -> NewMessage {
    let text = format!("{of} ").repeat(len / (of.len() + 1));
    let json = format!(r#"{{"role":"tool","tool_call_id":"call_{of}","content":"{text}"}}"#);
    NewMessage { id: Some(id.to_owned()), json: json.into(), pinned: false }
}

async fn engine() -> Engine {
    Engine::new(secateur_store::open("sqlite::memory:").await.unwrap())
}

fn begin(engine: &Engine) -> FollowedSession {
    engine.follow_new(SessionOptions { wire: Wire::OpenAiChat, ..SessionOptions::default() }).unwrap()
}

/// Takes a task and `calls` tool calls with their results.
async fn work(session: &mut FollowedSession, calls: usize, len: usize) -> Vec<Seq> {
    let mut seqs = session.take([user("task", "Do it.")]).await.unwrap();
    for at in 0..calls {
        let (asked, reported) = (format!("c{at}"), format!("r{at}"));
        seqs.extend(session.take([call(&asked), result(&reported, &asked, len)]).await.unwrap());
    }
    seqs
}

fn shown(session: &FollowedSession) -> Vec<String> {
    let name = |shown: secateur_engine::ShownMessage<'_>| {
        let cuts = shown.cuts.iter().filter(|cut| !cut.undone).count();
        let mark = if cuts > 0 { "-" } else { "" };
        if shown.made.is_some() { "made".to_owned() } else { format!("{}{mark}", shown.facts.id) }
    };
    session.shown_messages().map(name).collect()
}

#[tokio::test]
async fn what_was_only_said_is_not_stored() {
    let engine = engine().await;
    let mut session = begin(&engine);
    assert_eq!(work(&mut session, 2, 50).await, [1, 2, 3, 4, 5]);
    session.fit(&Target::new("m", 200_000), 100).await.unwrap();
    session.hold(1);
    session.store_confirmed().await.unwrap();
    assert!(!session.is_stored());
    assert_eq!(engine.sessions(9).await.unwrap(), []);

    session.hold(4);
    session.store_confirmed().await.unwrap();
    assert!(session.is_stored());
    let row = &engine.sessions(9).await.unwrap()[0];
    assert_eq!(row.head, 3, "what may be taken back is not stored");
}

#[tokio::test]
async fn what_is_held_can_be_taken_back() {
    let engine = engine().await;
    let mut session = begin(&engine);
    work(&mut session, 1, 50).await;
    session.take([user("volatile", "now")]).await.unwrap();
    session.hold(4);
    session.store_confirmed().await.unwrap();
    assert!(session.rewind(4).await.unwrap());
    assert_eq!(session.take([user("other", "later")]).await.unwrap(), [4]);
    assert_eq!(shown(&session), ["task", "c0", "r0", "other"]);
    assert!(!session.rewind(3).await.unwrap(), "what is stored stays");
}

#[tokio::test]
async fn cuts_are_stored_with_all_that_was_said() {
    let engine = engine().await;
    let mut session = begin(&engine);
    work(&mut session, 12, 9_000).await;
    let fit = session.fit(&Target::new("m", 30_000), 100).await.unwrap();
    assert!(fit.usable.is_some_and(|usable| fit.tokens < usable), "{fit:?}");
    let before = shown(&session);
    assert!(
        before.iter().any(|name| name.ends_with('-')) || before.contains(&"made".to_owned()),
        "{before:?}"
    );

    let again = engine.follow(session.id()).await.unwrap();
    assert_eq!(shown(&again), before);
}

#[tokio::test]
async fn a_summary_is_made_of_bodies_that_only_the_store_has() {
    let engine = engine().await;
    let mut session = begin(&engine);
    work(&mut session, 3, 300).await;
    session.take([user("more", "A word that only I say: quixotic.")]).await.unwrap();
    session.take([call("c8"), result("r8", "c8", 30_000), user("last", "And then?")]).await.unwrap();
    session.take([call("c9"), result("r9", "c9", 300)]).await.unwrap();
    session.store_confirmed().await.unwrap();
    let mut session = engine.follow(session.id()).await.unwrap();
    session.compact(None).await.unwrap();
    let made: Vec<u8> = session.shown_messages().filter_map(|shown| shown.made).flatten().copied().collect();
    assert!(String::from_utf8(made).unwrap().contains("quixotic"));
    assert_eq!(shown(&session)[0], "task", "the task stays as it is");
}

#[tokio::test]
async fn a_fork_shares_what_was_decided_and_nothing_else() {
    let engine = engine().await;
    let mut session = begin(&engine);
    let seqs = work(&mut session, 12, 9_000).await;
    session.fit(&Target::new("m", 30_000), 100).await.unwrap();
    let mut fork = session.fork(*seqs.last().unwrap()).await.unwrap();
    assert_eq!(shown(&fork), shown(&session));
    fork.take([user("other", "something else")]).await.unwrap();
    fork.store_confirmed().await.unwrap();
    session.take([user("next", "go on")]).await.unwrap();
    session.store_confirmed().await.unwrap();
    assert_eq!(shown(&engine.follow(fork.id()).await.unwrap()).last().unwrap(), "other");
    assert_eq!(shown(&engine.follow(session.id()).await.unwrap()).last().unwrap(), "next");
}

#[tokio::test]
async fn a_fork_before_the_end_of_a_compaction_has_its_own_history() {
    let engine = engine().await;
    let mut session = begin(&engine);
    let seqs = work(&mut session, 6, 300).await;
    session.take([user("more", "And more.")]).await.unwrap();
    session.store_confirmed().await.unwrap();
    session.compact(None).await.unwrap();
    assert!(shown(&session).contains(&"made".to_owned()));
    let fork = session.fork(seqs[4]).await.unwrap();
    assert_eq!(shown(&fork), ["task", "c0", "r0", "c1", "r1"]);
}

#[tokio::test]
async fn what_others_did_is_noticed() {
    let engine = engine().await;
    let mut one = begin(&engine);
    work(&mut one, 2, 50).await;
    one.store_confirmed().await.unwrap();
    let mut two = engine.follow(one.id()).await.unwrap();
    two.take([user("next", "go on")]).await.unwrap();
    two.store_confirmed().await.unwrap();

    one.take([user("mine", "or so")]).await.unwrap();
    let reloads = one.reloads();
    one.refresh().await.unwrap();
    assert_eq!(one.reloads(), reloads + 1);
    assert_eq!(shown(&one).last().unwrap(), "next", "what was not stored has to be said again");
}

#[tokio::test]
async fn an_overflow_is_answered_with_less() {
    let engine = engine().await;
    let mut session = begin(&engine);
    work(&mut session, 12, 9_000).await;
    let target = Target::new("m", 200_000);
    let fit = session.fit(&target, 100).await.unwrap();
    let sent = session.sent_chars();
    session.settle_and_store(Settlement::Overflow { tokens: Some(210_000) }, sent).await.unwrap();
    let less = session.fit(&target, 100).await.unwrap();
    let chars = |session: &FollowedSession| session.live_messages().chars();
    assert!(chars(&session) < 12 * 9_000, "{fit:?} {less:?}");
}

#[tokio::test]
async fn what_is_cut_when_a_session_is_opened_is_told_with_its_first_request() {
    let values =
        "compaction = { prune_at = [\"session-start\"] }\nwatermark = { protect = 100, minimum = 1 }";
    let plain = engine().await;
    let options = || SessionOptions {
        wire: Wire::OpenAiChat,
        profile: Some("opencode".to_owned()),
        ..SessionOptions::default()
    };
    let mut session = plain.follow_new(options()).unwrap();
    work(&mut session, 6, 4_000).await;
    session.take([user("more", "Go on."), user("again", "Go on.")]).await.unwrap();
    session.store_confirmed().await.unwrap();
    let engine = super::setup::set(plain, values);
    let mut opened = engine.follow(session.id()).await.unwrap();
    opened.refresh().await.unwrap();
    let fitted = opened.fit(&Target::new("m", 200_000), 100).await.unwrap();
    assert!(shown(&opened).iter().any(|name| name.ends_with('-')), "{:?}", shown(&opened));
    assert!(matches!(*fitted.events, [Event::Pruned { .. }]), "{:?}", fitted.events);
    let fitted = opened.fit(&Target::new("m", 200_000), 100).await.unwrap();
    assert!(fitted.events.is_empty(), "told once: {:?}", fitted.events);
}
