//! Lists that are too long to be given out at once.

use secateur_store::{SessionCursor, SessionRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::params::{LARGEST, number};
use super::problem::Problem;

/// How many rows a page has if nobody says how many.
const USUAL: usize = 100;

/// The most that a page has.
const MOST: u64 = 500;

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// What `after` has to be for the rows behind them; null if there are none now.
    #[schema(required)]
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of these rows. There is more if there are more than that; the page behind begins after the
    /// last one's mark.
    pub(super) fn of(mut items: Vec<T>, limit: usize, mark: impl FnOnce(&T) -> String) -> Self {
        let is_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| is_more).map(mark);
        Self { items, next }
    }
}

/// Which part of a list of numbered rows is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Numbered {
    /// At most so many rows; 100 if it is left out.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    limit: Option<String>,
    /// Only rows behind the one of this number; `next` of an earlier page, or 0.
    #[param(value_type = u64, required = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<String>,
}

impl Numbered {
    pub(super) fn limit(&self) -> Result<usize, Problem> {
        limit(self.limit.as_deref())
    }

    pub(super) fn after(&self) -> Result<u64, Problem> {
        self.after.as_deref().map_or(Ok(0), |after| number("after", after, 0, LARGEST))
    }
}

/// What is looked for in what was cut or compacted away.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// Words that must all be there: runs of letters, digits and underscores, in whatever case.
    #[param(max_length = 2000)]
    pub(super) words: String,
    /// The session to look in; all of them if it is left out.
    pub(super) session: Option<String>,
    /// At most so many; 20 if it is left out.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 100)]
    pub(super) limit: Option<String>,
}

/// Which part of the list of sessions is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Listed {
    /// At most so many sessions; 100 if it is left out.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 500)]
    limit: Option<String>,
    /// `next` of an earlier page: the sessions behind that page. Nothing else is of use here.
    #[param(value_type = String, required = false, pattern = "^[0-9a-f]{16}(0[1-9a-f]|[1-9a-f][0-9a-f])*$", max_length = 2064)]
    after: Option<String>,
}

impl Listed {
    pub(super) fn limit(&self) -> Result<usize, Problem> {
        limit(self.limit.as_deref())
    }

    pub(super) fn after(&self) -> Result<Option<SessionCursor>, Problem> {
        let bad = || Problem::bad_value("after is no place in the list; wanted is `next` of an earlier page");
        self.after.as_deref().map(|after| parse(after).ok_or_else(bad)).transpose()
    }
}

fn limit(given: Option<&str>) -> Result<usize, Problem> {
    given.map_or(Ok(USUAL), |given| Ok(number("limit", given, 1, MOST)? as usize))
}

/// The place behind a session in the list, as a word that means nothing to anybody else.
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
    fn a_mark_names_its_place_and_whatever_else_is_refused() {
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
