//! The scripted model as a program, for clients that are programs themselves.
//!
//! ```text
//! cargo run -p secateur-server --example scripted-model -- --listen 127.0.0.1:0 --window 40000 --record requests/
//! ```
//!
//! It prints the address that it listens on and plays until it is ended.

#[expect(dead_code, reason = "a program has its books read over HTTP")]
#[path = "mod.rs"]
mod model;

use std::io::Write as _;

use model::{Model, Settings};

const USAGE: &str = "usage: scripted-model [--listen ADDRESS] [--window TOKENS] [--record FOLDER]";

fn settings(mut arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
    let mut settings = Settings::default();
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        let wrong = |what: &str| format!("{flag} {value:?} is not {what}");
        match flag.as_str() {
            "--listen" => settings.listen = value.parse().map_err(|_| wrong("an address"))?,
            "--window" => settings.window = Some(value.parse().map_err(|_| wrong("a number"))?),
            "--record" => settings.record = Some(value.into()),
            _ => return Err(format!("unknown flag {flag}")),
        }
    }
    Ok(settings)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = settings(std::env::args().skip(1)).map_err(|why| format!("{why}; {USAGE}"))?;
    let model = Model::start(settings).await?;
    println!("{}", model.url());
    std::io::stdout().flush()?;
    model.play().await;
    Ok(())
}
