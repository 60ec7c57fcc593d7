//! Findings, and the edits that repair them.
//!
//! A check reports what is wrong together with its repair: remove this value, insert that text before the third element.
//! Lists are edited as a whole at the end, since commas belong to neither neighbour. An edit inside a value that is
//! removed is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::body::{BodyNode, LintBody};
use super::{Finding, Rule};
use crate::json::{Edit, Splice, set_member};

/// What was found in a body, and how to repair it.
#[derive(Default)]
pub(crate) struct FindingsReport {
    pub(crate) findings: Vec<Finding>,
    dropped: BTreeSet<usize>,
    /// By container: what comes before the element of that index.
    inserted: BTreeMap<usize, Vec<(usize, String)>>,
    edits: Vec<Edit>,
    held: bool,
}

impl FindingsReport {
    /// Reports what can be repaired; the caller adds the repair with the functions below.
    pub(crate) fn fixable(&mut self, node: BodyNode<'_>, rule: Rule, message: String, repair: &str) {
        self.add(node, rule, message, repair.to_owned(), Fixable::Yes);
    }

    /// Reports what only the sender can repair.
    pub(crate) fn unfixable(&mut self, node: BodyNode<'_>, rule: Rule, message: String, advice: &str) {
        self.add(node, rule, message, advice.to_owned(), Fixable::No);
    }

    fn add(&mut self, node: BodyNode<'_>, rule: Rule, message: String, repair: String, fixable: Fixable) {
        let fixable = fixable == Fixable::Yes;
        self.findings.push(Finding { path: node.path(), rule, message, repair, fixable });
    }

    /// From here on findings are reported, but their repairs are left for the next round: earlier repairs change the
    /// places that they would refer to.
    pub(crate) fn hold(&mut self) {
        self.held = true;
    }

    /// Removes a value from its container, with its name if it has one.
    pub(crate) fn drop(&mut self, node: BodyNode<'_>) {
        if !self.held {
            self.dropped.insert(node.number());
        }
    }

    /// Whether a value is to be removed.
    pub(crate) fn drops(&self, node: BodyNode<'_>) -> bool {
        self.dropped.contains(&node.number())
    }

    /// Cancels the removal of a value.
    pub(crate) fn keep(&mut self, node: BodyNode<'_>) {
        self.dropped.remove(&node.number());
    }

    /// Inserts a text before the element of that index, or at the end.
    pub(crate) fn insert(&mut self, array: BodyNode<'_>, before: usize, text: String) {
        if !self.held {
            self.inserted.entry(array.number()).or_default().push((before, text));
        }
    }

    /// Replaces a value.
    pub(crate) fn replace(&mut self, node: BodyNode<'_>, text: String) {
        if !self.held {
            self.edits.push(Edit { range: node.range(), text });
        }
    }

    /// Replaces some bytes.
    pub(crate) fn replace_range(&mut self, range: Range<usize>, text: &str) {
        if !self.held {
            self.edits.push(Edit { range, text: text.to_owned() });
        }
    }

    /// Sets a member of an object.
    pub(crate) fn set(&mut self, object: BodyNode<'_>, name: &str, value: &str) {
        if self.held {
            return;
        }
        let edit = set_member(object.raw(), 0..object.raw().len(), name, value);
        let shift = object.range().start;
        self.edits.push(Edit { range: edit.range.start + shift..edit.range.end + shift, text: edit.text });
    }

    /// Whether there is anything to repair.
    pub(crate) fn is_fixable(&self) -> bool {
        self.findings.iter().any(|finding| finding.fixable)
    }

    /// The body with the repairs made.
    pub(crate) fn apply(self, body: &LintBody<'_>) -> String {
        let mut edits = self.edits;
        let mut containers: BTreeSet<usize> = self.inserted.keys().copied().collect();
        containers
            .extend(self.dropped.iter().filter_map(|&number| Some(body.node(number)?.parent().number())));
        for container in containers.into_iter().filter_map(|number| body.node(number)) {
            let inserted = self.inserted.get(&container.number()).map(Vec::as_slice).unwrap_or_default();
            edits.extend(relist(body, container, &self.dropped, inserted));
        }
        // The widest first: edits inside a replaced range are then rejected, as they must be.
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.len()));
        let mut splice = Splice::new(body.text().as_bytes());
        for edit in edits {
            _ = splice.push(edit);
        }
        String::from_utf8(splice.to_vec()).unwrap_or_else(|_| body.text().to_owned())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fixable {
    Yes,
    No,
}

/// The edits that remove elements of a container and insert others. They touch no element that stays.
fn relist(
    body: &LintBody<'_>,
    container: BodyNode<'_>,
    dropped: &BTreeSet<usize>,
    inserted: &[(usize, String)],
) -> Vec<Edit> {
    let entries: Vec<(Range<usize>, bool)> =
        container.children().map(|child| (child.entry(), !dropped.contains(&child.number()))).collect();
    let separator = separator(body.text(), &entries);
    let mut news: Vec<(usize, &str)> =
        inserted.iter().map(|(before, text)| ((*before).min(entries.len()), text.as_str())).collect();
    news.sort_by_key(|(before, _)| *before);
    let mut news = news.into_iter().peekable();
    let mut edits = Vec::new();
    // The end of the last element that stays, and of the last element at all.
    let mut kept: Option<usize> = None;
    let mut last: Option<usize> = None;
    let first = entries.first().map_or(container.range().start + 1, |(range, _)| range.start);
    for (index, (range, stays)) in entries.iter().enumerate() {
        if *stays {
            let mut texts = Vec::new();
            while let Some((_, text)) = news.next_if(|(before, _)| *before <= index) {
                texts.push(text);
            }
            match (kept, last) {
                (Some(from), Some(to)) => {
                    let text = texts.iter().map(|text| format!("{separator}{text}")).collect();
                    edits.push(Edit { range: from..to, text });
                }
                _ => {
                    let text = texts.iter().map(|text| format!("{text}{separator}")).collect();
                    edits.push(Edit { range: first..range.start, text });
                }
            }
            kept = Some(range.end);
        }
        last = Some(range.end);
    }
    let texts: Vec<&str> = news.map(|(_, text)| text).collect();
    edits.push(match kept {
        Some(from) => Edit {
            range: from..last.unwrap_or(from),
            text: texts.iter().map(|text| format!("{separator}{text}")).collect(),
        },
        None => Edit { range: first..last.unwrap_or(first), text: texts.join(&separator) },
    });
    edits.retain(|edit| !(edit.range.is_empty() && edit.text.is_empty()));
    edits
}

/// What is between the first two elements, or a comma.
fn separator(text: &str, entries: &[(Range<usize>, bool)]) -> String {
    let between = match entries {
        [(first, _), (second, _), ..] => text.get(first.end..second.start),
        _ => None,
    };
    between.unwrap_or(",").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relisted(text: &str, dropped: &[usize], inserted: &[(usize, &str)]) -> String {
        let body = LintBody::read(text).unwrap();
        let root = body.root().unwrap();
        let mut report = FindingsReport::default();
        for (index, child) in root.children().enumerate() {
            if dropped.contains(&index) {
                report.drop(child);
            }
        }
        for (before, text) in inserted {
            report.insert(root, *before, (*text).to_owned());
        }
        report.apply(&body)
    }

    #[test]
    fn elements_go_with_their_commas() {
        assert_eq!(relisted("[1, 2 , 3]", &[0], &[]), "[2 , 3]");
        assert_eq!(relisted("[1, 2 , 3]", &[1], &[]), "[1 , 3]");
        assert_eq!(relisted("[1, 2 , 3 ]", &[2], &[]), "[1, 2 ]");
        assert_eq!(relisted("[ 1, 2 , 3 ]", &[0, 1, 2], &[]), "[  ]");
        assert_eq!(relisted(r#"{"a": 1, "b":[2]}"#, &[1], &[]), r#"{"a": 1}"#);
        assert_eq!(relisted(r#"{"a": 1, "b":[2]}"#, &[0], &[]), r#"{"b":[2]}"#);
    }

    #[test]
    fn elements_come_where_they_were_asked_for() {
        assert_eq!(relisted("[]", &[], &[(0, "a"), (7, "b")]), "[a,b]");
        assert_eq!(relisted("[1, 2]", &[], &[(0, "a"), (1, "b"), (2, "c"), (1, "d")]), "[a, 1, b, d, 2, c]");
        assert_eq!(relisted("[1,2,3]", &[1], &[(1, "a"), (2, "b")]), "[1,a,b,3]");
        assert_eq!(relisted("[1,2]", &[0, 1], &[(1, "a")]), "[a]");
        assert_eq!(relisted("[1,2]", &[0], &[(0, "a")]), "[a,2]");
        assert_eq!(relisted("[1,2]", &[1], &[(2, "a")]), "[1,a]");
    }

    #[test]
    fn repairs_inside_what_goes_are_forgotten() {
        let body = LintBody::read(r#"[{"a":1},{"a":2}]"#).unwrap();
        let items: Vec<_> = body.root().unwrap().items().collect();
        let mut report = FindingsReport::default();
        report.set(items[0], "a", "null");
        report.set(items[1], "b", "3");
        report.drop(items[0]);
        assert_eq!(report.apply(&body), r#"[{"a":2,"b":3}]"#);
    }

    #[test]
    fn a_held_report_repairs_nothing_more() {
        let body = LintBody::read("[1,2]").unwrap();
        let items: Vec<_> = body.root().unwrap().items().collect();
        let mut report = FindingsReport::default();
        report.drop(items[0]);
        report.hold();
        report.drop(items[1]);
        report.replace(items[1], "x".to_owned());
        assert_eq!(report.apply(&body), "[2]");
    }
}
