//! The provider of a simulation: it counts, enforces its window, binds thinking, keeps a cache, and fails.

use std::collections::HashMap;

use secateur::Usage;
use secateur::session::ProviderReport;
use secateur_formats::Wire;
use secateur_testing::SeededRandom;
use secateur_testing::thinking_binding::{Account, ThinkingBinding, judge};
use serde_json::Value;

use super::repertoire::Repertoire;

/// The models that it has: a plain one, and one whose version says that it binds its thinking.
pub(super) const MODEL: &str = "simulated-model";
pub(super) const THINKING_MODEL: &str = "claude-simulated-9";

/// What the proxy knows about the window before the first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowKnowledge {
    /// Its size.
    Exact,
    /// A larger size.
    TooLarge,
    /// Nothing.
    None,
}

/// A provider.
#[derive(Debug)]
pub(super) struct SimulatedProvider {
    random: SeededRandom,
    /// Its window in tokens.
    pub window: u64,
    pub knowledge: WindowKnowledge,
    /// Bytes of ten tokens.
    bytes_of_ten: u64,
    binding: ThinkingBinding,
    /// Its refusals say how long the window is.
    names_window: bool,
    /// How many of a hundred requests fail.
    failures: u64,
    /// The prompts that each client sent last.
    cache: HashMap<usize, Vec<u8>>,
    /// Tokens that were and were not in the cache.
    pub cached: (u64, u64),
}

/// What a provider says to a request.
pub(super) enum ProviderAnswer {
    Accepted {
        usage: Usage,
        report: Option<ProviderReport>,
        /// The request as it was read, if the model thinks.
        body: Option<Value>,
    },
    Refused {
        status: u16,
        error: String,
    },
}

impl SimulatedProvider {
    pub(super) fn new(random: &mut SeededRandom, repertoire: Repertoire, is_calm: bool) -> Self {
        let knowledge = match random.below(10) {
            0..6 => WindowKnowledge::Exact,
            6..8 => WindowKnowledge::TooLarge,
            _ => WindowKnowledge::None,
        };
        let account = if random.happens(50) { Account::Strict } else { Account::Lenient };
        let binding = ThinkingBinding { account, knows_betas: !repertoire.gateways || random.happens(70) };
        Self {
            window: *random.pick(&[1_000, 2_000, 3_000, 5_000]),
            knowledge,
            bytes_of_ten: 25 + random.below(25),
            binding,
            names_window: knowledge != WindowKnowledge::Exact || random.happens(60),
            failures: if is_calm { 0 } else { random.below(8) },
            cache: HashMap::new(),
            cached: (0, 0),
            random: SeededRandom::new(random.draw()),
        }
    }

    /// The bytes of a request that fills the window.
    pub(super) fn window_bytes(&self) -> u64 {
        self.window * self.bytes_of_ten / 10
    }

    /// How it counts.
    pub(super) fn tokens(&self, bytes: u64) -> u64 {
        bytes * 10 / self.bytes_of_ten
    }

    /// Whether a body fits the window.
    pub(super) fn fits(&self, bytes: u64) -> bool {
        self.tokens(bytes) <= self.window
    }

    /// Whether it can be asked to drop thinking that a cut made invalid.
    pub(super) fn can_drop_thinking(&self) -> bool {
        self.binding.knows_betas
    }

    /// How long the next answer takes, in milliseconds.
    pub(super) fn delay(&mut self) -> u64 {
        [0, 5, 400, 3_000, 20_000][self.random.place(5)]
    }

    /// Whether the client disconnects before the answer ends.
    pub(super) fn is_cut_off(&mut self) -> bool {
        self.random.happens(self.failures)
    }

    /// Answers a request of a client.
    pub(super) fn answer(
        &mut self,
        client: usize,
        wire: Wire,
        thinks: bool,
        sent: &[u8],
        betas: &str,
    ) -> ProviderAnswer {
        if self.random.happens(self.failures) {
            let status = *self.random.pick(&[429, 500, 529]);
            return ProviderAnswer::Refused {
                status,
                error: r#"{"error":{"message":"try again"}}"#.to_owned(),
            };
        }
        let (mut body, mut report, mut cleared) = (None, None, 0);
        if thinks {
            let value: Value = serde_json::from_slice(sent).unwrap();
            match judge(&value, betas, self.binding) {
                Ok(judgement) => {
                    cleared = judgement.cleared_bytes;
                    report = (!judgement.report.is_empty()).then_some(ProviderReport {
                        cleared_results: judgement.cleared,
                        cleared_tokens: self.tokens(cleared),
                        dropped_blocks: judgement.dropped.len() as u64,
                    });
                }
                Err(message) => {
                    let error =
                        serde_json::json!({"error": {"type": "invalid_request_error", "message": message}});
                    return ProviderAnswer::Refused { status: 400, error: error.to_string() };
                }
            }
            body = Some(value);
        }
        let tokens = self.tokens(sent.len() as u64 - cleared);
        if tokens > self.window {
            return ProviderAnswer::Refused { status: 400, error: self.overflow(wire, tokens) };
        }
        let last = self.cache.entry(client).or_default();
        let same = last.iter().zip(sent).take_while(|(one, other)| one == other).count() as u64;
        *last = sent.to_vec();
        let cached = self.tokens(same).min(tokens);
        self.cached.0 += cached;
        self.cached.1 += tokens - cached;
        let (cache_read, input) = (cached as i64, (tokens - cached) as i64);
        let usage = Usage { input, cache_read, output: 50, ..Usage::default() };
        ProviderAnswer::Accepted { usage, report, body }
    }

    fn overflow(&self, wire: Wire, tokens: u64) -> String {
        let window = self.window;
        match wire {
            Wire::Anthropic if self.names_window => format!(
                r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"prompt is too long: {tokens} tokens > {window} maximum"}}}}"#
            ),
            Wire::Anthropic => r#"{"message":"Input is too long for requested model."}"#.to_owned(),
            Wire::Gemini => format!(
                r#"{{"error":{{"code":400,"message":"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window}).","status":"INVALID_ARGUMENT"}}}}"#
            ),
            Wire::OpenAiResponses if !self.names_window => r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#.to_owned(),
            _ => format!(
                r#"{{"error":{{"message":"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}}}"#
            ),
        }
    }
}
