//! The todo list: the last one that the model kept with a tool, or ticked in its last words.
//!
//! Some tools receive the whole list each time, others one change at a time. A stretch of conversation may contain
//! only changes to an earlier list, so changes are kept until they meet their list.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bounded_list::OVERHEAD;
use super::clean_text::{cut, one_line, weight};

/// The state of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TodoState {
    /// Not begun.
    #[default]
    Open,
    /// Begun.
    Doing,
    /// Done.
    Done,
    /// Given up.
    Dropped,
}

impl TodoState {
    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "done" | "completed" | "complete" | "finished" => Self::Done,
            "in_progress" | "in-progress" | "active" | "doing" | "start" | "started" => Self::Doing,
            "cancelled" | "canceled" | "deleted" | "dropped" | "skipped" | "drop" | "rm" | "abandoned" => {
                Self::Dropped
            }
            _ => Self::Open,
        }
    }
}

/// An item of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TodoItem {
    /// The tool's id of the item; its text if it has none.
    id: String,
    /// What to do; empty in a change of an earlier item.
    pub(super) text: String,
    /// Its state.
    pub(super) state: TodoState,
}

/// A todo list, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TodoList {
    items: Vec<TodoItem>,
    /// These are all items; an earlier list is replaced.
    whole: bool,
}

impl TodoList {
    /// The most items.
    const MOST: usize = 40;
    const WEIGHT: usize = 5_000;
    const LONGEST: usize = 200;

    /// The items that have a text, in the order of the list.
    pub(super) fn items(&self) -> impl Iterator<Item = &TodoItem> {
        self.items.iter().filter(|item| !item.text.is_empty())
    }

    /// Applies what happened later.
    pub(super) fn follow(&mut self, later: Self) {
        if later.whole {
            *self = later;
            return;
        }
        for item in later.items {
            self.change(item);
        }
        self.settle();
    }

    fn change(&mut self, item: TodoItem) {
        match self.items.iter_mut().find(|known| known.id == item.id) {
            Some(known) => {
                known.state = item.state;
                if !item.text.is_empty() {
                    known.text = item.text;
                }
            }
            None => self.items.push(item),
        }
    }

    /// Done items are dropped first, then the first of the list.
    fn settle(&mut self) {
        let own = |item: &TodoItem| weight(&item.id) + weight(&item.text) + OVERHEAD;
        let is_over = |item: &TodoItem| matches!(item.state, TodoState::Done | TodoState::Dropped);
        let (mut count, mut total) = (self.items.len(), self.items.iter().map(own).sum::<usize>());
        for may_go in [is_over as fn(&TodoItem) -> bool, |_: &TodoItem| true] {
            self.items.retain(|item| {
                let stays = count <= Self::MOST && total <= Self::WEIGHT || !may_go(item);
                if !stays {
                    count -= 1;
                    total -= own(item);
                }
                stays
            });
        }
    }

    fn of_items(items: impl IntoIterator<Item = TodoItem>) -> Option<Self> {
        // Trimming must not take long, whatever the list contains.
        let mut list = Self { items: items.into_iter().take(4 * Self::MOST).collect(), whole: true };
        list.settle();
        (!list.items.is_empty()).then_some(list)
    }

    /// The list in the input of a planning tool.
    pub(super) fn of_input(input: &Value, redact: &dyn Fn(&str) -> String) -> Option<Self> {
        let list = ["todos", "plan", "items", "tasks", "todoList", "list", "task_list"]
            .into_iter()
            .find_map(|name| input.get(name));
        match list {
            Some(Value::Array(list)) => Self::of_items(list.iter().flat_map(|entry| items(entry, redact))),
            Some(Value::String(text)) => Self::of_boxes(text, redact),
            _ => Self::of_change(input, redact),
        }
    }

    /// A change of one item: `{taskId, status}`, or `{op, task}`.
    fn of_change(input: &Value, redact: &dyn Fn(&str) -> String) -> Option<Self> {
        let text_at = |name: &str| input.get(name).and_then(Value::as_str);
        let id = ["taskId", "task_id"].into_iter().find_map(|name| match input.get(name)? {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        });
        let item = match id {
            Some(id) => {
                let text = text_at("subject").map(|text| kept(text, redact)).unwrap_or_default();
                TodoItem { id: cut(&one_line(&id), 40), text, state: TodoState::named(text_at("status")?) }
            }
            None => {
                let text = kept(text_at("task")?, redact);
                let text_of_new = if text_at("op")? == "add" { text.clone() } else { String::new() };
                TodoItem { id: text, text: text_of_new, state: TodoState::named(text_at("op")?) }
            }
        };
        Some(Self { items: vec![item], whole: false })
    }

    /// A new item with its number, from a tool's result: `Task #3 created successfully: …`.
    pub(super) fn of_answer(answer: &str, redact: &dyn Fn(&str) -> String) -> Option<Self> {
        let (id, rest) = answer.trim_start().strip_prefix("Task #")?.split_once(' ')?;
        let (_, text) = rest.split_once(':').filter(|(verb, _)| verb.starts_with("created"))?;
        let text = kept(text.lines().next()?, redact);
        let is_number = id.len() <= 9 && id.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self {
            items: vec![TodoItem { id: id.to_owned(), text, state: TodoState::Open }],
            whole: false,
        })
    }

    /// The checkboxes of a Markdown list.
    pub(super) fn of_boxes(text: &str, redact: &dyn Fn(&str) -> String) -> Option<Self> {
        let boxes = text.lines().filter_map(|line| {
            let line = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
            let line = ["- ", "* ", "+ ", ". "].iter().find_map(|mark| line.strip_prefix(mark))?.trim_start();
            let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
            let state = match mark {
                " " | "" => TodoState::Open,
                "x" | "X" => TodoState::Done,
                "~" | "-" | ">" | "/" => TodoState::Doing,
                _ => return None,
            };
            let text = kept(text, redact);
            (!text.is_empty()).then(|| TodoItem { id: text.clone(), text, state })
        });
        Self::of_items(boxes)
    }
}

fn kept(text: &str, redact: &dyn Fn(&str) -> String) -> String {
    cut(&one_line(&redact(&one_line(text))), TodoList::LONGEST)
}

/// The items of one entry of a list: itself, or those of a phase.
fn items(entry: &Value, redact: &dyn Fn(&str) -> String) -> Vec<TodoItem> {
    if let Some(Value::Array(inner)) = entry.get("items") {
        return inner.iter().take(TodoList::MOST).filter_map(|entry| item(entry, redact)).collect();
    }
    item(entry, redact).into_iter().collect()
}

fn item(entry: &Value, redact: &dyn Fn(&str) -> String) -> Option<TodoItem> {
    let text_at = |name: &str| entry.get(name).and_then(Value::as_str);
    let text = entry.as_str().or_else(|| {
        ["content", "step", "title", "text", "description", "task", "subject", "name"]
            .into_iter()
            .find_map(text_at)
    })?;
    let text = kept(text, redact);
    let state = match entry.get("completed").or_else(|| entry.get("done")).and_then(Value::as_bool) {
        Some(true) => TodoState::Done,
        _ => ["status", "state"].into_iter().find_map(text_at).map_or(TodoState::Open, TodoState::named),
    };
    let id = entry.get("id").and_then(Value::as_str).map(|id| cut(&one_line(id), 40));
    (!text.is_empty()).then(|| TodoItem { id: id.unwrap_or_else(|| text.clone()), text, state })
}
