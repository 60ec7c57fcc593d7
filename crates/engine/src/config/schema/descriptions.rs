//! What the keys of a profile's tables are for.
//!
//! The kernel's types know nothing of schemas, and what their documentation says is for those who write Rust. Here it
//! is said to those who write a page of TOML: their editor shows it, and the book prints it.

use serde_json::Value;

/// Keys and what they are for. A key that several tables have is named by its last two parts.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("compaction.tail.turns", "At most so many turns; all that fit if it is not set."),
    ("compaction.tail.tokens", "At most so many tokens: a number or a share."),
    ("compaction.tail.at_least", "But never fewer tokens than this."),
    ("compaction.tail.at_most", "And never more than this."),
    ("compaction.tail.request", "Whether the user's last message stays even if it is older than the tail."),
    ("compaction.models.*.threshold", "`compaction.threshold` for these models."),
    ("compaction.models.*.background", "`compaction.background` for these models."),
    ("compaction.models.*.summary", "`compaction.summary` for these models."),
    ("prune.lasting", "Where a cut is kept: in the session, beside it, or for one request only."),
    (
        "prune.placeholder",
        "What stands where a result was. `{tool}`, `{subject}`, `{size}`, `{handle}` and `{excerpt}` are filled in. Not in a project's file.",
    ),
    ("watermark.protect", "Tokens of the newest tool output that stay."),
    ("watermark.minimum", "What the candidates must exceed together, in tokens."),
    ("watermark.meter", "How results are measured."),
    ("watermark.active_turns", "How many of the newest user turns are left alone."),
    (
        "watermark.turn_message",
        "Whether the user message that opens the oldest of these turns is scanned itself.",
    ),
    ("watermark.too_few_turns", "What is scanned while there are fewer turns than that."),
    ("watermark.crossing", "What becomes of the result that reaches the watermark."),
    ("watermark.unreached", "With `crossing = \"keep\"`: what may go if the watermark is never reached."),
    (
        "watermark.rest_of_message",
        "With `crossing = \"keep\"`: what may go of the message in which the watermark was reached.",
    ),
    ("watermark.summary", "What a summary means to the walk back."),
    ("watermark.earlier_cut", "What a result that was cut before means to the walk back."),
    ("watermark.statuses", "Results of calls in these states count."),
    ("watermark.first_check", "Which check comes first for a protected tool's result that was cut before."),
    (
        "ratio.mode",
        "How far it goes: trim and clear by limits, clear everything, or only when the cache is cold.",
    ),
    (
        "ratio.keep_last_assistants",
        "The newest assistant messages, from the oldest of which on nothing is touched.",
    ),
    ("ratio.soft_ratio", "The share of the window from which long results are trimmed."),
    ("ratio.hard_ratio", "The share of the window from which results are cleared."),
    ("ratio.min_prunable", "Characters that clearing must be able to gain."),
    ("ratio.trim", "What a trimmed result keeps."),
    ("trim.max", "Results of up to so many UTF-16 units are left alone."),
    ("trim.head", "Units kept from the beginning."),
    ("trim.tail", "Units kept from the end."),
    ("trim.pairs", "Whether a surrogate pair at an edge is split or left out."),
    ("ratio.hard_clear", "Whether results are cleared at all, or only trimmed."),
    ("ratio.images", "Whether results with images are left alone, or the images replaced by a line."),
    ("ratio.characters", "How characters are counted."),
    ("characters.unit", "How text is measured."),
    ("characters.per_token", "Characters that make a token of the window."),
    ("characters.image", "What an image counts for."),
    ("characters.unknown_message", "What a message of an unknown role counts for."),
    ("characters.signatures", "Whether signatures and redacted thinking count."),
    ("ratio.ttl_ms", "With `mode = \"cache-ttl\"`: how long the provider keeps its cache, in milliseconds."),
    ("keep-last.trigger", "What sets it off."),
    ("keep-last.threshold", "What must be exceeded for that."),
    ("keep-last.keep", "How many of the newest tool uses stay."),
    ("keep-last.clear_at_least", "Nothing is cleared unless at least so many tokens go."),
    ("keep-last.clear_inputs", "Whether the input of a cleared call is cleared, too."),
    ("keep-last.meter", "How results are measured."),
    ("meter.unit", "What is counted. `o200k` and `cl100k` need a build with the feature `bpe`."),
    ("meter.divisor", "How many units make a token."),
    ("meter.rounding", "How the quotient is rounded."),
    ("meter.cap", "No single part counts for more tokens than this."),
    ("meter.image", "What an image counts for, in units."),
    ("rent.ages", "From which age on results may go, in model calls since the first that saw them."),
    ("ages.repeated", "A result that came again, word for word."),
    ("ages.covered", "Text of a file of which a later read shows the same lines."),
    ("ages.edited", "Text of a file that was edited since."),
    ("ages.read", "Text of a file."),
    ("ages.agent", "What another agent answered."),
    ("ages.other", "Everything else: commands, searches, pages of the web, acknowledgements."),
    ("ages.cold", "The highest age that counts while the provider's cache is cold."),
    ("rent.least_chars", "Results of fewer characters stay."),
    ("rent.least_tokens", "Results of fewer tokens stay."),
    ("rent.margin", "How many times the cost of writing the rest again the rent has to reach."),
    ("rent.cold_gain", "While the cache is cold, cuts have to save at least so many tokens together."),
    ("rent.placeholder_tokens", "What a placeholder counts for, without its digest, in tokens."),
    ("rent.pressure", "When a full window is a reason to cut; it is none if this is not set."),
    ("pressure.fill", "The share of the window that has to be filled."),
    ("pressure.gain", "The tokens that have to go."),
    ("rent.cap", "How results are shortened when they arrive; they are not if this is not set."),
    ("cap.chars", "The most characters that are let in."),
    ("cap.head", "The share of them that is taken from the beginning; the rest is taken from the end."),
    ("cap.reads", "Whether texts of files are shortened, too."),
    ("rent.inputs", "When inputs of tools are cut as well; they are not if this is not set."),
    ("inputs.age", "The age in model calls."),
    ("inputs.least_chars", "Inputs of fewer characters stay."),
    ("watermark.tools", "Which tools' results may be touched."),
    ("ratio.tools", "Which tools' results may be touched."),
    ("keep-last.tools", "Which tools' results may be touched."),
    ("rent.tools", "Which tools' results may be touched."),
    ("tools.allow", "Patterns of names: only these tools; all if it is empty."),
    ("tools.deny", "Patterns of names: never these tools."),
    ("tools.fold", "How names and patterns are compared: as they are, in lower case, or trimmed as well."),
    ("overflow.terms", "What of the reported usage is added up."),
    ("overflow.total", "When the provider's own total takes the place of that sum."),
    (
        "overflow.output_cap",
        "The most that is kept free for an answer, and what is if the model names no limit.",
    ),
    ("overflow.output_limit", "When the model's output limit counts."),
    ("overflow.input_limit", "When the model's input limit counts."),
    ("overflow.context_limit", "When the window's size counts; without it nothing overflows."),
    ("overflow.reserve", "What the reserve is taken from."),
    ("overflow.reserved", "The reserve in tokens."),
    ("overflow.reserved_limit", "When `reserved` counts."),
    ("overflow.reserved_default", "The reserve if it does not, unless the longest answer is shorter."),
    ("overflow.exhausted", "What it means that the reserve leaves nothing."),
    ("overflow.comparison", "Whether as much as is usable overflows already."),
    ("overflow.empty_fits", "Whether a count of zero or less never overflows."),
    ("pivot.start", "Where the visible history begins."),
    ("pivot.failed_summary_counts", "Whether a summary that ended in an error completes a compaction."),
    ("pivot.tail", "What becomes of recent turns from before the marker."),
    ("pivot.unfinished", "What a summary that is not complete means."),
    ("window.order", "Who is believed first: the model's definition, or an override."),
    ("budget.bytes", "Bytes of content."),
    ("budget.media", "Images and other media."),
];

/// Says of every key below `path` what it is for, unless its type has said so already.
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

/// What a key is for: by its whole path, or else by its last two parts.
fn description(path: &str) -> Option<&'static str> {
    let of =
        |path: &str| DESCRIPTIONS.iter().find(|(key, _)| *key == path).map(|(_, description)| *description);
    let last = path.rmatch_indices('.').nth(1).and_then(|(dot, _)| path.get(dot + 1..));
    of(path).or_else(|| of(last?))
}
