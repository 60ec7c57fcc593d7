//! One pass over a text: finds literals and applies the rules.
//!
//! All literals of all rules are in one automaton, which reads every byte once. The work of a rule at a literal is
//! bounded: it looks a fixed number of bytes back and ahead, or reads what it then replaces. A rejected shape is not
//! tried again within its extent. Escapes are resolved in windows and encoded runs are decoded, each up to a fixed
//! length and once, and the rules read the result. So the time is linear in the text, whatever it is.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::assignment::find_assigned;
use super::boundary::run_end;
use super::encoding::{LONGEST, decode_run};
use super::escape::{self, ResolvedText, read_escape, windows};
use super::header::{find_authorization, find_cookies, find_scheme_token};
use super::login::{LOGIN_RULES, LoginMatcher};
use super::name::{LITERALS, SPELLINGS};
use super::pem::{BEGIN, END, find_begun, find_ended};
use super::prose::find_told;
use super::run::{find_runs, is_digit, read_block, trim_escape};
use super::shape::{ShapeMatcher, Trial, shapes};
use super::url::{find_parameter, find_password};
use super::wallet::{ETHEREUM_LITERALS, LIST_LITERALS, classify_run, find_ethereum_keys, find_key_pair};

/// What a literal announces.
#[derive(Clone, Copy, Debug)]
enum Clue {
    Shape(usize),
    Name,
    Login(usize),
    Begin,
    End,
    Url,
    Authorization,
    Scheme,
    Cookie,
    Parameter,
    Escape,
    Ethereum,
    List,
}

/// How a text came about, which decides what is decoded in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextLayer {
    /// As it was written. Escapes are resolved and runs are decoded.
    Written,
    /// Escapes were resolved. Runs are decoded.
    Resolved,
    /// A run was decoded. Nothing more is.
    Decoded,
}

/// How specific a rule is. Where findings overlap, the most specific one gives the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Found by a name or a place.
    Context,
    /// Found by the shape of the credential.
    Shape,
    /// Found by a user's pattern.
    User,
}

/// Something to replace.
#[derive(Clone, Debug)]
pub(super) struct CredentialCandidate {
    pub(super) range: Range<usize>,
    /// The name of the rule: built-in, or of a user's pattern.
    pub(super) rule: Cow<'static, str>,
    pub(super) rank: Rank,
}

/// The built-in rules, compiled once.
#[derive(Debug)]
pub(super) struct Rules {
    automaton: AhoCorasick,
    clues: Vec<Clue>,
    shapes: Vec<ShapeMatcher>,
    logins: Vec<LoginMatcher>,
}

/// The built-in rules; none if they cannot be compiled, which a test rules out.
pub(super) fn builtin() -> Option<Arc<Rules>> {
    static RULES: LazyLock<Option<Arc<Rules>>> = LazyLock::new(|| Rules::compile().map(Arc::new));
    RULES.clone()
}

/// How far a rule sees from its literal, unless it replaces everything that it sees.
pub(super) const REACH: usize = 40 * 1024;

const FIXED: &[(&str, Clue)] = &[
    ("://", Clue::Url),
    ("uthorization", Clue::Authorization),
    ("UTHORIZATION", Clue::Authorization),
    ("earer ", Clue::Scheme),
    ("asic ", Clue::Scheme),
    ("ookie", Clue::Cookie),
    ("OOKIE", Clue::Cookie),
    ("sig=", Clue::Parameter),
    ("signature=", Clue::Parameter),
    ("Signature=", Clue::Parameter),
    ("?key=", Clue::Parameter),
    ("&key=", Clue::Parameter),
    ("?code=", Clue::Parameter),
    ("&code=", Clue::Parameter),
];

impl Rules {
    fn compile() -> Option<Self> {
        let mut literals: Vec<Vec<u8>> = vec![BEGIN.to_vec(), END.to_vec()];
        let mut clues = vec![Clue::Begin, Clue::End];
        let mut push = |literal: &str, clue: Clue| {
            literals.push(literal.as_bytes().to_vec());
            clues.push(clue);
        };
        let matchers: Vec<ShapeMatcher> = shapes().filter_map(ShapeMatcher::new).collect();
        for (index, matcher) in matchers.iter().enumerate() {
            matcher.shape.starts.iter().for_each(|start| push(start, Clue::Shape(index)));
        }
        for literal in LITERALS {
            let mut capital = literal.to_owned();
            if let Some(first) = capital.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            for spelling in [literal, &capital, &literal.to_ascii_uppercase()] {
                push(spelling, Clue::Name);
            }
        }
        SPELLINGS.into_iter().for_each(|spelling| push(spelling, Clue::Name));
        for (index, place) in LOGIN_RULES.iter().enumerate() {
            place.literals.iter().for_each(|literal| push(literal, Clue::Login(index)));
        }
        FIXED.iter().for_each(|(literal, clue)| push(literal, *clue));
        escape::LITERALS.into_iter().for_each(|literal| push(literal, Clue::Escape));
        ETHEREUM_LITERALS.into_iter().for_each(|literal| push(literal, Clue::Ethereum));
        LIST_LITERALS.into_iter().for_each(|literal| push(literal, Clue::List));
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            // With so many different first bytes there is nothing to skip.
            .prefilter(false)
            .match_kind(MatchKind::Standard)
            .build(literals)
            .ok()?;
        let logins = LOGIN_RULES.iter().filter_map(LoginMatcher::new).collect();
        Some(Self { automaton, clues, shapes: matchers, logins })
    }

    /// Finds all candidates at literals in a part of a text, in no particular order. The rules see the whole text.
    pub(super) fn find_all(&self, text: &[u8], part: Range<usize>, found: &mut Vec<CredentialCandidate>) {
        self.find_in_layer(text, part, TextLayer::Written, found);
    }

    fn find_in_layer(
        &self,
        text: &[u8],
        part: Range<usize>,
        layer: TextLayer,
        found: &mut Vec<CredentialCandidate>,
    ) {
        let escapes = self.find_at_literals(text, part.clone(), found);
        if layer != TextLayer::Decoded {
            self.find_in_runs(text, part, found);
        }
        if layer != TextLayer::Written {
            return;
        }
        let mut inner = Vec::new();
        for window in windows(text, &escapes) {
            let resolved = ResolvedText::new(text, window);
            self.find_in_layer(&resolved.bytes, 0..resolved.bytes.len(), TextLayer::Resolved, &mut inner);
            for CredentialCandidate { range, rule, rank } in inner.drain(..) {
                if let Some(range) = resolved.locate(text, &range) {
                    found.push(CredentialCandidate { range, rule, rank });
                }
            }
        }
    }

    /// Decodes long runs. A run with a credential in it is replaced as a whole.
    fn find_in_runs(&self, text: &[u8], part: Range<usize>, found: &mut Vec<CredentialCandidate>) {
        let digits = text.get(..part.start).unwrap_or_default().iter().rev().take(LONGEST);
        let begun = digits.take_while(|byte| is_digit(**byte)).count();
        for run in find_runs(part.start - begun..part.end, |at| read_block(text, at)) {
            let run = trim_escape(text, run);
            let bytes = text.get(run.clone()).unwrap_or_default();
            if let Some(rule) = classify_run(bytes) {
                found.push(CredentialCandidate { range: run, rule: rule.into(), rank: Rank::Shape });
                continue;
            }
            let Some((decoded, digits)) = decode_run(bytes) else { continue };
            let mut inner = Vec::new();
            self.find_in_layer(&decoded, 0..decoded.len(), TextLayer::Decoded, &mut inner);
            if let Some(CredentialCandidate { rule, .. }) = inner.into_iter().max_by_key(|inner| inner.rank) {
                let end = run_end(text, run.end, 2, |byte| byte == b'=');
                let range = run.start + digits.start..end;
                found.push(CredentialCandidate { range, rule, rank: Rank::Shape });
            }
        }
    }

    /// Applies the rules at their literals. Returns where escapes are.
    fn find_at_literals(
        &self,
        text: &[u8],
        part: Range<usize>,
        found: &mut Vec<CredentialCandidate>,
    ) -> Vec<usize> {
        let mut escapes = Vec::new();
        let mut refused = vec![0; self.shapes.len()];
        for hit in self.automaton.find_overlapping_iter(Input::new(text).span(part)) {
            let Some(clue) = self.clues.get(hit.pattern().as_usize()) else { continue };
            if let Clue::Escape = clue {
                if read_escape(text, hit.start()).is_some() {
                    escapes.push(hit.start());
                }
                continue;
            }
            if let Clue::Shape(index) = clue {
                let Some((matcher, refused)) = self.shapes.get(*index).zip(refused.get_mut(*index)) else {
                    continue;
                };
                if hit.start() < *refused {
                    continue;
                }
                match matcher.try_at(text, hit.range()) {
                    Trial::Found(range) => {
                        *refused = range.end;
                        let rule = matcher.shape.rule.into();
                        found.push(CredentialCandidate { range, rule, rank: Rank::Shape });
                    }
                    Trial::Refused(end) => *refused = end,
                    Trial::Missed => {}
                }
                continue;
            }
            let mut push = |(range, rule): (Range<usize>, &'static str)| {
                found.push(CredentialCandidate { range, rule: rule.into(), rank: Rank::Context });
            };
            self.follow(*clue, text, hit.range(), &mut push);
        }
        escapes
    }

    /// Applies the rule of a literal that is not a shape's.
    fn follow(
        &self,
        clue: Clue,
        text: &[u8],
        hit: Range<usize>,
        push: &mut impl FnMut((Range<usize>, &'static str)),
    ) {
        let found = match clue {
            Clue::Shape(_) | Clue::Escape => None,
            Clue::Name => find_assigned(text, hit.clone()).or_else(|| find_told(text, hit)),
            Clue::Login(index) => self.logins.get(index).and_then(|login| login.find(text, hit.start)),
            Clue::Begin => find_begun(text, hit.start).map(|range| (range, "private-key")),
            Clue::End => find_ended(text, hit.start).map(|range| (range, "private-key")),
            Clue::Url => find_password(text, hit),
            Clue::Authorization => find_authorization(text, hit.end),
            Clue::Scheme => find_scheme_token(text, hit.end),
            Clue::Parameter => find_parameter(text, hit).map(|range| (range, "url-signature")),
            Clue::List => find_key_pair(text, hit.start).map(|range| (range, "solana-key")),
            Clue::Ethereum => {
                find_ethereum_keys(text, hit.end, |range| push((range, "ethereum-key")));
                None
            }
            Clue::Cookie => {
                find_cookies(text, hit.end, |range| push((range, "cookie")));
                None
            }
        };
        if let Some(found) = found {
            push(found);
        }
    }
}

/// Merges overlapping candidates, in the order of the text.
pub(super) fn merge(mut found: Vec<CredentialCandidate>) -> Vec<CredentialCandidate> {
    found.sort_by_key(|candidate| (candidate.range.start, candidate.range.end));
    let mut merged: Vec<CredentialCandidate> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.range.start < last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
                if next.rank > last.rank {
                    (last.rule, last.rank) = (next.rule, next.rank);
                }
            }
            _ => merged.push(next),
        }
    }
    merged
}
