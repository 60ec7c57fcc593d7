//! `secateur mcp`: tools with which an agent fetches back what was cut, over the Model Context Protocol on standard input
//! and output.
//!
//! Standard output carries only the protocol. A tool's result goes into a context that is short of room, so it is
//! limited and says how to read on.

use std::io::Write;

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

/// How many characters of an original are returned by default, and at most.
const PAGE: usize = 20_000;
const LARGEST_PAGE: usize = 100_000;

/// How many search results are returned by default, and at most.
const RESULTS: usize = 10;
const MAX_RESULTS: usize = 50;

/// How to add it to an agent.
const EXAMPLE: &str = "\
Example, for an agent that reads .mcp.json:
  { \"mcpServers\": { \"secateur\": { \"command\": \"secateur\", \"args\": [\"mcp\"] } } }";

/// Give agents the tools `recall` and `search` for what was cut (Model Context Protocol, stdio).
///
/// Where a result was cut, an agent sees a placeholder with a handle. With these tools it fetches the original back and
/// searches what has left its context. The store must be the one that holds its sessions.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// Search only this session, and prefer it when several know a handle [default: all sessions]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl McpArgs {
    pub(crate) fn run(&self, _: &mut dyn Write) -> Result<()> {
        store_args::block_on(async {
            let engine = store_args::open_engine(&self.store, None).await?;
            if let Some(id) = &self.session {
                store_args::check_session(&engine, &self.store, id).await?;
            }
            let tools = RecallTools { engine, session: self.session.clone() };
            let service = match tools.serve(transport::stdio()).await {
                Ok(service) => service,
                // The client disconnected before its first message. That is not an error.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
                Err(error) => return Err(anyhow!("the client does not speak MCP: {error}")),
            };
            service.waiting().await?;
            Ok(())
        })
    }
}

/// The tools, for the sessions of a store.
struct RecallTools {
    engine: Engine,
    session: Option<String>,
}

/// What to fetch back. Numbers have 32 bits in the schema, because some providers reject the names of Rust's own types.
#[derive(Debug, Deserialize, JsonSchema)]
struct RecallParameters {
    /// The handle that a placeholder or a search names, such as "kbqzwmtahdue".
    handle: String,
    /// The first character to return.
    #[serde(default)]
    #[schemars(with = "i32")]
    offset: usize,
    /// The maximum number of characters, up to 100000.
    #[serde(default = "default_page")]
    #[schemars(with = "i32")]
    limit: usize,
}

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
struct SearchParameters {
    /// Words that must all occur: identifiers, parts of paths, anything. Case is ignored, and only whole words match.
    words: String,
    /// The maximum number of results, up to 50.
    #[serde(default = "default_results")]
    #[schemars(with = "i32")]
    limit: usize,
}

fn default_page() -> usize {
    PAGE
}

fn default_results() -> usize {
    RESULTS
}

#[tool_router]
impl RecallTools {
    #[tool(
        description = "Brings back what was cut from this conversation: the original of a placeholder like \
                       \"[cut: …; recall kbqzwmtahdue brings it back]\".",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn recall(&self, Parameters(parameters): Parameters<RecallParameters>) -> CallToolResult {
        let handle = parameters.handle.trim();
        match self.engine.recall(handle, self.session.as_deref()).await {
            Ok(recalled) => page(&recalled.text, parameters.offset, parameters.limit.clamp(1, LARGEST_PAGE)),
            Err(error @ (EngineError::NotCut { .. } | EngineError::NotFound { .. })) => refused(format!(
                "{error}. A placeholder names its handle after \"recall\"; the tool search finds others."
            )),
            Err(error) => refused(error.to_string()),
        }
    }

    #[tool(
        description = "Searches what was cut or summarised and is no longer in this conversation: old tool results, \
                       inputs and messages, newest first. Each result has a handle for the tool recall.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn search(&self, Parameters(parameters): Parameters<SearchParameters>) -> CallToolResult {
        let limit = parameters.limit.clamp(1, MAX_RESULTS);
        match self.engine.search(&parameters.words, self.session.as_deref(), limit).await {
            Ok(hits) if hits.is_empty() => {
                let words = "Nothing that was cut contains all of these words. Try fewer or other words.";
                CallToolResult::success(vec![ContentBlock::text(words)])
            }
            Ok(hits) => {
                let results =
                    hits.iter().map(|hit| format!("{}: {}\n    {}", hit.handle, described(hit), hit.snippet));
                CallToolResult::success(vec![ContentBlock::text(results.collect::<Vec<_>>().join("\n"))])
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

/// Some characters of a text, and the offset of the next.
fn page(text: &str, offset: usize, limit: usize) -> CallToolResult {
    let whole = text.chars().count();
    if offset > 0 && offset >= whole {
        return refused(format!("The text has {whole} characters; offset must be smaller."));
    }
    let shown: String = text.chars().skip(offset).take(limit).collect();
    let mut blocks = vec![ContentBlock::text(shown)];
    let end = offset.saturating_add(limit).min(whole);
    if end < whole {
        blocks.push(ContentBlock::text(format!(
            "[characters {offset} to {end} of {whole}; continue with offset {end}]"
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
        assert_eq!(texts(&page(text, 0, 4)), ["äbcd", "[characters 0 to 4 of 10; continue with offset 4]"]);
        assert_eq!(texts(&page(text, 4, 4)), ["efgh", "[characters 4 to 8 of 10; continue with offset 8]"]);
        assert_eq!(texts(&page(text, 8, usize::MAX)), ["ij"]);
        assert_eq!(page(text, 10, 4).is_error, Some(true));
        assert_eq!(texts(&page("", 0, 4)), [""]);
    }
}
