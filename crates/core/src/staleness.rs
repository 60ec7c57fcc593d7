//! Stale results: a later result or edit has superseded them.
//!
//! A read of a file that was read again or edited since, an output that came again: each is still in the context and
//! still paid for. Whether that is a reason to cut it is up to the policy.

use std::collections::HashMap;

use serde::Serialize;

use crate::line_range::LineRange;
use crate::outline::{Outline, PartIx, PartKind};
use crate::tool_class::ToolClass;

/// How a result became stale, and by which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stale {
    /// A later read shows the same lines.
    ReadAgain(PartIx),
    /// The file was edited later.
    Edited(PartIx),
    /// A later output is identical.
    Repeated(PartIx),
}

/// The most later reads of one file that are compared; the last few nearly always suffice.
const READS: usize = 16;

impl Outline {
    /// For each part, whether it is stale. Identical outputs are found only with
    /// [`Measures::source`](crate::Measures::source).
    pub fn staleness(&self) -> Vec<Option<Stale>> {
        let mut stale = vec![None; self.part_count()];
        let mut reads: HashMap<&str, Vec<(LineRange, PartIx)>> = HashMap::new();
        let mut edits: HashMap<&str, PartIx> = HashMap::new();
        let mut outputs: HashMap<u64, PartIx> = HashMap::new();
        for part in self.parts().rev().filter(|&part| self.kind(part) == PartKind::Result) {
            let repeated = self
                .source(part)
                .filter(|_| self.units(part) > 0)
                .and_then(|source| outputs.insert(source, part));
            let mut found = repeated.map(Stale::Repeated);
            let subjects = self.subject(part).into_iter().flat_map(str::lines);
            match self.class(part) {
                ToolClass::Read if !self.is_failure(part) => {
                    for subject in subjects {
                        let lines = self.lines(part);
                        let again =
                            reads.get(subject).into_iter().flatten().find(|(later, _)| later.covers(lines));
                        let edited = edits.get(subject).map(|&edit| Stale::Edited(edit));
                        found = found.or(again.map(|&(_, part)| Stale::ReadAgain(part))).or(edited);
                        let known = reads.entry(subject).or_default();
                        if known.len() < READS {
                            known.push((lines, part));
                        }
                    }
                }
                ToolClass::Edit if !self.is_failure(part) => {
                    for subject in subjects {
                        edits.entry(subject).or_insert(part);
                    }
                }
                _ => {}
            }
            if let Some(slot) = stale.get_mut(part.0 as usize) {
                *slot = found;
            }
        }
        stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, PartFacts, Sizes, ToolStatus};

    fn result(
        outline: &mut Outline,
        class: ToolClass,
        subject: &str,
        lines: LineRange,
        source: u64,
    ) -> PartIx {
        let sizes = Sizes { units: 100, source, ..Sizes::default() };
        let (kind, status) = (PartKind::Result, ToolStatus::Completed);
        let subject = Some(subject);
        outline.push_part(PartFacts { kind, status, class, subject, lines, sizes, ..PartFacts::default() })
    }

    #[test]
    fn later_reads_edits_and_repetitions_are_found() {
        let mut outline = Outline::new(Measures { source: true, ..Measures::default() });
        let part = |first, last| LineRange { first, last };
        let a = result(&mut outline, ToolClass::Read, "/a", part(10, 20), 1);
        let b = result(&mut outline, ToolClass::Read, "/b", LineRange::ALL, 2);
        let c = result(&mut outline, ToolClass::Shell, "make", LineRange::ALL, 3);
        let again = result(&mut outline, ToolClass::Read, "/a", part(1, 100), 4);
        let edit = result(&mut outline, ToolClass::Edit, "/b\n/c", LineRange::ALL, 5);
        let same = result(&mut outline, ToolClass::Shell, "make", LineRange::ALL, 3);
        let newest = result(&mut outline, ToolClass::Read, "/a", part(1, 5), 6);
        let stale = outline.staleness();
        let of = |part: PartIx| stale[part.0 as usize];
        assert_eq!(of(a), Some(Stale::ReadAgain(again)));
        assert_eq!(of(b), Some(Stale::Edited(edit)));
        assert_eq!(of(c), Some(Stale::Repeated(same)));
        assert_eq!([again, edit, same, newest].map(of), [None; 4]);
    }
}
