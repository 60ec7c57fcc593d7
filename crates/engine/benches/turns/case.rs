//! A store of its own for each case, and what is said in it.

use secateur::session::TurnState;
use secateur::{Limits, Usage};
use secateur_engine::{NewMessage, Session, Settlement, Target};
use serde_json::json;
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::Outcome;

/// The session in each store.
pub(crate) const ID: &str = "s";

/// A store with one session of this many messages.
pub(crate) struct Case {
    url: String,
    /// How many.
    pub(crate) messages: u64,
    /// The server and the schema that is to be dropped.
    schema: Option<(String, String)>,
    /// Gone with the case.
    _folder: TempDir,
}

impl Case {
    /// A place in a file, or on a server.
    pub(crate) async fn new(server: Option<&str>, messages: u64) -> Outcome<Self> {
        let folder = TempDir::new()?;
        let Some(server) = server else {
            let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
            return Ok(Self { url, messages, schema: None, _folder: folder });
        };
        let schema = format!("bench_{}", Uuid::now_v7().simple());
        run_sql(server, &format!("CREATE SCHEMA {schema}")).await?;
        let mark = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{mark}options=-c%20search_path%3D{schema}");
        Ok(Self { url, messages, schema: Some((server.to_owned(), schema)), _folder: folder })
    }

    /// What a process has to know.
    pub(crate) fn task(&self) -> String {
        format!("{} {}", self.messages, self.url)
    }

    /// Clears up.
    pub(crate) async fn remove(self) -> Outcome<()> {
        match &self.schema {
            Some((server, schema)) => run_sql(server, &format!("DROP SCHEMA {schema} CASCADE")).await,
            None => Ok(()),
        }
    }
}

async fn run_sql(server: &str, sql: &str) -> Outcome<()> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    Ok(client.batch_execute(sql).await?)
}

/// The model that is asked.
pub(crate) fn target() -> Target {
    let limits = Limits { context: 8_000, output: Some(1_000), ..Limits::default() };
    Target { limits, ..Target::new("model", 8_000) }
}

/// The messages of a turn: a request, a call, its result, an answer.
pub(crate) fn turn(name: &str) -> [NewMessage; 4] {
    let (call, output) = (format!("call-{name}"), format!("a line of the file {name}\n").repeat(40));
    let messages = [
        json!({"role": "user", "content": format!("Please look at file {name}.")}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": call, "type": "function",
            "function": {"name": "read", "arguments": format!("{{\"path\":\"src/{name}.rs\"}}")}}]}),
        json!({"role": "tool", "tool_call_id": call, "content": output}),
        json!({"role": "assistant", "content": format!("File {name} is fine.")}),
    ];
    let ids = ["user", "call", "result", "answer"].map(|role| Some(format!("{name}-{role}")));
    let mut ids = ids.into_iter().flatten();
    messages.map(|message| NewMessage { id: ids.next(), json: message.to_string().into(), pinned: false })
}

/// How the request ended.
pub(crate) fn answer(tokens: i64) -> Settlement {
    Settlement::Responded {
        usage: Usage { input: tokens, output: 20, ..Usage::default() },
        turn: TurnState::Over,
    }
}

/// Takes turns until what lives is what lives in every session of this kind.
pub(crate) async fn take_turns(session: &mut Session, name: &str, turns: u32) -> Outcome<()> {
    for number in 0..turns {
        session.append(turn(&format!("{name}{number:07}"))).await?;
        let request = session.context(&target()).await?;
        session.settle(answer(request.tokens)).await?;
    }
    Ok(())
}
