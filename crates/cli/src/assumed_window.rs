//! What the user is told about a model whose window is assumed.

use crate::humanize::grouped;

/// What is assumed, and the line that sets the window.
pub(crate) fn describe(model: &str, tokens: u64) -> (String, String) {
    let found = format!("the window of {model:?} is not known, and {} tokens are assumed", grouped(tokens));
    let fix = format!(
        "put its window at the top of config.toml (`secateur config --path` shows where): windows.{model:?} = {tokens}; or \
         start the proxy with --window {model}={tokens}"
    );
    (found, fix)
}
