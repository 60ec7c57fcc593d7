//! Categories of parts, for reports on what a context consists of.

use serde::Serialize;

use super::{Outline, PartIx, PartKind, Role};

/// The categories of what fills a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Instructions.
    System,
    /// What the user wrote.
    User,
    /// What the client inserted into user messages: reminders, notifications, mentioned files.
    UserMeta,
    /// What the model wrote.
    Assistant,
    /// The model's thinking.
    Reasoning,
    /// Inputs of tools.
    ToolCall,
    /// Outputs of tools.
    ToolResult,
    /// Summaries of older history.
    Summary,
    /// Anything else.
    Other,
}

impl Category {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Category::System => "system",
            Category::User => "user",
            Category::UserMeta => "user_meta",
            Category::Assistant => "assistant",
            Category::Reasoning => "reasoning",
            Category::ToolCall => "tool_call",
            Category::ToolResult => "tool_result",
            Category::Summary => "summary",
            Category::Other => "other",
        }
    }
}

impl Outline {
    /// The category of a part. Media belong to the category of their message.
    pub fn category(&self, part: PartIx) -> Category {
        let owner = self.owner(part);
        match (self.kind(part), self.role(owner)) {
            (PartKind::Call, _) => Category::ToolCall,
            (PartKind::Result, _) => Category::ToolResult,
            (PartKind::Reasoning, _) => Category::Reasoning,
            (PartKind::Text | PartKind::Media, _) if self.is_summary(owner) => Category::Summary,
            (PartKind::Text | PartKind::Media, Role::System) => Category::System,
            (PartKind::Text | PartKind::Media, Role::User) if self.is_injected(part) => Category::UserMeta,
            (PartKind::Text | PartKind::Media, Role::User) => Category::User,
            (PartKind::Text | PartKind::Media, Role::Assistant) => Category::Assistant,
            (PartKind::Text | PartKind::Media, Role::Tool) => Category::ToolResult,
            (PartKind::Text | PartKind::Media, Role::Other) => Category::Other,
            (PartKind::Signature | PartKind::Compaction | PartKind::Other, _) => Category::Other,
        }
    }
}
