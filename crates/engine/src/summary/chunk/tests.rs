use proptest::prelude::*;

use super::{ChunkBudgets, SummaryChunk, TokenRuler, divide, group, least_room};
use crate::summary::{SummaryPiece, Voice};

const RULER: fn() -> TokenRuler = || TokenRuler::new(4.0);

fn piece(voice: Voice, text: &str, message: u32) -> SummaryPiece {
    let label = match voice {
        Voice::User => "user",
        Voice::Assistant => "assistant",
        Voice::Call => "tool call bash",
        Voice::Result => "tool result (bash)",
        Voice::Note | Voice::Summary => "program",
    };
    SummaryPiece::new(voice, label, text, message, &str::to_owned)
}

fn even(room: u64) -> ChunkBudgets {
    ChunkBudgets { whole: room, part: room }
}

fn all(chunks: &[SummaryChunk]) -> String {
    chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

#[test]
fn a_ruler_never_measures_by_nonsense() {
    for nonsense in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(TokenRuler::new(nonsense), TokenRuler::new(super::CHARS_PER_TOKEN));
    }
    assert_eq!(TokenRuler::new(0.001), TokenRuler::new(0.5));
    assert_eq!(TokenRuler::new(1e9), TokenRuler::new(8.0));
}

#[test]
fn what_fits_one_question_stays_whole() {
    let pieces = [piece(Voice::User, "hello", 0), piece(Voice::Assistant, "world", 1)];
    let chunks = divide(&pieces, even(100), 16, RULER());
    assert_eq!(
        chunks,
        [SummaryChunk { text: "user: hello\nassistant: world\n".into(), end: 2, left_out: 0 }]
    );
    assert!(divide(&[], even(100), 16, RULER()).is_empty());
}

#[test]
fn trimming_a_little_is_preferred_to_asking_twice() {
    let long = "abcd ".repeat(390);
    let pieces: Vec<SummaryPiece> = (0..4).map(|number| piece(Voice::Result, &long, number)).collect();
    let chunks = divide(&pieces, even(1_100), 16, RULER());
    assert_eq!(chunks.len(), 1);
    assert_eq!(all(&chunks).matches("characters left out").count(), 4);
}

#[test]
fn chunks_end_between_messages() {
    let text = "word ".repeat(100);
    let pieces: Vec<SummaryPiece> = (0..40).map(|number| piece(Voice::User, &text, number / 2)).collect();
    let chunks = divide(&pieces, even(700), 16, RULER());
    assert!(chunks.len() > 1);
    assert!(chunks.iter().all(|chunk| chunk.end % 2 == 0), "{chunks:?}");
    assert_eq!(all(&chunks).matches("user: ").count(), 40);
}

#[test]
fn a_call_that_is_answered_late_holds_everything_between() {
    let call = |number| piece(Voice::Call, "{}", number).of_call(1);
    let pieces = [
        piece(Voice::User, "a", 0),
        call(1),
        piece(Voice::User, "b", 2),
        piece(Voice::Result, "r", 3).of_call(1),
        piece(Voice::User, "c", 4),
        piece(Voice::Call, "never answered", 5).of_call(2),
        piece(Voice::User, "d", 6),
    ];
    assert_eq!(group(&pieces), [0..1, 1..4, 4..5, 5..6, 6..7]);
}

#[test]
fn tools_are_left_out_before_people_and_the_beginning_last() {
    let mut pieces = vec![piece(Voice::User, "the first request", 0)];
    for number in 0..300 {
        pieces.push(piece(Voice::Call, "{\"command\":\"ls\"}", 3 * number + 1).of_call(number));
        pieces.push(piece(Voice::Result, "a file", 3 * number + 2).of_call(number));
        if number % 100 == 50 {
            pieces.push(piece(Voice::User, "another request", 3 * number + 3));
        }
    }
    let chunks = divide(&pieces, even(200), 2, RULER());
    let text = all(&chunks);
    assert_eq!(chunks.len(), 2);
    assert_eq!(text.matches("another request").count(), 3);
    assert!(text.starts_with("user: the first request\n"));
    assert!(text.ends_with("tool result (bash): a file\n"));
    let shown = text.lines().filter(|line| !line.starts_with('[')).count();
    let left_out: usize = chunks.iter().map(|chunk| chunk.left_out).sum();
    assert_eq!(shown + left_out, pieces.len());
    assert!(shown > 20, "the room is used: {shown}");
}

#[test]
fn a_message_that_is_too_large_for_any_chunk_loses_its_middle() {
    let mut pieces: Vec<SummaryPiece> =
        (0..500).map(|number| piece(Voice::Call, "{}", 0).of_call(number)).collect();
    pieces.push(piece(Voice::User, "stop", 1));
    let chunks = divide(&pieces, even(300), 4, RULER());
    assert_eq!(chunks.last().unwrap().end, 501);
    assert!(all(&chunks).contains("pieces of the conversation are left out here"));
    assert!(all(&chunks).ends_with("user: stop\n"));
}

/// Voice, text, whether it begins a message, and the call that it belongs to. Long texts are short ones repeated:
/// they take longer to make up than to divide.
fn any_piece() -> impl Strategy<Value = (u8, String, bool, Option<u32>)> {
    let text = ("(\\PC|\n|漢|\u{20000}){0,8}", 0usize..200).prop_map(|(text, count)| text.repeat(count));
    (0u8..5, text, any::<bool>(), prop::option::of(0u32..6))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_texts_together_never_have_more_tokens(one in "\\PC*", other in "\\PC*", ratio in 0.1f64..10.0) {
        let ruler = TokenRuler::new(ratio);
        let together = one.clone() + &other;
        prop_assert!(ruler.tokens(&together) <= ruler.tokens(&one) + ruler.tokens(&other));
    }

    #[test]
    fn every_chunk_fits_and_nothing_gets_lost_in_silence(
        raw in prop::collection::vec(any_piece(), 1..40),
        extra in 0u64..600,
        more in 0u64..600,
        most in 1usize..6,
        ratio in 0.4f64..9.0,
    ) {
        let ruler = TokenRuler::new(ratio);
        let mut message = 0;
        let voices = [Voice::User, Voice::Assistant, Voice::Call, Voice::Result, Voice::Note];
        let pieces: Vec<SummaryPiece> = raw.iter().map(|(voice, text, is_next, call)| {
            message += u32::from(*is_next);
            let piece = piece(voices[usize::from(*voice)], text, message);
            match call { Some(call) => piece.of_call(*call), None => piece }
        }).collect();
        let part = least_room(ruler) + extra;
        let rooms = ChunkBudgets { whole: part + more, part };
        let chunks = divide(&pieces, rooms, most, ruler);
        prop_assert!(!chunks.is_empty() && chunks.len() <= most);
        let room = if chunks.len() > 1 { rooms.part } else { rooms.whole };
        for chunk in &chunks {
            prop_assert!(ruler.tokens(&chunk.text) <= room);
        }
        prop_assert!(chunks.windows(2).all(|pair| pair[0].end < pair[1].end));
        prop_assert_eq!(chunks.last().unwrap().end, pieces.len());
        // What is not indented is a piece or a note.
        let text = all(&chunks);
        let shown = text.lines().filter(|line| !line.starts_with("  ") && !line.starts_with('[')).count();
        let left_out: usize = chunks.iter().map(|chunk| chunk.left_out).sum();
        prop_assert_eq!(shown + left_out, pieces.len());
        // No chunk ends between a call and its result.
        let ends: Vec<usize> = chunks.iter().map(|chunk| chunk.end).collect();
        let is_inside = |end: &usize| group(&pieces).iter().any(|group| group.start < *end && *end < group.end);
        prop_assert!(!ends.iter().any(is_inside));
    }
}
