//! page

/// A page.
pub fn page(_study: &crate::Study, _prices: &str) -> String {
    String::new()
}
