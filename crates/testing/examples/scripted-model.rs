//! The scripted model as a program, for clients that run as programs.
//!
//! ```text
//! cargo run -p secateur-testing --example scripted-model -- --listen 127.0.0.1:0 --window 40000 --record requests/
//! ```
//!
//! With `--account` its models bind their thinking, as that kind of account shows it.
//!
//! It prints the address that it listens on and serves until it is stopped.

use std::io::Write as _;

use secateur_testing::thinking_binding::{Account, ThinkingBinding};
use secateur_testing::{ModelSettings, ScriptedModel};

const USAGE: &str =
    "usage: scripted-model [--listen ADDRESS] [--window TOKENS] [--account strict|lenient] [--record FOLDER]";

fn settings(mut arguments: impl Iterator<Item = String>) -> Result<ModelSettings, String> {
    let mut settings = ModelSettings::default();
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        let wrong = |what: &str| format!("{flag} {value:?} is not {what}");
        match flag.as_str() {
            "--listen" => settings.listen = value.parse().map_err(|_| wrong("an address"))?,
            "--window" => settings.window = Some(value.parse().map_err(|_| wrong("a number"))?),
            "--account" => {
                let account = match value.as_str() {
                    "strict" => Account::Strict,
                    "lenient" => Account::Lenient,
                    _ => return Err(wrong("strict or lenient")),
                };
                settings.binding = Some(ThinkingBinding { account, knows_betas: true });
            }
            "--record" => settings.record = Some(value.into()),
            _ => return Err(format!("unknown flag {flag}")),
        }
    }
    Ok(settings)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = settings(std::env::args().skip(1)).map_err(|why| format!("{why}; {USAGE}"))?;
    let model = ScriptedModel::start(settings).await?;
    println!("{}", model.url());
    std::io::stdout().flush()?;
    model.serve_forever().await;
    Ok(())
}
