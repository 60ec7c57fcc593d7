//! aider's chat history: Markdown that holds only what was on the screen.
//!
//! The beginning of a line says what it is: `# aider chat started at` begins a chat, `#### ` is the user's input, `> ` is
//! output of aider, and everything else is the model's response. A blank line belongs to what precedes it. Lines of the
//! user or of the model that follow each other are one block; each line of aider's output is a block of its own. The same
//! characters inside a response cannot be distinguished from these marks, neither here nor by aider itself.
//!
//! A chat begins with an empty history, so everything before its header has left the context. There are no tool results
//! and no ids, and therefore nothing that could be cut.

use std::borrow::Cow;
use std::ops::Range;

use secateur::{MessageFacts, PartFacts, PartKind, Role};

use crate::cut::Spot;
use crate::draft::TranscriptDraft;
use crate::probe::{Probe, TextShape};
use crate::sizes;
use crate::spec::{Cutting, FormatReader, FormatSpec};

const HEADER: &str = "# aider chat started at";
const USER: &str = "#### ";
const PRINTED: &str = "> ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AiderLine {
    Header,
    User,
    Printed,
    Model,
    Blank,
}

impl AiderLine {
    fn of(line: &str) -> Self {
        if line.starts_with(HEADER) {
            AiderLine::Header
        } else if line.starts_with(USER) {
            AiderLine::User
        } else if line.starts_with(PRINTED) {
            AiderLine::Printed
        } else if line.trim().is_empty() {
            AiderLine::Blank
        } else {
            AiderLine::Model
        }
    }

    /// Whether aider wrote the line itself. Each such line is a block of its own.
    fn stands_alone(self) -> bool {
        matches!(self, AiderLine::Header | AiderLine::Printed)
    }
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    matches,
    reader: FormatReader::Whole(read),
    text,
    cutting: Cutting::Nothing("it is text without tool results"),
};

fn matches(probe: &Probe<'_>) -> bool {
    // An excerpt of a history may lack the header; then the line with the cost of a response identifies it.
    let begins = |with: &str| probe.text.lines().any(|line| line.starts_with(with));
    probe.shape == TextShape::Text && (begins(HEADER) || (begins("> Tokens: ") && begins(USER)))
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let mut block: Option<(AiderLine, usize)> = None;
    let mut message = None;
    let mut at = text.len() - text.trim_start_matches('\u{FEFF}').len();
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let kind = AiderLine::of(line);
        let goes_on =
            kind == AiderLine::Blank || block.is_some_and(|(own, _)| own == kind && !kind.stands_alone());
        if !goes_on {
            // The line end between two blocks belongs to neither.
            if let Some((own, start)) = block.replace((kind, at)) {
                take(draft, text, own, start..at - 1, &mut message);
            }
        }
        at += line.len();
    }
    if let Some((own, start)) = block {
        take(draft, text, own, start..at, &mut message);
    }
}

/// The text of a block without the marks at the beginning of its lines.
fn text(raw: &str) -> Cow<'_, str> {
    let mark = match AiderLine::of(raw) {
        AiderLine::User => USER,
        AiderLine::Printed => PRINTED,
        AiderLine::Header => "# ",
        AiderLine::Model | AiderLine::Blank => return Cow::Borrowed(raw),
    };
    Cow::Owned(raw.split_inclusive('\n').map(|line| line.strip_prefix(mark).unwrap_or(line)).collect())
}

/// Adds a block. `newest` is the kind of the newest message: consecutive lines of output are one message of many parts.
fn take(
    draft: &mut TranscriptDraft<'_>,
    text: &str,
    kind: AiderLine,
    range: Range<usize>,
    newest: &mut Option<AiderLine>,
) {
    let block = text.get(range.clone()).unwrap_or_default();
    if kind != AiderLine::Printed || *newest != Some(kind) {
        let role = if kind == AiderLine::Model { Role::Assistant } else { Role::User };
        let finished = role == Role::Assistant;
        let message = draft.push_message(MessageFacts { role, finished, ..MessageFacts::default() });
        if kind == AiderLine::Header {
            // A new chat begins without the earlier messages.
            let earlier = draft.outline.messages().rev().skip(1);
            let alive: Vec<_> = earlier.take_while(|&own| draft.outline.gone(own).is_none()).collect();
            alive.into_iter().for_each(|own| draft.outline.retire(own, message));
        }
    }
    *newest = Some(kind);
    if kind == AiderLine::Printed {
        note(draft, block);
    }
    let sizes = sizes::of_text(block, draft.measures);
    let facts =
        PartFacts { kind: PartKind::Text, injected: kind.stands_alone(), sizes, ..PartFacts::default() };
    draft.push(facts, Spot { content: Some(range), ..Spot::default() });
}

/// Notes the version and the model that aider prints when a chat begins.
fn note(draft: &mut TranscriptDraft<'_>, line: &str) {
    let after = |mark: &str| line.strip_prefix(mark).and_then(|rest| rest.split_whitespace().next());
    if let Some(version) = after("> Aider v") {
        draft.origin.version = Some(version.to_owned());
    }
    if let Some(model) = after("> Model: ").or(after("> Models: ")).or(after("> Main model: ")) {
        draft.origin.model = Some(model.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use secateur::{Action, Measures, PartIx};

    use crate::{Census, Format, Rendering, read, read_all_as};

    const HISTORY: &str = "\n# aider chat started at 2030-01-02 03:04:05\n\n> Aider v0.9.1  \n> Model: some-model \
                           with diff edit format  \n\n#### fix it  \n####  \n#### please  \n\nSure:\n\n> Tokens: 1k \
                           sent, 2 received.  \n\n#### thanks  \n# aider chat started at 2030-02-02 03:04:05\n\n#### \
                           \"hi\"  \n\n\"Ärger\"\n> quoted by the model\n\n\n";

    #[test]
    fn blocks_are_recognised_by_how_their_lines_begin() {
        let transcript = read(HISTORY.as_bytes(), &Measures::default()).unwrap();
        assert_eq!(transcript.format, Format::Aider);
        let texts: Vec<_> = transcript.outline.parts().map(|part| transcript.text_of(part)).collect();
        assert_eq!(
            texts,
            [
                "aider chat started at 2030-01-02 03:04:05\n",
                "Aider v0.9.1  ",
                "Model: some-model with diff edit format  \n",
                "fix it  \n \nplease  \n",
                "Sure:\n",
                "Tokens: 1k sent, 2 received.  \n",
                "thanks  ",
                "aider chat started at 2030-02-02 03:04:05\n",
                "\"hi\"  \n",
                "\"Ärger\"",
                "quoted by the model\n\n\n",
            ]
        );
        let census = Census::of(&transcript.outline, Format::Aider);
        assert_eq!((census.messages, census.tool_results, census.api_calls_with_usage), (11, 0, 0));
        assert_eq!(census.chars["assistant"], ("Sure:\n".len() + "\"Aerger\"".len() - 1) as u64);
        // The two consecutive lines of output are one message.
        assert_eq!(transcript.outline.message_count(), 10);
        assert_eq!(transcript.origin.version.as_deref(), Some("0.9.1"));
        assert_eq!(transcript.origin.model.as_deref(), Some("some-model"));
    }

    #[test]
    fn a_new_chat_begins_with_an_empty_history() {
        let transcript = read(HISTORY.as_bytes(), &Measures::default()).unwrap();
        let context = transcript.context(None);
        assert_eq!(context.outline.message_count(), 4);
        assert_eq!(context.text_of(PartIx(1)), "\"hi\"  \n");
    }

    #[test]
    fn nothing_can_be_cut() {
        let transcript = read(HISTORY.as_bytes(), &Measures::default()).unwrap();
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), HISTORY.as_bytes());
        let cut = Rendering { part: PartIx(2), action: Action::Clear, placeholder: "[cleared]" };
        assert!(transcript.apply([cut], 0).is_err());
    }

    #[test]
    fn other_markdown_is_not_taken_for_a_history() {
        for text in ["# A page\n\n#### deep\n> quote\n", "> Tokens: 5\n", "# aider chats\n"] {
            assert!(Format::detect(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(Format::detect(b"#### hi\n\nyo\n\n> Tokens: 1k sent\n"), Ok(Format::Aider));
    }

    #[test]
    fn every_prefix_can_be_read_and_stays_unchanged() {
        for text in [HISTORY] {
            for end in 1..text.len() {
                let bytes = &text.as_bytes()[..end];
                let Ok(transcripts) = read_all_as(bytes, Format::Aider, &Measures::default()) else {
                    continue;
                };
                for transcript in transcripts {
                    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
                    assert!(transcript.outline.parts().all(|part| transcript.text_of(part).len() <= end));
                }
            }
        }
    }
}
