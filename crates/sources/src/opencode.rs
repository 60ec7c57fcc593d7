//! OpenCode keeps a session as rows, and kept it as a folder of small files up to early 2026. Out of both comes what its
//! `export` command prints: one document with the session, its messages and their parts.

pub(crate) mod database;
pub(crate) mod folder;

use std::path::Path;

use crate::source::{LARGEST, SourceContent};
use crate::{SourceError, json};

/// An export document that is being written.
struct Document {
    text: String,
    messages: usize,
    parts: usize,
}

impl Document {
    /// Begins with what is known about the session, as JSON.
    fn new(info: &str) -> Self {
        Self { text: format!(r#"{{"info":{info},"messages":["#), messages: 0, parts: 0 }
    }

    /// Adds a message: `data` is its info, without its ids or with them.
    fn message(&mut self, data: &str, id: &str, session: &str) -> Result<(), serde_json::Error> {
        let info = json::with_members(data, &[("id", id), ("sessionID", session)])?;
        self.text.push_str(if self.messages == 0 { "" } else { "]}," });
        self.text.push_str(r#"{"info":"#);
        self.text.push_str(&info);
        self.text.push_str(r#","parts":["#);
        self.messages += 1;
        self.parts = 0;
        Ok(())
    }

    /// Adds a part to the last message.
    fn part(&mut self, data: &str, id: &str, message: &str, session: &str) -> Result<(), serde_json::Error> {
        let members = [("id", id), ("messageID", message), ("sessionID", session)];
        let part = json::with_members(data, &members)?;
        self.text.push_str(if self.parts == 0 { "" } else { "," });
        self.text.push_str(&part);
        self.parts += 1;
        Ok(())
    }

    fn check_size(&self, path: &Path, session: &str) -> Result<(), SourceError> {
        if self.text.len() <= LARGEST {
            return Ok(());
        }
        Err(SourceError::TooLarge { path: path.to_path_buf(), session: session.to_owned(), limit: LARGEST })
    }

    fn close(mut self) -> SourceContent {
        self.text.push_str(if self.messages == 0 { "]}" } else { "]}]}" });
        SourceContent::Bytes(self.text.into_bytes())
    }
}
