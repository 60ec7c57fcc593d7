//! Finds credentials in text and replaces them.
//!
//! What an agent reads, its summariser reads, too, and a summary lives longer than what it was made from. So
//! everything that enters the summariser, everything that leaves it, and the previous summary are redacted. A
//! [`Redactor`] replaces and never refuses: a credential becomes `[redacted:RULE]`, every other byte stays as
//! it is, and a text that is redacted already does not change. Names of variables stay, because they say
//! where a credential comes from.
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
//!                                  └─ pem: the armour of a private key
//! ```
//!
//! Only where a literal is found, a rule looks at what is around it, and it looks no further than a fixed
//! number of bytes or than what it then replaces. So the time is linear in the text. What overlaps is joined:
//! rather a byte too many is replaced than one too few. What is left between findings is looked at again,
//! because a credential that is taken out can bring another to light; that is what makes a second redaction
//! change nothing. Patterns of the user run over the whole text, and a chain of them can take more passes
//! than the eight there are.
//!
//! # Measured
//!
//! * **Found**, of credentials that a generator plants in nine contexts (files of settings, JSON, JSON in
//!   JSON, YAML, a shell, a log, Python, Markdown), 25 of each kind: all 13,950 of 62 kinds that have a shape,
//!   planted under names that say nothing; all 3,600 of 16 kinds that are known by their place; 2,466 of 2,475
//!   (99.6 %) of 11 kinds that are known by a name only. What was found was found in its exact extent.
//!   `cargo test -p secateur-engine --test redaction planted -- --nocapture`
//! * **Taken for credentials** in 40 real sessions of 15.3 million bytes, from which key-like strings had
//!   been removed before: 2 findings, both signatures of addresses, none wrong.
//!   `SECATEUR_CORPUS=DIR cargo test --release -p secateur-engine --test redaction corpus -- --nocapture`
//! * The same in 229 million bytes of code and documentation (some hundred Rust crates, Python's library):
//!   72 findings. 71 stand where a credential would, in examples, tests and badges; one is a constant that is
//!   called a password and is none. The same command with `SECATEUR_SOURCES=DIR`. This number flatters: the
//!   rules were tuned on these texts, and the table of letters was counted in them.
//! * **Speed** on text without credentials, in one run on a busy machine: 189 MiB a second, 1.06 times that of
//!   a set of sixteen patterns that only says whether there is something, and 1.5 times that of the same
//!   patterns one by one, which say where. The worst text that we know, `password=` over and over, takes a
//!   microsecond a byte, two hundred times as long, for a quarter of a megabyte as for a whole one.
//!   `cargo bench -p secateur-engine --bench redact`
//!
//! # Not found
//!
//! A password of words (`correct-horse`), a credential without a shape under a name that says nothing, a
//! credential that is written in parts, encoded as a whole, or split over lines, and a UUID, unless its place
//! is telling.

mod assignment;
mod bigram;
mod boundary;
mod error;
mod header;
mod irregularity;
mod login;
mod marker;
mod name;
mod pattern;
mod pem;
mod placeholder;
mod scan;
mod shape;
mod url;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub use error::RedactError;

use marker::{push_marker, split_at_markers};
use pattern::{PATTERNS_MAX, UserPattern};
use scan::{CredentialCandidate, REACH, Rank, Rules, builtin, merge};

/// How often what is left between findings is looked at again. Replacing a credential can only make a finding
/// of what is beside it, so the second look is nearly always the last.
const PASSES: usize = 8;

/// How much of a piece is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanPass {
    /// All of it.
    First,
    /// Only what is near its ends: nothing has changed for the rest.
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
    /// What was found, in the order of the text, without overlap.
    pub findings: Vec<FoundCredential>,
}

/// A credential that was found. It says where, never what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCredential {
    /// The rule that found it, which is also what its marker says.
    pub rule: Cow<'static, str>,
    /// Where it was, in bytes of the original.
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

    /// With the built-in rules and the user's own: pairs of a name and a regular expression. The name goes
    /// into the marker. If the expression has a group called `secret`, only that is replaced, otherwise all
    /// that matches.
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

    /// Replaces every credential by a marker.
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

    /// Whether there is a credential in a text.
    pub fn contains_credential(&self, text: &str) -> bool {
        split_at_markers(text).into_iter().any(|piece| !self.find_in(text, piece, ScanPass::First).is_empty())
    }

    /// Looks at the pieces between markers, then at what is left of them, until there is nothing more to
    /// find.
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

    /// What is found in one piece, in the order of the text, without overlap.
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
            // Rules read bytes; a finding never cuts a character in two.
            let (start, end) = (candidate.range.start, candidate.range.end);
            candidate.range =
                piece.start + part.floor_char_boundary(start)..piece.start + part.ceil_char_boundary(end);
        }
        merged
    }
}
