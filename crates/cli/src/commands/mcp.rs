//! `secateur mcp`: tools for agents to fetch back what was cut, by the Model Context Protocol over standard input and
//! output.
//!
//! Standard output carries the protocol and nothing else. Whatever a tool returns goes into a context that is short of
//! room, so it is bounded, and says how to go on.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router, transport};
use schemars::JsonSchema;
use secateur_engine::{Engine, EngineError};
use serde::Deserialize;

use crate::commands::recall::described;
use crate::store_args::{self, StoreArgs};

/// How many characters of an original are returned if nobody says, and at most.
const PAGE: usize = 20_000;
const LARGEST_PAGE: usize = 100_000;

/// How many finds are returned if nobody says, and at most.
const FINDS: usize = 10;
const MOST_FINDS: usize = 50;

/// How an agent is told to use it.
const EXAMPLE: &str = "\
Example, for an agent that reads .mcp.json:
  { \"mcpServers\": { \"secateur\": { \"command\": \"secateur\", \"args\": [\"mcp\"] } } }";

/// Serve agents the tools `recall` and `search` over what was cut (Model Context Protocol, stdio).
///
/// An agent whose results were cut sees placeholders with handles. With these tools it fetches back what it needs after
/// all, and searches what has left its context. The store must be the one that its sessions are kept in.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// Search this session only, and prefer it when several know a handle. Without it, all sessions of the store.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl McpArgs {
    pub(crate) fn run(&self, _: &mut dyn Write) -> Result<ExitCode> {
        store_args::block_on(async {
            let engine = store_args::open_engine(&self.store, None).await?;
            if let Some(id) = &self.session {
                store_args::check_session(&engine, &self.store, id).await?;
            }
            let tools = RecallTools { engine, session: self.session.clone() };
            let service = match tools.serve(transport::stdio()).await {
                Ok(service) => service,
                // Whoever hangs up before he has said anything wants nothing.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(ExitCode::SUCCESS),
                Err(error) => return Err(anyhow!("the client does not speak MCP: {error}")),
            };
            service.waiting().await?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The tools, over the sessions of a store.
struct RecallTools {
    engine: Engine,
    session: Option<String>,
}

/// What to fetch back. Numbers are told as 32 bits: some providers refuse the names of Rust's own types in a schema.
#[derive(Debug, Deserialize, JsonSchema)]
struct RecallParameters {
    /// The handle that a placeholder or a search names, such as "kbqzwmta".
    handle: String,
    /// From which character on.
    #[serde(default)]
    #[schemars(with = "i32")]
    offset: usize,
    /// How many characters at most, up to 100000.
    #[serde(default = "full_page")]
    #[schemars(with = "i32")]
    limit: usize,
}

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
struct SearchParameters {
    /// Words, all of which must occur: identifiers, parts of paths, anything. Case does not matter, and only whole
    /// words are found.
    words: String,
    /// How many finds at most, up to 50.
    #[serde(default = "first_finds")]
    #[schemars(with = "i32")]
    limit: usize,
}

fn full_page() -> usize {
    PAGE
}

fn first_finds() -> usize {
    FINDS
}

#[tool_router]
impl RecallTools {
    #[tool(
        description = "Brings back what was cut from this conversation: the original behind a placeholder like \
                       \"[cut: …; recall kbqzwmta brings it back]\".",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn recall(&self, Parameters(wanted): Parameters<RecallParameters>) -> CallToolResult {
        let handle = wanted.handle.trim();
        match self.engine.recall(handle, self.session.as_deref()).await {
            Ok(recalled) => page(&recalled.text, wanted.offset, wanted.limit.clamp(1, LARGEST_PAGE)),
            Err(error @ (EngineError::NotCut { .. } | EngineError::NotFound { .. })) => refused(format!(
                "{error}. A placeholder names its handle behind \"recall\"; the tool search finds others."
            )),
            Err(error) => refused(error.to_string()),
        }
    }

    #[tool(
        description = "Searches what was cut or summarised away and is no longer in this conversation: old tool \
                       results, inputs and messages, the newest first. Each find has a handle for the tool recall.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn search(&self, Parameters(question): Parameters<SearchParameters>) -> CallToolResult {
        let limit = question.limit.clamp(1, MOST_FINDS);
        match self.engine.search(&question.words, self.session.as_deref(), limit).await {
            Ok(hits) if hits.is_empty() => {
                let words = "Nothing that was cut has all of these words. Try fewer words, or other ones.";
                CallToolResult::success(vec![ContentBlock::text(words)])
            }
            Ok(hits) => {
                let finds =
                    hits.iter().map(|hit| format!("{}: {}\n    {}", hit.handle, described(hit), hit.snippet));
                CallToolResult::success(vec![ContentBlock::text(finds.collect::<Vec<_>>().join("\n"))])
            }
            Err(error) => refused(error.to_string()),
        }
    }
}

#[tool_handler(
    name = "secateur",
    instructions = "Parts of this conversation may have been cut to save room. A placeholder names a handle; recall \
                    brings the original back. search finds what is no longer in the conversation."
)]
impl ServerHandler for RecallTools {}

/// Some characters of a text, and how to have the others.
fn page(text: &str, offset: usize, limit: usize) -> CallToolResult {
    let whole = text.chars().count();
    if offset > 0 && offset >= whole {
        return refused(format!("It has {whole} characters; offset must be smaller."));
    }
    let shown: String = text.chars().skip(offset).take(limit).collect();
    let mut blocks = vec![ContentBlock::text(shown)];
    let end = offset.saturating_add(limit).min(whole);
    if end < whole {
        blocks.push(ContentBlock::text(format!(
            "[characters {offset} to {end} of {whole}; go on with offset {end}]"
        )));
    }
    CallToolResult::success(blocks)
}

fn refused(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(result: &CallToolResult) -> Vec<String> {
        let texts = result.content.iter().filter_map(|block| block.as_text());
        texts.map(|text| text.text.clone()).collect()
    }

    #[test]
    fn a_long_text_is_read_page_by_page() {
        let text = "äbcdefghij";
        assert_eq!(texts(&page(text, 0, 10)), [text]);
        assert_eq!(texts(&page(text, 0, 4)), ["äbcd", "[characters 0 to 4 of 10; go on with offset 4]"]);
        assert_eq!(texts(&page(text, 4, 4)), ["efgh", "[characters 4 to 8 of 10; go on with offset 8]"]);
        assert_eq!(texts(&page(text, 8, usize::MAX)), ["ij"]);
        assert_eq!(page(text, 10, 4).is_error, Some(true));
        assert_eq!(texts(&page("", 0, 4)), [""]);
    }
}
