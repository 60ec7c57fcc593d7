//! A report: what a profile does to a session, as one page for a browser.

#[cfg_attr(not(test), expect(dead_code, reason = "the command that fills the page is yet to come"))]
pub(crate) mod page;
