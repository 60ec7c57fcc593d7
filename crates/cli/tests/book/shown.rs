//! What a page shows of an output, held against all of it.

/// What stands for what is not shown.
const LEFT_OUT: char = '…';

/// Whether these lines show that output.
pub(crate) fn shows(shown: &[String], printed: &str) -> bool {
    let shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
    let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
    lines_match(trimmed(&shown), &printed)
}

/// Without empty lines at the end, which are there for the eye.
fn trimmed<'l>(lines: &'l [&'l str]) -> &'l [&'l str] {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    &lines[..end]
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.trim().chars().eq([LEFT_OUT]) => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        Some((line, rest)) => match printed.split_first() {
            Some((first, others)) => line_matches(line, first) && lines_match(rest, others),
            None => false,
        },
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let mut pieces = shown.split(LEFT_OUT);
    let Some(mut rest) = pieces.next().and_then(|head| printed.strip_prefix(head)) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(tail) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(tail)
}

#[test]
fn what_is_left_out_may_be_anything_and_the_rest_may_not() {
    let shows =
        |shown: &str, printed: &str| shows(&shown.lines().map(str::to_owned).collect::<Vec<_>>(), printed);
    assert!(shows("a\n\nb\n", "a\n\nb"));
    assert!(!shows("a", "a\nb"));
    assert!(shows("a\n…", "a\nb\nc") && shows("a\n…", "a") && shows("…\nc", "a\nb\nc"));
    assert!(!shows("…\nb", "a\nb\nc"));
    assert!(shows("in … of … ms", "in 3 of 40 ms") && !shows("in … of … ms", "in 3 of 40 s"));
    assert!(!shows("ab…ba", "aba"), "what is shown twice is printed twice");
}
