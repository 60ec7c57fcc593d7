//! Descriptions of the settings in a profile's tables.
//!
//! The kernel's types have no schemas, and their documentation is for Rust programmers. These descriptions are for people
//! who write TOML: editors show them, and docs/configuration.md prints them.

use serde_json::Value;

/// Settings and their descriptions. A setting that several tables share is named by its last two parts.
pub(super) const DESCRIPTIONS: &[(&str, &str)] = &[
    ("compaction.auto", "Whether Secateur compacts by itself when a request overflows."),
    ("compaction.prune", "Whether old tool results are pruned."),
    ("compaction.prune_at", "When they are pruned."),
    ("compaction.order", "What is tried first on overflow: pruning or compacting."),
    ("compaction.marker", "The text of the marker that the model sees. Not allowed in a project's file."),
    ("compaction.marker_at", "When the marker is written."),
    (
        "compaction.resume",
        "The message that makes the model continue after a compaction. Not allowed in a project's file.",
    ),
    ("compaction.resume_when", "When that message is written."),
    ("compaction.replay", "Whether the user message that overflowed is sent again after the summary."),
    ("compaction.tail", "Recent history that is kept verbatim."),
    (
        "compaction.threshold",
        "The most tokens to use, if that is less than the model's limits allow: a number or a share.",
    ),
    ("compaction.summary", "The longest summary: tokens or a share."),
    ("compaction.low_water", "The most tokens that may be in use after a compaction: a number or a share."),
    (
        "compaction.least_gain",
        "How much an automatic compaction must save to count as progress: tokens or a share.",
    ),
    ("compaction.background", "Above this, a summary is prepared in the background: tokens or a share."),
    ("compaction.attempts", "How often the summariser is tried for one summary."),
    ("compaction.breaker", "After this many failures in a row, the summariser is not used for a while."),
    ("compaction.cooldown_ms", "How long it is not used then, in milliseconds."),
    ("compaction.fallback", "What happens when the summariser yields no summary."),
    (
        "compaction.caps",
        "The longest results that are accepted, by patterns of tool names: tokens or a share.",
    ),
    ("compaction.models", "Different values for some models, by patterns of model names."),
    ("compaction.tail.turns", "The most turns to keep; without it, all that fit."),
    ("compaction.tail.tokens", "The most tokens to keep: a number or a share."),
    ("compaction.tail.at_least", "Never fewer tokens than this."),
    ("compaction.tail.at_most", "Never more tokens than this."),
    ("compaction.tail.request", "Whether the user's last message is kept even if it is older than the tail."),
    ("compaction.models.*.threshold", "`compaction.threshold` for these models."),
    ("compaction.models.*.background", "`compaction.background` for these models."),
    ("compaction.models.*.summary", "`compaction.summary` for these models."),
    ("prune.lasting", "Where a cut is recorded: in the session, beside it, or for one request only."),
    (
        "prune.placeholder",
        "The text in place of a cut result. `{tool}`, `{subject}`, `{size}`, `{handle}` and `{excerpt}` are filled in. Not allowed in a project's file.",
    ),
    ("watermark.protect", "Tokens of the newest tool output that are never cut."),
    ("watermark.minimum", "Nothing is cut unless the candidates together exceed this many tokens."),
    ("watermark.meter", "How tokens are estimated."),
    ("watermark.active_turns", "How many of the newest turns are never cut."),
    ("watermark.turn_message", "Whether the user message that opens the oldest of these turns is scanned."),
    ("watermark.too_few_turns", "What is scanned while there are fewer turns than that."),
    ("watermark.crossing", "What happens to the result that crosses the watermark."),
    ("watermark.unreached", "With `crossing = \"keep\"`: what may be cut if the watermark is never reached."),
    (
        "watermark.rest_of_message",
        "With `crossing = \"keep\"`: what may be cut in the message in which the watermark is reached.",
    ),
    ("watermark.summary", "Whether the scan stops at a summary."),
    ("watermark.earlier_cut", "Whether the scan stops at a result that was cut before."),
    ("watermark.statuses", "Only results of calls with these statuses are considered."),
    (
        "watermark.first_check",
        "Which check comes first for a result that was cut before and belongs to a protected tool.",
    ),
    (
        "ratio.mode",
        "How far pruning goes: trim and clear by limits, clear everything, or only when the cache is cold.",
    ),
    (
        "ratio.keep_last_assistants",
        "How many of the newest assistant messages are protected, with everything after the oldest of them.",
    ),
    ("ratio.soft_ratio", "The share of the window above which long results are trimmed."),
    ("ratio.hard_ratio", "The share of the window above which results are cleared."),
    ("ratio.min_prunable", "Nothing is cleared unless it frees at least this many characters."),
    ("ratio.trim", "What remains of a trimmed result."),
    ("trim.max", "Results of at most this many UTF-16 units are not trimmed."),
    ("trim.head", "Units kept from the beginning."),
    ("trim.tail", "Units kept from the end."),
    ("trim.pairs", "Whether a surrogate pair at an edge is split or dropped."),
    ("ratio.hard_clear", "Whether results are cleared at all, or only trimmed."),
    ("ratio.images", "Whether results with images are skipped, or their images replaced by a line of text."),
    ("ratio.characters", "How characters are counted."),
    ("characters.unit", "The unit of text length."),
    ("characters.per_token", "Characters per token of the window."),
    ("characters.image", "The characters that an image counts for."),
    ("characters.unknown_message", "The characters that a message of an unknown role counts for."),
    ("characters.signatures", "Whether signatures and redacted thinking count."),
    ("ratio.ttl_ms", "With `mode = \"cache-ttl\"`: how long the provider keeps its cache, in milliseconds."),
    ("keep-last.trigger", "What is compared with `threshold`."),
    ("keep-last.threshold", "Pruning begins above this value."),
    ("keep-last.keep", "How many of the newest tool uses are kept."),
    ("keep-last.clear_at_least", "Nothing is cleared unless it frees at least this many tokens."),
    ("keep-last.clear_inputs", "Whether the input of a cleared call is cleared too."),
    ("keep-last.meter", "How tokens are estimated."),
    ("meter.unit", "What is counted. `o200k` and `cl100k` need a build with the feature `bpe`."),
    ("meter.divisor", "Units per token."),
    ("meter.rounding", "How the quotient is rounded."),
    ("meter.cap", "The most tokens that a single part counts for."),
    ("meter.image", "The units that an image counts for."),
    ("rent.ages", "The age from which results may be cut, in model calls since the first one that saw them."),
    ("ages.repeated", "A result that was returned again, word for word."),
    ("ages.covered", "File content whose lines a later read shows again."),
    ("ages.edited", "Content of a file that has been edited since."),
    ("ages.read", "Other file content."),
    ("ages.agent", "The result of a sub-agent."),
    ("ages.other", "Everything else: commands, searches, web pages, acknowledgements."),
    ("ages.cold", "The highest age that is required while the provider's cache is cold."),
    ("rent.least_chars", "Results with fewer characters are kept."),
    ("rent.least_tokens", "Results with fewer tokens are kept."),
    (
        "rent.margin",
        "How many times the cost of rewriting the cache the accumulated cost of keeping must reach.",
    ),
    ("rent.cold_gain", "While the cache is cold, cuts must save at least this many tokens together."),
    (
        "rent.rethink",
        "Tokens of output that a model thinks again for each signed block of thinking that a cut makes invalid.",
    ),
    ("rent.placeholder_tokens", "The tokens that a placeholder counts for, without its excerpt."),
    (
        "rent.band",
        "From which share of the limit of a price band on cuts keep requests below it; bands do not matter if this is not set.",
    ),
    ("rent.pressure", "When a full window is a reason to cut; never if this is not set."),
    ("pressure.fill", "The share of the window that must be filled."),
    ("pressure.gain", "The tokens that the cuts must save."),
    ("rent.cap", "How long results are shortened on arrival; not at all if this is not set."),
    ("cap.chars", "The most characters of a result that are kept."),
    ("cap.head", "The share of them taken from the beginning; the rest is taken from the end."),
    ("cap.reads", "Whether file content is shortened too."),
    ("rent.inputs", "When inputs of tool calls are cut too; never if this is not set."),
    ("inputs.age", "The age in model calls."),
    ("inputs.least_chars", "Inputs with fewer characters are kept."),
    ("watermark.tools", "The tools whose results may be cut."),
    ("ratio.tools", "The tools whose results may be cut."),
    ("keep-last.tools", "The tools whose results may be cut."),
    ("rent.tools", "The tools whose results may be cut."),
    ("tools.allow", "Patterns of tool names: only these tools; all if empty."),
    ("tools.deny", "Patterns of tool names: never these tools."),
    ("tools.fold", "How names and patterns are compared: as they are, in lower case, or also trimmed."),
    ("overflow.terms", "Which reported token counts are added up."),
    ("overflow.total", "When the provider's own total replaces that sum."),
    (
        "overflow.output_cap",
        "The most tokens reserved for the response, and the reserve if the model has no output limit.",
    ),
    ("overflow.output_limit", "When the model's output limit applies."),
    ("overflow.input_limit", "When the model's input limit applies."),
    ("overflow.context_limit", "When the window's size applies; without it nothing overflows."),
    ("overflow.reserve", "Which limit the reserve is subtracted from."),
    ("overflow.reserved", "The reserve in tokens."),
    ("overflow.reserved_limit", "When `reserved` applies."),
    ("overflow.reserved_default", "The reserve otherwise, unless the longest response is shorter."),
    ("overflow.exhausted", "What happens if the reserve leaves nothing usable."),
    ("overflow.comparison", "Whether exactly the usable number of tokens already overflows."),
    ("overflow.empty_fits", "Whether a count of zero or less always fits."),
    ("pivot.start", "Where the visible history begins."),
    ("pivot.failed_summary_counts", "Whether a summary that ended with an error completes a compaction."),
    ("pivot.tail", "What happens to recent turns before the marker."),
    ("pivot.unfinished", "What an incomplete summary means."),
    ("window.order", "Which window size is preferred: the model's definition or an override."),
    ("window.default", "The window that is assumed for a model that is not known, in tokens."),
    ("budget.bytes", "The most bytes of content in a request."),
    ("budget.media", "The most images and other media in a request."),
];

/// Adds a description to every setting below `path` that has none yet.
pub(super) fn describe(path: &str, schema: &mut Value) {
    if let Some(any) = schema.get_mut("additionalProperties").filter(|any| any.is_object()) {
        describe(&format!("{path}.*"), any);
    }
    let Some(Value::Object(keys)) = schema.get_mut("properties") else { return };
    for (key, inner) in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        describe(&path, inner);
        if let (Value::Object(inner), Some(description)) = (inner, description(&path)) {
            inner.entry("description").or_insert_with(|| Value::from(description));
        }
    }
}

/// The description of a setting: by its whole path, or else by its last two parts.
fn description(path: &str) -> Option<&'static str> {
    let of =
        |path: &str| DESCRIPTIONS.iter().find(|(key, _)| *key == path).map(|(_, description)| *description);
    let last = path.rmatch_indices('.').nth(1).and_then(|(dot, _)| path.get(dot + 1..));
    of(path).or_else(|| of(last?))
}
