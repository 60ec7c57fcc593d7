//! The process that is killed: it does everything that can be done to a session, and says what it was told is kept.

use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::{EngineError, Session, Settlement};

use crate::script::{Batch, Random, engine, target};

/// The store, the session and the number of the life, for the process to be killed.
pub(crate) const TASK: &str = "SECATEUR_KILLED";

/// No life is that long. It ends earlier: by a kill, or because its output is not read any more.
const STEPS: u32 = 20_000;

#[test]
#[ignore = "is started by the test that kills it"]
fn a_writer_to_be_killed() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let mut words = task.splitn(3, ' ');
    let (session, life, url) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(live(url, session, life.parse().unwrap()));
}

async fn live(url: &str, id: &str, life: u64) {
    begin("open");
    let mut session = engine(url).await.open(id).await.unwrap();
    let mut random = Random::new(life);
    for step in 0..STEPS {
        let turn = format!("{life}-{step}");
        match random.below(16) {
            0..5 => append(&mut session, Batch::Turn, &turn).await,
            5 => append(&mut session, Batch::Ask, &turn).await,
            6..8 => {
                append(&mut session, Batch::Begin, &turn).await;
                ask(&mut session).await;
                append(&mut session, Batch::End, &turn).await;
            }
            8..11 => ask(&mut session).await,
            11..13 => {
                begin("compact");
                session.compact(None).await.unwrap();
            }
            13 | 14 => {
                begin("undo");
                passed(session.undo(None).await);
            }
            _ => {
                begin("redo");
                passed(session.redo(None).await);
            }
        }
    }
}

/// Says what happens next, so that it can be interrupted.
fn begin(what: &str) {
    println!("begin {what}");
}

async fn append(session: &mut Session, batch: Batch, turn: &str) {
    begin("append");
    session.append(batch.messages(turn)).await.unwrap();
    // All in one line, or it might die in between.
    println!("kept {}", batch.ids(turn).join(" "));
}

async fn ask(session: &mut Session) {
    begin("ask");
    let request = session.context(&target()).await.unwrap();
    begin("settle");
    let usage = Usage { input: request.body.len() as i64 / 4, output: 20, ..Usage::default() };
    session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await.unwrap();
}

/// There may be nothing to take back.
fn passed(outcome: Result<u64, EngineError>) {
    match outcome {
        Ok(_) | Err(EngineError::CannotUndo { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}
