//! Long lists, one page at a time.

use secateur_store::{SessionCursor, SessionRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::params::{LARGEST, number};
use super::problem::ApiProblem;

/// The rows of a page by default.
const DEFAULT_LIMIT: usize = 100;

/// The most rows of a page.
const MAX_LIMIT: u64 = 500;

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The `after` of the next page; null if there is none now.
    #[schema(required)]
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of these rows. If there are more, the next page begins after the mark of the last one.
    pub(super) fn of(mut items: Vec<T>, limit: usize, mark: impl FnOnce(&T) -> String) -> Self {
        let is_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| is_more).map(mark);
        Self { items, next }
    }
}

/// Selects a page of numbered rows.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// The most rows; 100 by default.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    limit: Option<String>,
    /// Only rows after the one with this number; `next` of an earlier page, or 0.
    #[param(value_type = u64, required = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<String>,
}

impl PageQuery {
    pub(super) fn limit(&self) -> Result<usize, ApiProblem> {
        limit(self.limit.as_deref())
    }

    pub(super) fn after(&self) -> Result<u64, ApiProblem> {
        self.after.as_deref().map_or(Ok(0), |after| number("after", after, 0, LARGEST))
    }
}

/// A search in what was cut or compacted away.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// Words that must all occur: runs of letters, digits and underscores, in any case.
    #[param(max_length = 2000)]
    pub(super) words: String,
    /// The session to search; all of them by default.
    pub(super) session: Option<String>,
    /// The most hits; 20 by default.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 100)]
    pub(super) limit: Option<String>,
}

/// Selects a page of the list of sessions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionQuery {
    /// The most sessions; 100 by default.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    limit: Option<String>,
    /// `next` of an earlier page.
    #[param(value_type = String, required = false, pattern = "^[0-9a-f]{16}(0[1-9a-f]|[1-9a-f][0-9a-f])*$", max_length = 2064)]
    after: Option<String>,
}

impl SessionQuery {
    pub(super) fn limit(&self) -> Result<usize, ApiProblem> {
        limit(self.limit.as_deref())
    }

    pub(super) fn after(&self) -> Result<Option<SessionCursor>, ApiProblem> {
        let bad =
            || ApiProblem::bad_value("after is not a place in the list; expected `next` of an earlier page");
        self.after.as_deref().map(|after| parse(after).ok_or_else(bad)).transpose()
    }
}

fn limit(given: Option<&str>) -> Result<usize, ApiProblem> {
    given.map_or(Ok(DEFAULT_LIMIT), |given| Ok(number("limit", given, 1, MAX_LIMIT)? as usize))
}

/// The place after a session in the list, as an opaque word.
pub(super) fn mark(row: &SessionRow) -> String {
    let mut mark = format!("{:016x}", row.updated);
    mark.extend(row.id.bytes().map(|byte| format!("{byte:02x}")));
    mark
}

/// The longest id of a session in bytes.
const LONGEST_ID: usize = 1024;

fn parse(mark: &str) -> Option<SessionCursor> {
    let is_hex = mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hex || mark.len() < 16 || mark.len() > 16 + 2 * LONGEST_ID || !mark.len().is_multiple_of(2) {
        return None;
    }
    let (updated, id) = mark.split_at_checked(16)?;
    let updated = u64::from_str_radix(updated, 16).ok()?.cast_signed();
    let pairs = id.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok().filter(|byte| *byte > 0));
    let id = String::from_utf8_lossy(&bytes.collect::<Option<Vec<u8>>>()?).into_owned();
    Some(SessionCursor { updated, id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_place_and_anything_else_is_refused() {
        for (updated, id) in [(0, "s"), (-1, "\u{e9} %/"), (i64::MAX, ""), (i64::MIN, "0191-ab")] {
            let row = SessionRow { updated, id: id.to_owned(), ..SessionRow::default() };
            assert_eq!(parse(&mark(&row)), Some(SessionCursor { updated, id: id.to_owned() }));
        }
        let long = "61".repeat(2_000);
        for bad in ["", "s", "12", "000000000000000g", "00000000000000000", "000000000000000000", "é", &long]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_page_says_how_to_go_on_only_if_there_is_more() {
        let page = |rows: &[u64], limit| Page::of(rows.to_vec(), limit, |row: &u64| row.to_string());
        let first = page(&[1, 2, 3], 2);
        assert_eq!((first.items, first.next.as_deref()), (vec![1, 2], Some("2")));
        assert_eq!(page(&[1, 2], 2).next, None);
        assert_eq!(page(&[], 2).next, None);
    }
}
