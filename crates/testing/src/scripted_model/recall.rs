//! What was cut, as the model reads it: a handle where the result of a step was. The model asks for the first that it
//! meets, and knows from the step what has to come back. What it found it says once, and carries on in summaries.

use super::request::ClientRequest;
use super::step;
use super::tool::{Call, Want, fit};

/// What the model may have found.
pub(super) const WHOLE: &str = "What was cut came back whole.";
pub(super) const BROKEN: &str = "What was cut did not come back whole.";
pub(super) const NO_TOOL: &str = "No tool brings back what was cut.";

/// What is before the id of a step in the id of a call that asks for its result.
const ORIGINAL: &str = "original_";

/// The id of the call that looks for the tool.
const LOOK: &str = "look_for_recall";

/// A result in whose place a handle stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub handle: String,
    /// The id of the call that asks for it.
    pub id: String,
}

/// The original of a result, as it was brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    /// The step and the call whose result it should be.
    pub step: u64,
    pub part: u64,
    pub text: String,
}

/// What the model has found already.
pub(super) fn found(request: &ClientRequest) -> Option<&'static str> {
    [WHOLE, BROKEN, NO_TOOL].into_iter().find(|verdict| request.text.contains(verdict))
}

/// The first result of a piece of work that names a handle.
pub(super) fn find(request: &ClientRequest, work: &str) -> Option<Cut> {
    request.results().into_iter().find_map(|result| {
        let (step, part) = step::of_id(&result.call, work)?;
        let handle = handle(&result.text)?.to_owned();
        Some(Cut { handle, id: format!("{ORIGINAL}{}", step::id(step, work, part)) })
    })
}

/// A call that has the client show the tool, where it keeps some back until they are asked for. Once is enough.
pub(super) fn look(request: &ClientRequest) -> Option<Call> {
    if request.results().iter().any(|result| result.call.contains(LOOK)) {
        return None;
    }
    let mut words = request.said.iter().chain([&request.system]).flat_map(|text| text.split_whitespace());
    let name = words.find(|word| word.ends_with("__recall"))?;
    fit(&request.tools, LOOK.to_owned(), Want::Tool(name.to_owned()))
}

/// What came back to a call for an original.
pub(super) fn brought(request: &ClientRequest, work: &str) -> Option<Brought> {
    request.results().into_iter().find_map(|result| {
        let (_, wanted) = result.call.split_once(ORIGINAL)?;
        let (step, part) = step::of_id(wanted, work)?;
        Some(Brought { step, part, text: result.text })
    })
}

impl Brought {
    /// Whether it has all of these lines in this order, however a client has wrapped them.
    pub(super) fn is_whole(&self, lines: &[String]) -> bool {
        let mut rest = self.text.as_str();
        lines.iter().all(|line| {
            let behind = rest.split_once(line.as_str()).map(|(_, behind)| behind);
            rest = behind.unwrap_or_default();
            behind.is_some()
        })
    }
}

/// The handle that a placeholder names, as in `[cut: …; recall kbqzwmtahdue brings it back]`.
fn handle(text: &str) -> Option<&str> {
    text.match_indices("recall ").find_map(|(at, word)| {
        let (handle, _) = text.get(at + word.len()..)?.split_once(" brings ")?;
        handle.bytes().all(|letter| letter.is_ascii_lowercase()).then_some(handle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_read_from_both_kinds_of_placeholder() {
        assert_eq!(
            handle("[cut: Bash ls, 9 characters; recall kbqzwmtahdue brings it back]"),
            Some("kbqzwmtahdue")
        );
        assert_eq!(handle("a\n[recall kbqzwmtahdue brings all of it back]"), Some("kbqzwmtahdue"));
        assert_eq!(handle("I recall that she brings it back"), None);
    }

    #[test]
    fn a_text_is_whole_if_no_line_is_missing_or_in_another_place() {
        let lines = ["one".to_owned(), "two".to_owned()];
        let is_whole = |text: &str| Brought { step: 1, part: 1, text: text.to_owned() }.is_whole(&lines);
        assert!(is_whole("Output:\\none\\ntwo\\n"));
        assert!(!is_whole("one"));
        assert!(!is_whole("two one"));
    }
}
