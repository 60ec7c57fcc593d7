//! What the model writes down about the requests that came.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::Settings;
use super::cache::{Cache, Reuse};
use super::scenario::Purpose;
use super::talk::Talk;

/// The books, and the settings that requests are held against.
#[derive(Debug)]
pub(super) struct Books {
    pub settings: Settings,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    cache: Cache,
    lines: Vec<Line>,
    /// Requests that hold no conversation, by method and path.
    others: BTreeMap<String, u64>,
    recorded: usize,
}

#[derive(Debug)]
struct Line {
    path: String,
    model: String,
    purpose: &'static str,
    bytes: u64,
    tokens: u64,
    reuse: Reuse,
    fate: Fate,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was answered.
    Answered,
    /// It did not fit.
    TooLong,
    /// Something was wrong with it.
    Malformed(String),
}

impl Books {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, pages: Mutex::default() }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request of a conversation; what the cache knew of it comes back.
    pub(super) fn enter(&self, path: &str, talk: &Talk, purpose: Purpose, fate: Fate) -> Reuse {
        let mut pages = self.pages();
        let reuse = pages.cache.enter(talk);
        let (bytes, tokens) = (talk.text.len() as u64, talk.tokens());
        let (path, model, purpose) = (path.to_owned(), talk.model.clone(), purpose.name());
        pages.lines.push(Line { path, model, purpose, bytes, tokens, reuse, fate });
        reuse
    }

    /// Enters any other request.
    pub(super) fn enter_other(&self, method: &str, path: &str) {
        *self.pages().others.entry(format!("{method} {path}")).or_default() += 1;
    }

    /// Writes a request down where the settings say so: a line with method and path, the headers, the body.
    pub(super) fn record(&self, head: &str, body: &[u8]) {
        let Some(folder) = &self.settings.record else { return };
        let number = {
            let mut pages = self.pages();
            pages.recorded += 1;
            pages.recorded
        };
        let file = folder.join(format!("{number:04}.txt"));
        if let Err(error) = fs::write(&file, [head.as_bytes(), b"\n\n", body].concat()) {
            eprintln!("cannot write {}: {error}", file.display());
        }
    }

    /// All that was entered.
    pub(super) fn stats(&self) -> Value {
        let pages = self.pages();
        let lines = &pages.lines;
        let count = |wanted: fn(&Fate) -> bool| lines.iter().filter(|line| wanted(&line.fate)).count();
        let sum = |of: fn(&Line) -> u64| lines.iter().map(of).sum::<u64>();
        json!({
            "requests": lines.len(),
            "violations": count(|fate| *fate == Fate::TooLong),
            "malformed": count(|fate| matches!(fate, Fate::Malformed(_))),
            "largest": lines.iter().map(|line| line.tokens).max().unwrap_or(0),
            "input": sum(|line| line.tokens),
            "cached": sum(|line| line.reuse.cached),
            "broken": lines.iter().filter(|line| line.reuse.is_broken()).count(),
            "others": pages.others,
            "log": lines.iter().map(Line::json).collect::<Vec<_>>(),
        })
    }
}

impl Line {
    fn json(&self) -> Value {
        let fate = match &self.fate {
            Fate::Answered => json!("answered"),
            Fate::TooLong => json!("too long"),
            Fate::Malformed(why) => json!(why),
        };
        json!({
            "path": self.path,
            "model": self.model,
            "purpose": self.purpose,
            "fate": fate,
            "bytes": self.bytes,
            "tokens": self.tokens,
            "cached": self.reuse.cached,
            "kept": self.reuse.kept,
            "keepable": self.reuse.keepable,
            "prefix_broken": self.reuse.is_broken(),
        })
    }
}
