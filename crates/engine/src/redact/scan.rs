//! One pass over a text: finds literals and applies the rules.
//!
//! All literals of all rules are in one automaton, which reads every byte once. The work of a rule at a literal is
//! bounded: it looks a fixed number of bytes back and ahead, or reads what it then replaces. A rejected shape is not
//! tried again within its extent. So the time is linear in the text, whatever it is.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::assignment::find_assigned;
use super::header::{find_authorization, find_cookies, find_scheme_token};
use super::login::{LOGIN_RULES, LoginMatcher};
use super::name::{LITERALS, SPELLINGS};
use super::pem::{BEGIN, END, find_begun, find_ended};
use super::shape::{ShapeMatcher, Trial, shapes};
use super::url::{find_parameter, find_password};

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
        let mut refused = vec![0; self.shapes.len()];
        for hit in self.automaton.find_overlapping_iter(Input::new(text).span(part)) {
            let Some(clue) = self.clues.get(hit.pattern().as_usize()) else { continue };
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
            Clue::Shape(_) => None,
            Clue::Name => find_assigned(text, hit),
            Clue::Login(index) => self.logins.get(index).and_then(|login| login.find(text, hit.start)),
            Clue::Begin => find_begun(text, hit.start).map(|range| (range, "private-key")),
            Clue::End => find_ended(text, hit.start).map(|range| (range, "private-key")),
            Clue::Url => find_password(text, hit),
            Clue::Authorization => find_authorization(text, hit.end),
            Clue::Scheme => find_scheme_token(text, hit.end),
            Clue::Parameter => find_parameter(text, hit).map(|range| (range, "url-signature")),
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
