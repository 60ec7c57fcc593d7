//! Finds credentials in text and replaces them.
//!
//! What an agent reads, its summariser reads too, and a summary lives longer than its source. So everything that the
//! summariser receives or writes, and the previous summary, is redacted. A [`Redactor`] replaces and never refuses: a
//! credential becomes `[redacted:RULE]`, every other byte stays, and redacting a text again changes nothing. Names of
//! variables stay, because they say where a credential comes from.
//!
//! ```
//! use secateur_engine::redact::Redactor;
//!
//! let redactor = Redactor::new();
//! let redacted = redactor.redact("postgres://app:hunter2@db/app, then export TOKEN=$TOKEN");
//! assert_eq!(redacted.text, "postgres://app:[redacted:url-password]@db/app, then export TOKEN=$TOKEN");
//! assert_eq!(redacted.findings[0].range, 15..22);
//! assert!(!redactor.contains_credential(&redacted.text));
//! ```
//!
//! # How
//!
//! ```text
//!   text ──automaton──▶ literals ──┬─ shape: how a service begins its keys, and a pattern for the rest
//!     of all literals, every byte  ├─ assignment: a telling name, and a value that looks like chance
//!     once                         ├─ header, url, login: a place where credentials stand
//!                                  ├─ prose: a telling name, and a value in the same sentence
//!                                  ├─ wallet: keys that prove themselves
//!                                  └─ pem: the armour of a private key
//! ```
//!
//! A rule only looks at the surroundings of its literal, and no further than a fixed number of bytes or than what it
//! replaces. Escapes of URLs and JSON are resolved, and runs of base64 and hexadecimal digits decoded, once and in
//! pieces of up to 8 kB. The rules read the result. A run with a credential in it is replaced as a whole. So the time
//! is linear in the text. Overlapping findings are merged: replacing a byte too many is better
//! than one too few. What is left between findings is scanned again, because removing a credential can reveal
//! another; that is why a second redaction changes nothing. Patterns of the user run over the whole text, and a chain
//! of them can need more than the eight passes that are made.
//!
//! # Measured
//!
//! * **Found**, of credentials that a generator plants in nine contexts (settings files, JSON, JSON in JSON, YAML, a
//!   shell, a log, Python, Markdown), 25 of each kind: all 17,775 of 79 kinds with a shape, under neutral names; all
//!   6,750 of 30 kinds that are known by their place; 2,466 of 2,475 (99.6 %) of 11 kinds that are known by a name
//!   only. Every finding had the exact extent. `cargo test -p secateur-engine --test engine planted --
//!   --nocapture`
//! * **False positives** in 40 real sessions of 15.3 million bytes, from which key-like strings had been removed
//!   before: 2 findings, both signatures in URLs, none wrong. `SECATEUR_CORPUS=DIR cargo test --release -p
//!   secateur-engine --test engine corpus -- --nocapture`
//! * The same in 229 million bytes of code and documentation (some hundred Rust crates, Python's library), before
//!   encoded text was read, which added nothing in 225 million bytes of such texts: 72 findings. 71 are where a
//!   credential would be, in examples, tests and badges; one is a constant that is called a password and is none.
//!   The same command with `SECATEUR_SOURCES=DIR`. This number flatters: the rules were tuned on these texts, and
//!   the bigram table was counted in them.
//! * **Speed** on text without credentials, in one run: 282 MiB a second, 0.81 times that of a set of sixteen
//!   patterns that only tests for a match, and 1.14 times that of the same patterns one by one, which locate it. A
//!   quarter of the time goes into what is encoded. The worst known text, `password=` over and over, takes a
//!   microsecond a byte, two hundred times as long, whether it is a quarter of a megabyte or a whole one. `cargo
//!   bench -p secateur-engine --bench redact`
//!
//! # Not found
//!
//! A password of words (`correct-horse`), a credential without a shape under a neutral name, a credential that is
//! written in parts, encoded twice, in a run of more than 8 kB or split over lines, and a UUID, unless its place is
//! telling.

mod assignment;
mod base58;
mod bigram;
mod boundary;
mod encoding;
mod error;
mod escape;
mod header;
mod irregularity;
mod login;
mod marker;
mod name;
mod pattern;
mod pem;
mod placeholder;
mod prose;
mod run;
mod scan;
mod shape;
mod url;
mod value;
mod wallet;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use error::RedactError;

use marker::{push_marker, split_at_markers};
use pattern::{PATTERNS_MAX, UserPattern};
use scan::{CredentialCandidate, REACH, Rank, Rules, builtin, merge};

/// How often what is left between findings is scanned again. Replacing a credential only affects its surroundings, so
/// the second pass is nearly always the last.
const PASSES: usize = 8;

/// How much of a piece is scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanPass {
    /// All of it.
    First,
    /// Only near its ends: nothing has changed for the rest.
    Again,
}

/// Finds credentials and replaces them. Cheap to clone: clones share the rules.
#[derive(Clone, Debug)]
pub struct Redactor {
    rules: Option<Arc<Rules>>,
    patterns: Arc<[UserPattern]>,
}

/// A text without its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// The text; borrowed if nothing was found.
    pub text: Cow<'t, str>,
    /// The findings in the order of the text, without overlap.
    pub findings: Vec<FoundCredential>,
}

/// The location of a credential, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCredential {
    /// The rule that found it, which is also named in its marker.
    pub rule: Cow<'static, str>,
    /// Its bytes in the original.
    pub range: Range<usize>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// With the built-in rules.
    pub fn new() -> Self {
        Self { rules: builtin(), patterns: Arc::new([]) }
    }

    /// With the built-in rules and the user's own: pairs of a name and a regular expression. The name goes into the
    /// marker. If the expression has a group called `secret`, only that is replaced, otherwise the whole match.
    ///
    /// ```
    /// use secateur_engine::redact::Redactor;
    ///
    /// let redactor = Redactor::with_patterns([("badge", r"badge no\. (?<secret>\d{6})")])?;
    /// assert_eq!(redactor.redact("badge no. 271828").text, "badge no. [redacted:badge]");
    /// # Ok::<(), secateur_engine::redact::RedactError>(())
    /// ```
    pub fn with_patterns<'p>(
        patterns: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Result<Self, RedactError> {
        let mut own = Vec::new();
        for (name, regex) in patterns {
            if own.len() == PATTERNS_MAX {
                return Err(RedactError::TooMany { limit: PATTERNS_MAX });
            }
            own.push(UserPattern::new(name, regex)?);
        }
        Ok(Self { patterns: own.into(), ..Self::new() })
    }

    /// Replaces every credential with a marker.
    pub fn redact<'t>(&self, text: &'t str) -> RedactedText<'t> {
        let findings = self.find(text);
        if findings.is_empty() {
            return RedactedText { text: Cow::Borrowed(text), findings };
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for finding in &findings {
            out.push_str(text.get(at..finding.range.start).unwrap_or_default());
            push_marker(&mut out, &finding.rule);
            at = finding.range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        RedactedText { text: Cow::Owned(out), findings }
    }

    /// Whether a text contains a credential.
    pub fn contains_credential(&self, text: &str) -> bool {
        split_at_markers(text).into_iter().any(|piece| !self.find_in(text, piece, ScanPass::First).is_empty())
    }

    /// Scans the pieces between markers, then what is left of them, until nothing more is found.
    fn find(&self, text: &str) -> Vec<FoundCredential> {
        let mut findings = Vec::new();
        let mut pieces = split_at_markers(text);
        let mut look = ScanPass::First;
        for _ in 0..PASSES {
            let mut left = Vec::new();
            for piece in pieces {
                let mut start = piece.start;
                let found = self.find_in(text, piece.clone(), look);
                let any = !found.is_empty();
                for CredentialCandidate { range, rule, .. } in found {
                    left.push(start..range.start);
                    start = range.end;
                    findings.push(FoundCredential { rule, range });
                }
                if any {
                    left.push(start..piece.end);
                }
            }
            left.retain(|piece| !piece.is_empty());
            pieces = left;
            look = ScanPass::Again;
            if pieces.is_empty() {
                break;
            }
        }
        findings.sort_by_key(|finding| finding.range.start);
        findings
    }

    /// The findings in one piece, in the order of the text, without overlap.
    fn find_in(&self, text: &str, piece: Range<usize>, look: ScanPass) -> Vec<CredentialCandidate> {
        let mut found = Vec::new();
        let part = text.get(piece.clone()).unwrap_or_default();
        if let Some(rules) = &self.rules {
            let mut find = |span: Range<usize>| rules.find_all(part.as_bytes(), span, &mut found);
            if look == ScanPass::First || part.len() <= 2 * REACH {
                find(0..part.len());
            } else {
                find(0..REACH);
                find(part.len() - REACH..part.len());
            }
        }
        for pattern in self.patterns.iter() {
            pattern.find_all(part, |range| {
                let rule = Cow::Owned(pattern.name.as_ref().to_owned());
                found.push(CredentialCandidate { range, rule, rank: Rank::User });
            });
        }
        let mut merged = merge(found);
        for candidate in &mut merged {
            // Rules read bytes; a finding never splits a character.
            let (start, end) = (candidate.range.start, candidate.range.end);
            candidate.range =
                piece.start + part.floor_char_boundary(start)..piece.start + part.ceil_char_boundary(end);
        }
        merged
    }
}
