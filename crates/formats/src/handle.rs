//! The name by which an original is recalled: eight letters that are computed from its text.
//!
//! The id of a tool call would not do. Some providers give none, some servers count from one in every conversation, a call
//! shares it with its result, and the usual ones take twenty tokens. A hash of the text is short, differs for different
//! texts, and is the same in every process, branch and copy of the session. Letters alone make fewer tokens than letters
//! and digits, and cannot be mistaken for the number of a message.

use xxhash_rust::xxh3::xxh3_64;

/// How many letters a handle has.
const LENGTH: usize = 8;

/// The handle of a text. Cuts in stored sessions name it, so it must never change.
pub(crate) fn handle(text: &str) -> String {
    let mut rest = xxh3_64(text.as_bytes());
    let letter = |_| {
        let letter = b'a' + (rest % 26) as u8;
        rest /= 26;
        char::from(letter)
    };
    (0..LENGTH).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use secateur::{Action, Measures, PartIx, PartKind, SurrogatePairs};

    use super::*;
    use crate::{Format, Rendering, Wire, read_as};

    #[test]
    fn a_call_without_an_id_and_its_answer_have_handles_of_their_own() {
        let body = br#"{"contents":[
            {"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a", "text":"t"}}},
                                     {"functionCall":{"name":"read","args":{"path":"b","text":"t"}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}},
                                    {"functionResponse":{"name":"read","response":{"output":"two"}}}]}]}"#;
        let transcript = read_as(body, Format::Request(Wire::Gemini), &Measures::default()).unwrap();
        let parts: Vec<PartIx> = transcript.outline.parts().collect();
        let originals: Vec<_> = parts.iter().map(|&part| transcript.original(part)).collect();
        assert_eq!(originals, [r#"{"path":"a","text":"t"}"#, r#"{"path":"b","text":"t"}"#, "one", "two"]);
        let placeholders: Vec<_> =
            parts.iter().map(|&part| transcript.placeholder(part, "{handle}")).collect();
        assert_eq!(placeholders, originals.iter().map(|original| handle(original)).collect::<Vec<_>>());
        assert_eq!(transcript.outline.kind(PartIx(0)), PartKind::Call);
    }

    #[test]
    fn what_is_trimmed_says_how_to_have_it_back_if_what_is_cleared_does() {
        let body = br#"{"messages":[{"role":"tool","tool_call_id":"c","content":"0123456789"}]}"#;
        let transcript = read_as(body, Format::Request(Wire::OpenAiChat), &Measures::default()).unwrap();
        let trim = |placeholder| {
            let action = Action::Trim { head: 2, tail: 2, pairs: SurrogatePairs::Whole };
            let cut = Rendering { part: PartIx(0), action, placeholder };
            String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap()
        };
        let handle = handle("0123456789");
        let note = format!(r"of 10 chars.]\n[recall {handle} brings all of it back]");
        assert!(trim("[cut; recall {handle}]").contains(&note), "{}", trim("[cut; recall {handle}]"));
        // As in sessions that were cut before there were handles: what was frozen stays as it was.
        assert!(trim("[cut; recall c]").contains(r#"of 10 chars.]""#), "{}", trim("[cut; recall c]"));
    }

    #[test]
    fn handles_never_change() {
        assert_eq!(handle(""), "adfeoero");
        assert_eq!(handle("pub fn main() {}\n"), "nbzrkmct");
    }

    #[test]
    fn other_texts_have_other_handles() {
        let handles: std::collections::HashSet<String> =
            (0..10_000).map(|n| handle(&n.to_string())).collect();
        assert_eq!(handles.len(), 10_000);
        assert!(handles.iter().all(|handle| handle.len() == "{handle}".len()));
    }
}
