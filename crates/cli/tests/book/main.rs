//! The book and the README: every command in them is run as it stands there, and what they show of its output is what
//! it prints.
//!
//! A page is played in a folder and a home of its own, both empty at first, by one shell from its first line to its
//! last. What is a command and what is not:
//!
//! * A block marked `console` holds commands, which begin with `$ `, and what they print. A command whose line ends in
//!   `\` or within `'` goes on in the next one. It must end with 0, unless it says ` # exit code N`. If nothing is
//!   shown, anything may be printed. In what is shown, `…` stands for any text in a line, and alone on a line for any
//!   lines.
//! * `<!-- book: file NAME -->` before a block: it is a file that the page's commands find under that name.
//! * `<!-- book: background -->` before a block: its commands are servers. They listen on ports that the system
//!   chooses, in place of those that the page names, and a scripted model stands behind them in place of the providers.
//!   They must print what is shown, and end well when the page ends.
//! * `<!-- book: postgres -->` or `<!-- book: background postgres -->` before a block: it is played if
//!   `SECATEUR_POSTGRES` names a server, which stands in for the one that the page names.
//! * `<!-- book: needs PROGRAM -->` before a block: it is played if there is such a program.
//! * `<!-- book: not run: REASON -->` before a block: nothing of it is run. How many commands that are is asserted.
//!
//! It takes bash and curl. The references are made by code, and the test says how to make them anew.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

mod api;
mod configuration;
mod links;
mod page;
mod play;
mod profiles;
mod reference;
mod shell;
mod shown;
mod structure;

use std::path::{Path, PathBuf};

/// The folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages: the README and the book, by their names in the project.
fn pages() -> Vec<String> {
    let book = std::fs::read_dir(root().join("docs")).unwrap();
    let names = book.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// The text of a page.
fn text(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}
