//! `secateur session settle`: records how a request ended.

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::Settlement;
use serde_json::json;

use super::SessionIdArgs;
use crate::event_text::{number, sentences};
use crate::progress::SummaryDisplay;
use crate::store_args::engine_error;
use crate::summariser_args::SummariserArgs;
use crate::terminal::print_json;

/// Record how the last request ended, with the usage that the provider reported.
///
/// The usage calibrates the token estimates. If the window is nearly full, the session is pruned or compacted now.
#[derive(Debug, Args)]
pub(crate) struct SettleArgs {
    #[command(flatten)]
    session: SessionIdArgs,
    /// Input tokens that were not read from or written to the cache.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..))]
    input: Option<i64>,
    /// Output tokens.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..))]
    output: Option<i64>,
    /// Input tokens read from the cache.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..), default_value_t = 0)]
    cache_read: i64,
    /// Input tokens written to the cache.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..), default_value_t = 0)]
    cache_write: i64,
    /// The turn continues: the model called tools, or its response was cut off.
    #[arg(long, conflicts_with = "over")]
    open: bool,
    /// The turn is over: the model waits for the user. This is the default.
    #[arg(long)]
    over: bool,
    /// The provider rejected the request as too long, with the tokens it counted, if known.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, conflicts_with_all = ["input", "output", "open", "over"])]
    overflow: Option<Option<u64>>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    summariser: SummariserArgs,
}

impl SettleArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let settlement = self.settlement()?;
        let (engine, mut session) = self.session.open(Some(&self.summariser)).await?;
        let progress = SummaryDisplay::start(&engine);
        let mut events = session.settle(settlement).await.map_err(engine_error)?;
        // A summary in the background would end with this process, so wait for it.
        events.extend(session.wait().await.map_err(engine_error)?);
        progress.stop();
        let tokens = session.tokens();
        if self.json {
            return print_json(out, &json!({ "session": session.id(), "events": events, "tokens": tokens }));
        }
        if events.is_empty() {
            writeln!(out, "recorded; nothing to prune or compact")?;
        }
        for sentence in sentences(&events) {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out, "the context has about {} tokens now", number(tokens))?;
        Ok(())
    }

    fn settlement(&self) -> Result<Settlement> {
        if let Some(tokens) = self.overflow {
            return Ok(Settlement::Overflow { tokens });
        }
        let (Some(input), Some(output)) = (self.input, self.output) else {
            bail!("missing usage: give --input TOKENS and --output TOKENS, or --overflow");
        };
        let (cache_read, cache_write) = (self.cache_read, self.cache_write);
        let usage = Usage { input, output, cache_read, cache_write, ..Usage::default() };
        let turn = if self.open { TurnState::Open } else { TurnState::Over };
        Ok(Settlement::Responded { usage, turn })
    }
}
