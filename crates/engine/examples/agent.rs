//! A small agent that never runs out of window. It reads what you say, line by line, and writes what the model
//! says: `agent URL MODEL WINDOW STORE`.
//!
//! URL is that of an OpenAI-compatible server, such as `http://127.0.0.1:8080/v1`.

use std::error::Error;
use std::io::{BufRead, Write};

use secateur::session::TurnState;
use secateur::{Limits, Usage};
use secateur_engine::provider::read_overflow;
use secateur_engine::{Engine, EngineError, NewMessage, Session, SessionOptions, Settlement, Target};
use secateur_store::StoreError;
use serde_json::{Value, json};

const SESSION: &str = "agent";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    run(&arguments, std::io::stdin().lock().lines(), &mut std::io::stdout()).await
}

/// Answers line by line.
pub(crate) async fn run(
    arguments: &[String],
    lines: impl Iterator<Item = std::io::Result<String>>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let [url, model, window, store] = arguments else {
        return Err("usage: agent URL MODEL WINDOW STORE".into());
    };
    let limits = Limits { context: window.parse()?, output: Some(200), ..Limits::default() };
    let target = Target { limits, ..Target::new(model, limits.context) };

    let engine = Engine::new(secateur_store::open(store).await?);
    let mut session = match engine.open(SESSION).await {
        Err(EngineError::Store(StoreError::NoSession { .. })) => {
            engine
                .create(SessionOptions { id: Some(SESSION.to_owned()), ..SessionOptions::default() })
                .await?
        }
        opened => opened?,
    };
    for line in lines {
        session.append([NewMessage::json(json!({"role": "user", "content": line?}).to_string())]).await?;
        writeln!(out, "{}", turn(&mut session, &target, url).await?)?;
    }
    Ok(())
}

/// Lets the model answer; gives what it said.
async fn turn(session: &mut Session, target: &Target, url: &str) -> Result<String, Box<dyn Error>> {
    // Not needed with a `reqwest` that brings its own cryptography.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = reqwest::Client::new();
    for _ in 0..3 {
        let request = session.context(target).await?;
        let sent = client.post(format!("{url}/chat/completions")).header("content-type", "application/json");
        let response = sent.body(request.body).send().await?;
        let status = response.status().as_u16();
        let body = response.text().await?;
        if let Some(overflow) = read_overflow(status, &body) {
            // It counts otherwise than we do. The session makes room and knows better from now on.
            session.settle(Settlement::Overflow { tokens: overflow.used }).await?;
            continue;
        }
        if status != 200 {
            return Err(format!("the model's server answered {status}").into());
        }
        let answer: Value = serde_json::from_str(&body)?;
        let message = &answer["choices"][0]["message"];
        session.append([NewMessage::json(message.to_string())]).await?;
        let count = |name: &str| answer["usage"][name].as_i64().unwrap_or(0);
        let usage =
            Usage { input: count("prompt_tokens"), output: count("completion_tokens"), ..Usage::default() };
        // An agent with tools runs them here, appends their results, says `TurnState::Open` and asks again.
        session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await?;
        return Ok(message["content"].as_str().unwrap_or_default().to_owned());
    }
    Err("the model's server refuses everything as too long".into())
}
