//! One spelling for each path.
//!
//! Agents write `./src/a.rs`, `src//a.rs`, `/home/me/src/a.rs` and `file:///home/me/src/a.rs` within one session. Paths
//! are normalised by their text alone, so that calls about one file have one subject. The files may be on another machine,
//! or gone, so links cannot be followed.

/// Longer texts are not paths.
const LONGEST: usize = 4096;

/// The normalised path, joined to the directory if it is relative and the directory is not; `None` if it is blank or not
/// a path.
///
/// Normalising a path twice changes nothing.
pub(super) fn normal(path: &str, cwd: Option<&str>) -> Option<String> {
    if path.len() > LONGEST {
        return None;
    }
    if is_normal(path) {
        return Some(path.to_owned());
    }
    let cwd = cwd.map(bare).filter(|cwd| cwd.len() <= LONGEST && is_rooted(cwd));
    let mut spelled = once(path, cwd)?;
    // A step can uncover work for an earlier one: `./"a"`. From the second round on, no path grows.
    for _ in 0..LONGEST {
        if is_normal(&spelled) {
            break;
        }
        let again = once(&spelled, cwd)?;
        if again == spelled {
            break;
        }
        spelled = again;
    }
    Some(spelled)
}

/// Whether an absolute path is normalised already, as most are.
fn is_normal(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    !has_drive(rest)
        && !path.ends_with(char::is_whitespace)
        && rest.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// A directory as seen from another one.
pub(super) fn directory(path: &str, cwd: Option<&str>) -> Option<String> {
    normal(path, cwd).or_else(|| cwd.map(str::to_owned))
}

fn once(path: &str, cwd: Option<&str>) -> Option<String> {
    let path = bare(path);
    if path.is_empty() {
        return None;
    }
    let cwd = cwd.filter(|_| !is_rooted(path));
    let mut spelled = String::with_capacity(path.len() + cwd.map_or(0, str::len) + 1);
    for text in cwd.into_iter().chain([path]) {
        let windows = is_windows(text) || cwd.is_some_and(is_windows);
        let windows = windows || (cwd.is_none() && text.contains('\\') && !text.contains('/'));
        if !spelled.is_empty() {
            spelled.push('/');
        }
        spelled.extend(text.chars().map(|letter| if windows && letter == '\\' { '/' } else { letter }));
    }
    Some(resolved(&spelled))
}

/// Without white space and quotes around it and without `file://`.
fn bare(path: &str) -> &str {
    let mut path = path.trim();
    loop {
        let inner = ['"', '\'', '`']
            .iter()
            .find_map(|&quote| path.strip_prefix(quote)?.strip_suffix(quote))
            .or_else(|| path.strip_prefix("file://"))
            // `file:///C:/a` leaves `/C:/a`.
            .or_else(|| path.strip_prefix('/').filter(|rest| has_drive(rest)));
        match inner {
            Some(inner) => path = inner.trim(),
            None => return path,
        }
    }
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn is_windows(path: &str) -> bool {
    has_drive(path) || path.starts_with("\\\\")
}

/// Whether a path does not depend on the working directory.
fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '~']) || is_windows(path)
}

/// The path without `.`, empty names and `..`. What lies above a home folder is not known.
fn resolved(path: &str) -> String {
    let absolute = path.starts_with('/') || has_drive(path);
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => match names.last() {
                // The drive is the root.
                Some(_) if names.len() == 1 && has_drive(path) => {}
                Some(&last) if last != ".." && !(names.len() == 1 && last.starts_with('~')) => {
                    names.pop();
                }
                None if absolute => {}
                _ => names.push(".."),
            },
            name => names.push(name),
        }
    }
    let joined = names.join("/");
    match (path.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) if has_drive(path) && names.len() == 1 => joined + "/",
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_of_one_file_are_spelled_alike() {
        for (path, cwd, expected) in [
            ("/w/./src//x/../a.rs", None, "/w/src/a.rs"),
            ("src/a.rs", Some("/w/"), "/w/src/a.rs"),
            ("../a.rs", Some("/w/src"), "/w/a.rs"),
            ("/../a", None, "/a"),
            ("../../a", None, "../../a"),
            ("a/..", None, "."),
            (".", Some("/w"), "/w"),
            (" \"/w/a b.rs\" ", None, "/w/a b.rs"),
            ("./'a'", None, "a"),
            ("file:///w/a.rs", None, "/w/a.rs"),
            ("file:///C:/w/a.rs", None, "C:/w/a.rs"),
            ("C:\\w\\.\\src\\..\\a.rs", Some("/home"), "C:/w/a.rs"),
            ("src\\a.rs", Some("D:\\w"), "D:/w/src/a.rs"),
            ("src\\a.rs", None, "src/a.rs"),
            ("odd\\name", Some("/w"), "/w/odd\\name"),
            ("C:\\..\\..\\a", None, "C:/a"),
            ("C:\\", None, "C:/"),
            ("~/a/../b", Some("/w"), "~/b"),
            ("~/../b", None, "~/../b"),
            ("a.rs", Some("relative"), "a.rs"),
        ] {
            assert_eq!(normal(path, cwd).as_deref(), Some(expected), "{path} in {cwd:?}");
        }
        for path in ["", "  ", "\"\"", "file://"] {
            assert_eq!(normal(path, Some("/w")), None, "{path}");
        }
        assert_eq!(normal(&"a/".repeat(LONGEST), None), None);
    }

    fn any_path() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "b.rs", "..", ".", "/", "//", "\\", "~", "C:", "C:\\", "file://", "\"", "'", " ", "\n", "é",
            "😀",
        ]);
        prop_oneof![3 => prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()), 1 => ".*"]
    }

    proptest! {
        #[test]
        fn a_normal_path_stays_as_it_is(path in any_path(), cwd in prop::option::of(any_path())) {
            if let Some(once) = normal(&path, cwd.as_deref()) {
                prop_assert_eq!(normal(&once, cwd.as_deref()), Some(once));
            }
        }

        #[test]
        fn what_looks_normal_is_left_alone_the_long_way_round(path in any_path()) {
            let path = format!("/w/{path}");
            if is_normal(&path) {
                prop_assert_eq!(once(&path, None), Some(path));
            }
        }

        #[test]
        fn a_rooted_path_is_the_same_from_everywhere(path in any_path(), cwd in any_path()) {
            let path = format!("/w/{path}");
            prop_assert_eq!(normal(&path, Some(&cwd)), normal(&path, None));
        }
    }
}
