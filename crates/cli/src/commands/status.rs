//! `secateur status`: the conversations that go through the running proxy, as it counts them.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Deserialize;

use crate::assumed_window;
use crate::commands::serve::ServeArgs;
use crate::http_get;
use crate::humanize::{counted, dollars, grouped, percent, printable, shortened};
use crate::listener::{TIMEOUT, client_address, other_user};
use crate::set_aside_notice;
use crate::store_args;
use crate::table::Table;
use crate::terminal::YELLOW;
use crate::time_text;

/// How often the table is refreshed.
const PAUSE: Duration = Duration::from_secs(1);

/// Longer than the proxy waits for its store.
const READY_TIMEOUT: Duration = Duration::from_secs(4);

/// Clears the screen and moves the cursor to its top left.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Watch the conversations that go through the proxy: how full each is, and what was saved.
///
/// Asks the proxy at the configured address. In a terminal the table is refreshed every second until Ctrl-C; otherwise it
/// is printed once. Saved tokens are estimated from the bytes that were cut, at the ratio of bytes to tokens that the
/// provider reported. Saved money is their price at the average input price of the same request. Takes the flags of
/// `serve`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print once and exit, also in a terminal.
    #[arg(long)]
    once: bool,
    /// Print JSON, once.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The response of `/api/conversations`.
#[derive(Deserialize)]
struct StatusResponse {
    items: Vec<ConversationRow>,
}

/// The response of `/readyz`.
#[derive(Default, Deserialize)]
struct ReadinessResponse {
    /// Why the store cannot be used.
    #[serde(default)]
    why: Option<String>,
}

#[derive(Deserialize)]
struct ConversationRow {
    session: String,
    model: String,
    window: i64,
    /// A proxy of an older version does not say.
    #[serde(default)]
    is_window_assumed: bool,
    tokens: i64,
    outcome: String,
    operation: String,
    time: i64,
    requests: u64,
    tokens_in: u64,
    tokens_cached: u64,
    tokens_saved: u64,
    #[serde(default)]
    cache_breaks: u64,
    #[serde(default)]
    tokens_rewritten: u64,
    money_saved: f64,
}

impl StatusArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        store_args::block_on(async {
            let is_live = !self.once && !self.json && std::io::stdout().is_terminal();
            loop {
                let body = self.fetch().await?;
                if self.json {
                    writeln!(out, "{}", body.trim_end())?;
                    return Ok(());
                }
                let conversations: StatusResponse =
                    serde_json::from_str(&body).context("the proxy has another version than this command")?;
                let store = self.store_warnings().await?;
                if is_live {
                    write!(out, "{CLEAR}")?;
                }
                for warning in store {
                    writeln!(out, "{YELLOW}warning{YELLOW:#}: {}\n", printable(&warning))?;
                }
                show(&conversations.items, out)?;
                out.flush()?;
                if !is_live {
                    return Ok(());
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
    }

    /// What is wrong with the proxy's store, and was.
    async fn store_warnings(&self) -> Result<Vec<String>> {
        let (proxy, headers) = self.proxy()?;
        let response = http_get::get(&format!("http://{proxy}/readyz"), &headers, READY_TIMEOUT).await;
        let readiness = response.ok().and_then(|response| serde_json::from_str(&response.body).ok());
        let ReadinessResponse { why } = readiness.unwrap_or_default();
        let fault = why.map(|why| {
            format!("the store cannot be used: {why}; conversations are kept in memory until it can")
        });
        let set_aside = set_aside_notice::describe(self.serve.store.location()?.file.as_deref());
        let set_aside = set_aside.into_iter().map(|(found, fix)| format!("{found}; {fix}"));
        Ok(fault.into_iter().chain(set_aside).collect())
    }

    /// The address of the proxy, and the headers of requests to it.
    fn proxy(&self) -> Result<(SocketAddr, Vec<(&'static str, String)>)> {
        let config = self.serve.config()?;
        let proxy = client_address(self.serve.settings(&config)?.listen);
        if let Some(user) = other_user(proxy) {
            bail!(
                "another user of this machine (id {user}) listens on {proxy}; give the address of your own proxy with --listen"
            );
        }
        let token = self.serve.token(&config)?;
        Ok((proxy, http_get::authorization(token.as_deref())))
    }

    async fn fetch(&self) -> Result<String> {
        let (proxy, headers) = self.proxy()?;
        let response = http_get::get(&format!("http://{proxy}/api/conversations"), &headers, TIMEOUT).await;
        let response = response.map_err(|error| {
            let why = http_get::failure(&error);
            anyhow!(
                "no proxy responds at {proxy}: {why}; start one with `secateur serve`, or give its address with --listen"
            )
        })?;
        match response.status {
            200 => Ok(response.body),
            401 => bail!("the proxy at {proxy} needs a token; name its file with --token-file"),
            status => bail!("{proxy} responded with status {status}: not a proxy of this version"),
        }
    }
}

fn show(conversations: &[ConversationRow], out: &mut dyn Write) -> Result<()> {
    if conversations.is_empty() {
        writeln!(out, "no conversations yet")?;
        return Ok(());
    }
    let headings = [
        "session",
        "model",
        "window",
        "requests",
        "cached",
        "saved",
        "money",
        "outcome",
        "last cut",
        "last request",
    ];
    let mut table = Table::new(headings).right([2, 3, 4, 5, 6]);
    for one in conversations {
        let tokens = u64::try_from(one.tokens).unwrap_or(0);
        let window = u64::try_from(one.window).unwrap_or(0);
        let fill = if window > 0 { percent(tokens, window) } else { grouped(tokens) };
        // Ids start with the time, so only their ends differ.
        let id: String = one.session.chars().skip(one.session.chars().count().saturating_sub(12)).collect();
        table.row([
            id,
            shortened(&one.model, 24),
            fill,
            grouped(one.requests),
            percent(one.tokens_cached, one.tokens_in),
            grouped(one.tokens_saved),
            dollars(one.money_saved),
            one.outcome.clone(),
            if one.operation.is_empty() { "–".to_owned() } else { one.operation.clone() },
            time_text::second(one.time),
        ]);
    }
    write!(out, "{table}")?;
    let assumed = conversations.iter().filter(|one| one.is_window_assumed);
    let assumed: BTreeMap<&str, i64> = assumed.map(|one| (one.model.as_str(), one.window)).collect();
    for (model, tokens) in assumed {
        let tokens = u64::try_from(tokens).unwrap_or(0);
        let (found, fix) = assumed_window::describe(model, tokens);
        writeln!(out, "\n{YELLOW}warning{YELLOW:#}: {}; {}", printable(&found), printable(&fix))?;
    }
    let sum = |of: fn(&ConversationRow) -> u64| conversations.iter().map(of).sum::<u64>();
    let money: f64 = conversations.iter().map(|one| one.money_saved).sum();
    writeln!(
        out,
        "\n{}, {}: {} of {} read from the cache, {} saved, about {}",
        counted(conversations.len() as u64, "conversation"),
        counted(sum(|one| one.requests), "request"),
        percent(sum(|one| one.tokens_cached), sum(|one| one.tokens_in)),
        counted(sum(|one| one.tokens_in), "token"),
        counted(sum(|one| one.tokens_saved), "token"),
        dollars(money),
    )?;
    let breaks = sum(|one| one.cache_breaks);
    if breaks > 0 {
        let again = counted(sum(|one| one.tokens_rewritten), "token");
        writeln!(
            out,
            "{} made {again} be sent again, which the money includes",
            counted(breaks, "cache break")
        )?;
    }
    Ok(())
}
