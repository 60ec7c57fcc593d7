//! OpenCode stores a session as rows of a database; until early 2026 it used a folder of small files. Both are read
//! as the document that its `export` command prints: the session, its messages and their parts.

pub(crate) mod database;
pub(crate) mod folder;

use crate::json;
use crate::source::SourceContent;

/// Writes an export document.
struct Document {
    text: String,
    messages: usize,
    parts: usize,
}

impl Document {
    /// Begins with the session's own facts, as JSON.
    fn new(info: &str) -> Self {
        Self { text: format!(r#"{{"info":{info},"messages":["#), messages: 0, parts: 0 }
    }

    /// Adds a message: `data` is its info, with or without its ids.
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

    fn close(mut self) -> SourceContent {
        self.text.push_str(if self.messages == 0 { "]}" } else { "]}]}" });
        SourceContent::Bytes(self.text.into_bytes())
    }
}
