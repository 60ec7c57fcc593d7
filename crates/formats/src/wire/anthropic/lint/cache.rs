//! Cache marks.
//!
//! "A maximum of 4 blocks with cache_control may be provided." Counted are the marks on tools, on blocks of
//! the system prompt and of messages, and the one that may stand in the request itself. Thinking cannot
//! carry one.

use crate::wire::lint::body::BodyNode;
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;

const MOST_MARKS: usize = 4;

pub(crate) fn check(root: BodyNode<'_>, report: &mut FindingsReport) {
    let own = root.get("cache_control").filter(|mark| !mark.is_null());
    let list = |name: &str| root.get(name).into_iter().flat_map(BodyNode::items);
    let blocks =
        list("messages").flat_map(|message| message.get("content").into_iter().flat_map(BodyNode::items));
    let (mut fixed, mut moving) = (Vec::new(), Vec::new());
    fixed.extend(list("tools").chain(list("system")).filter_map(mark));
    for block in blocks {
        let Some(mark) = mark(block).filter(|_| !report.drops(block)) else { continue };
        if matches!(block.type_name().as_ref(), "thinking" | "redacted_thinking") {
            let message = "thinking cannot carry a cache mark".to_owned();
            report.fixable(mark, Rule::CacheMark, message, "the mark is removed");
            report.drop(mark);
        } else {
            moving.push(mark);
        }
    }
    let count = fixed.len() + moving.len() + usize::from(own.is_some());
    // Marks on messages are the ones that move on: the oldest of them has served longest. The last one
    // stays even if tools and system prompt have too many.
    let newest = moving.pop();
    let order = moving.into_iter().chain(fixed).chain(newest);
    for mark in order.take(count.saturating_sub(MOST_MARKS)) {
        let message = format!("there are {count} cache marks; the provider takes at most {MOST_MARKS}");
        report.fixable(mark, Rule::CacheMark, message, "the oldest marks are removed");
        report.drop(mark);
    }
}

fn mark(block: BodyNode<'_>) -> Option<BodyNode<'_>> {
    block.get("cache_control").filter(|mark| !mark.is_null())
}
