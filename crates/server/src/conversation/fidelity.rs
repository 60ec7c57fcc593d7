//! Checks that every byte outside of cut ranges is sent as it came.
//!
//! The check is independent of the code that composes a body: what is sent must be slices of what came, so it is enough
//! to see where they lie.

use std::ops::Range;

use bytes::Bytes;

/// Bytes that are not sent as they came: bytes of the kept ranges that are missing, and bytes outside of them that are
/// sent, except for what separates two messages.
pub(crate) fn in_body(whole: &Bytes, kept: &[Range<usize>], sent: &[Bytes]) -> u64 {
    let start = whole.as_ptr() as usize;
    let place = |piece: &Bytes| {
        let at = (piece.as_ptr() as usize).checked_sub(start)?;
        Some(at..at + piece.len()).filter(|range| range.end <= whole.len())
    };
    let (mut altered, mut covered, mut reached, mut next) = (0, 0, 0, 0);
    for piece in sent.iter().filter_map(place) {
        // Sent twice, or too late.
        altered += piece.end.min(reached).saturating_sub(piece.start);
        let mut at = piece.start.max(reached);
        reached = piece.end.max(reached);
        while let Some(stretch) = kept.get(next).filter(|stretch| stretch.start < piece.end) {
            altered += leaked(whole, at..stretch.start);
            let (from, to) = (stretch.start.max(at), stretch.end.min(piece.end));
            covered += to.saturating_sub(from);
            at = at.max(to);
            if stretch.end > piece.end {
                break;
            }
            next += 1;
        }
        altered += leaked(whole, at..piece.end);
    }
    let kept: usize = kept.iter().map(Range::len).sum();
    (altered + kept.saturating_sub(covered)) as u64
}

/// Bytes of a range that do more than separate messages.
fn leaked(whole: &Bytes, stretch: Range<usize>) -> usize {
    let bytes = whole.get(stretch).unwrap_or_default();
    bytes.iter().filter(|byte| !matches!(byte, b',' | b' ' | b'\t' | b'\r' | b'\n')).count()
}

/// Bytes of a message that its cut version does not have, although they lie outside of the cut parts.
pub(crate) fn in_message(whole: &str, cut: &str, parts: &[Range<usize>]) -> u64 {
    let (mut from, mut rest, mut altered) = (0, cut.as_bytes(), 0);
    let whole = whole.as_bytes();
    for part in parts {
        let stretch = whole.get(from..part.start).unwrap_or_default();
        let found = match from {
            0 => rest.starts_with(stretch).then_some(0),
            _ => memchr::memmem::find(rest, stretch),
        };
        match found {
            Some(at) => rest = rest.get(at + stretch.len()..).unwrap_or_default(),
            None => altered += differing(stretch, rest),
        }
        from = part.end;
    }
    let last = whole.get(from..).unwrap_or_default();
    if parts.is_empty() {
        return if rest == last { 0 } else { differing(last, rest) };
    }
    if !rest.ends_with(last) {
        let same = last.iter().rev().zip(rest.iter().rev()).take_while(|(one, other)| one == other).count();
        altered += (last.len() - same) as u64;
    }
    altered
}

/// How many bytes of a text differ; at least one.
fn differing(old: &[u8], new: &[u8]) -> u64 {
    let same = old.iter().zip(new).filter(|(old, new)| old == new).count();
    old.len().abs_diff(same).max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"model":"m","messages":[{"a":1}, {"b":22},{"c":333}],"n":4}"#;

    fn find(text: &str) -> Range<usize> {
        let at = BODY.find(text).unwrap();
        at..at + text.len()
    }

    #[test]
    fn kept_bytes_must_be_sent_and_others_must_not() {
        let body = Bytes::from_static(BODY.as_bytes());
        let piece = |range: Range<usize>| body.slice(range);
        let made = || Bytes::from_static(b"{\"summary\":0},");
        let head = 0..find("[").end;
        let tail = find("]").start..BODY.len();
        let (a, b, c) = (find(r#"{"a":1}"#), find(r#"{"b":22}"#), find(r#"{"c":333}"#));
        let all = [head.clone(), a.start..c.end, tail.clone()];
        assert_eq!(in_body(&body, &all, std::slice::from_ref(&body)), 0);

        // The first message is replaced, and a number in the second is cut.
        let number = find("22");
        let kept = [head.clone(), b.start..number.start, number.end..b.end, c.clone(), tail.clone()];
        let cut = [
            piece(head.clone()),
            made(),
            piece(b.start..number.start),
            made(),
            piece(number.end..BODY.len()),
        ];
        assert_eq!(in_body(&body, &kept, &cut), 0);
        // A missing byte, one too many, a message that should be gone, a message sent twice, a copy.
        let end = || piece(number.end..BODY.len());
        let with = |pieces: &[Bytes]| in_body(&body, &kept, &[&[piece(head.clone())], pieces].concat());
        assert_eq!(with(&[made(), piece(b.start + 1..number.start), made(), end()]), 1);
        assert_eq!(with(&[made(), piece(b.start..number.start + 1), made(), end()]), 1);
        assert_eq!(with(&[piece(a.clone()), piece(b.start..number.start), made(), end()]), a.len() as u64);
        assert_eq!(with(&[piece(b.start..number.start), end(), piece(c.clone())]), c.len() as u64);
        let copy = Bytes::copy_from_slice(&body[number.end..]);
        let own = (b.end - number.end) + c.len() + tail.len();
        assert_eq!(with(&[piece(b.start..number.start), copy]), own as u64);
    }

    #[test]
    fn a_wrong_byte_beside_a_cut_is_found() {
        let whole = r#"{"role":"user","content":[{"id":1,"text":"long"},{"id":2,"text":"longer"}]}"#;
        let part = |text: &str| whole.find(text).map(|at| at..at + text.len()).unwrap();
        let parts = [part("\"long\""), part("\"longer\"")];
        let cut = r#"{"role":"user","content":[{"id":1,"text":"[cut: 4]"},{"id":2,"text":""}]}"#;
        assert_eq!(in_message(whole, cut, &parts), 0);
        assert_eq!(in_message(whole, whole, &[]), 0);
        assert_eq!(in_message(whole, &whole.replace("user", "uses"), &[]), 1);
        assert_eq!(in_message(whole, &cut.replace("user", "uses"), &parts), 1);
        assert!(in_message(whole, &cut.replace("\"id\":2", "\"id\":3"), &parts) > 0);
        assert_eq!(in_message(whole, &cut.replace("}]}", "} }"), &parts), 2);
    }
}
