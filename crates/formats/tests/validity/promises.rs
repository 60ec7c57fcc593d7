//! What is promised of every cut.

use std::ops::Range;

use secateur::{Action, IMAGE_REMOVED, Measures, Memory, Outline, PLACEHOLDER, PartIx, PartKind};
use secateur_formats::json::encode;
use secateur_formats::lint::lint;
use secateur_formats::{ApplyError, Format, Rendering, Transcript, Wire, read_as, renderings};
use serde::de::IgnoredAny;

use crate::profiles::{self, NOW, situation};

/// Without cuts, the bytes come out as they went in.
pub(crate) fn check_untouched(transcript: &Transcript<'_>) {
    let splice = transcript.apply([], NOW).unwrap();
    assert!(splice.is_empty());
    assert_eq!(splice.to_vec(), transcript.bytes());
}

/// Every builtin profile leaves a valid request valid. Returns how many parts were cut.
pub(crate) fn check_profiles(wire: Wire, body: &str) -> usize {
    let mut count = 0;
    for profile in profiles::all() {
        let transcript = read(wire, body, &profile.policy.measures());
        let memory = Memory::default();
        let plan = profile.policy.plan(&transcript.outline, &situation(), &memory);
        let cuts = renderings(&plan, &transcript.outline, &memory, &profile.policy.placeholder);
        if !cuts.is_empty() {
            count += check_cuts(wire, &transcript, &cuts, &format!("pruned by {}", profile.name));
        }
    }
    count
}

/// Cuts leave a valid request valid, and everything else in it as it was. Returns how many were made.
pub(crate) fn check_cuts(
    wire: Wire,
    before: &Transcript<'_>,
    cuts: &[Rendering<'_>],
    context: &str,
) -> usize {
    let cuts: Vec<Rendering<'_>> = cuts.iter().copied().filter(|&cut| is_supported(before, cut)).collect();
    let bytes = before.apply(cuts.iter().copied(), NOW).unwrap().to_vec();
    let body = str::from_utf8(&bytes).unwrap();
    serde_json::from_str::<IgnoredAny>(body).unwrap_or_else(|error| panic!("{context}: {error} in {body}"));
    assert_eq!(lint(wire, body), [], "{context}: {body}");
    if wire == Wire::OpenAiResponses {
        // Blocks of an output are input, whatever they replace.
        assert!(!body.contains(r#"[{"type":"text""#), "{context}: {body}");
    }
    let after = read(wire, body, before.outline.measures());
    assert_eq!(shape(&after.outline), shape(&before.outline), "{context}: {body}");
    for cut in &cuts {
        check_cut(before, &after, cut, context);
    }
    let parts: Vec<PartIx> = cuts.iter().map(|cut| cut.part).collect();
    assert_eq!(rest(&after, &parts), rest(before, &parts), "{context}: {body}");
    cuts.len()
}

/// A cut is refused where there is no content of a result, and only there. An input is cut if that makes it shorter,
/// and left alone otherwise.
fn is_supported(transcript: &Transcript<'_>, cut: Rendering<'_>) -> bool {
    if transcript.outline.kind(cut.part) == PartKind::Call {
        let cut = transcript.apply([cut], NOW).unwrap().to_vec();
        return cut.len() < transcript.bytes().len();
    }
    let is_result = transcript.outline.kind(cut.part) == PartKind::Result;
    let expected = is_result && transcript.content(cut.part).is_some();
    match transcript.apply([cut], NOW) {
        Ok(_) => assert!(expected, "{cut:?} was made"),
        Err(ApplyError::Unsupported { .. }) => assert!(!expected, "{cut:?} was refused"),
        Err(error) => panic!("{error}"),
    }
    expected
}

/// What is left of a part is what the action says.
fn check_cut(before: &Transcript<'_>, after: &Transcript<'_>, cut: &Rendering<'_>, context: &str) {
    let [old, new] = [before, after].map(|transcript| transcript.text_of(cut.part));
    let lines = |text: &str| -> Vec<String> {
        let lines = text.split('\n').filter(|line| !line.is_empty() && *line != IMAGE_REMOVED);
        lines.map(str::to_owned).collect()
    };
    match cut.action {
        Action::Clear if before.outline.kind(cut.part) == PartKind::Call => {
            // As the text itself, inside an object, or inside an object inside a string.
            let plain = before.placeholder(cut.part, cut.placeholder);
            let once = encode(&plain);
            let once = once.trim_matches('"');
            let twice = encode(once);
            let forms = [&*plain, once, twice.trim_matches('"')];
            assert!(forms.iter().any(|form| new.contains(form)), "{context}: {new}");
        }
        // What failed may not be silent.
        Action::Clear if cut.placeholder.trim().is_empty() => {
            assert!(new.trim().is_empty() || new == PLACEHOLDER, "{context}: {new}");
        }
        Action::Clear => assert_eq!(new, before.placeholder(cut.part, cut.placeholder), "{context}"),
        Action::Trim { .. } => assert!(new.contains("[Tool result trimmed: kept"), "{context}: {new}"),
        Action::DropThinking => {}
        Action::DropMedia => assert_eq!(lines(&new), lines(&old), "{context}"),
    }
    assert_eq!(after.outline.images(cut.part), 0, "{context}: media are gone after any cut");
}

/// Who says what kind of thing, message by message.
fn shape(outline: &Outline) -> Vec<String> {
    let part = |index: u32| {
        let part = PartIx(index);
        let id = outline.ids().text(outline.call(part));
        format!("{:?} {:?} {id:?} {:?}", outline.kind(part), outline.tool(part), outline.status(part))
    };
    let message = |message| {
        format!("{:?}: {:?}", outline.role(message), outline.parts_of(message).map(part).collect::<Vec<_>>())
    };
    outline.messages().map(message).collect()
}

/// The source without the contents of some parts.
fn rest<'a>(transcript: &Transcript<'a>, parts: &[PartIx]) -> Vec<&'a str> {
    let text = str::from_utf8(transcript.bytes()).unwrap();
    let mut places: Vec<Range<usize>> = parts.iter().map(|&part| place(transcript, part)).collect();
    places.sort_by_key(|place| place.start);
    let mut rest = Vec::new();
    let mut behind = 0;
    for place in places {
        rest.push(&text[behind..place.start]);
        behind = place.end;
    }
    rest.push(&text[behind..]);
    rest
}

/// Where the content of a part lies, with the media that follow it in Gemini's results.
fn place(transcript: &Transcript<'_>, part: PartIx) -> Range<usize> {
    let (text, content) = (str::from_utf8(transcript.bytes()).unwrap(), transcript.content(part).unwrap());
    let start = content.as_ptr().addr() - text.as_ptr().addr();
    let end = start + content.len();
    let next = text[end..].trim_start_matches([',', ' ', '\n']);
    let media =
        next.strip_prefix("\"parts\":").filter(|_| transcript.format == Format::Request(Wire::Gemini));
    let media = media.map_or(0, |media| {
        let mut values = serde_json::Deserializer::from_str(media).into_iter::<IgnoredAny>();
        values.next().unwrap().unwrap();
        text[end..].len() - media.len() + values.byte_offset()
    });
    start..end + media
}

/// Reads a request without a warning.
pub(crate) fn read<'a>(wire: Wire, body: &'a str, measures: &Measures) -> Transcript<'a> {
    let transcript = read_as(body.as_bytes(), Format::Request(wire), measures).unwrap();
    assert_eq!(transcript.warnings, [], "{body}");
    transcript
}
