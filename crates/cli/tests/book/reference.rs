//! References: pages that are generated, so that they are never out of date.

use crate::{api, configuration, profiles, root};

/// What has to be run when a page is not what the code makes.
const AGAIN: &str = "SECATEUR_BOOK=write cargo test -p secateur-cli --test book reference";

/// Compares a page with what the code makes, or writes it if that is wanted.
fn hold(page: &str, made: &str) {
    let path = root().join(page);
    if std::env::var("SECATEUR_BOOK").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = there.lines().zip(made.lines()).position(|(there, made)| there != made);
    let line = differs.unwrap_or(there.lines().count().min(made.lines().count())) + 1;
    assert!(
        there == made,
        "{page} is not what the code makes, from line {line} on. Run\n\n    {AGAIN}\n\nand look at what changed."
    );
}

/// A row of a table. What stands in it does not end a cell.
pub(crate) fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table.
pub(crate) fn head(cells: &[&str]) -> String {
    row(cells) + &format!("|{}\n", "---|".repeat(cells.len()))
}

#[test]
fn the_reference_of_profiles_is_what_the_profiles_say() {
    hold("docs/profiles.md", &profiles::page());
}

#[test]
fn the_reference_of_the_configuration_is_what_the_schema_says() {
    hold("docs/configuration.md", &configuration::page());
}

#[test]
fn the_reference_of_the_api_is_what_the_proxy_says() {
    hold("docs/api.md", &api::page());
}
