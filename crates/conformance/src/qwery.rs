//! Qwery's recorded behaviour.

pub mod summary;
pub mod ui_messages;

use anyhow::{Context, Result};
use secateur::{Memory, Profile, Profiles, Situation};
use secateur_formats::{Format, Rendering};
use serde_json::{Value, json};

use crate::case::Case;
use crate::opencode::model_messages::{Outputs, model_messages};
use crate::opencode::{limits, usage, visible_ids};
use crate::{NOW, transcript};
use summary::truncate_summary;
use ui_messages::ui_messages;

/// Runs a case with the profile of its version; `None` if its function is not reproduced.
pub(crate) fn run(case: &Case) -> Result<Option<Value>> {
    let name = match case.system.as_str() {
        "qwery_seed" => "qwery@2026-02",
        "qwery_head" => "qwery@2026-04",
        _ => return Ok(None),
    };
    let profile = Profiles::builtin().get(name)?;
    Ok(match case.function.as_str() {
        "isOverflow" => {
            let judged = profile.overflow.judge(&usage(case.get("tokens")), &limits(model(case)));
            Some(json!({ "overflow": judged.overflow }))
        }
        "prune" => Some(prune(case, &profile)?),
        "filterCompacted" => {
            let text = serde_json::to_string(case.get("messages"))?;
            Some(json!({ "ids": visible_ids(&transcript(&text, Format::Qwery, &profile)?, &profile) }))
        }
        "toModelMessages" => {
            let ui = ui_messages(case.list("messages"), case.get("model"));
            Some(json!({ "model": model_messages(&ui, Outputs::Qwery), "ui": ui }))
        }
        "truncateSummary" => {
            let text = case.get("text").as_str().unwrap_or_default();
            Some(json!({ "text": truncate_summary(text, case.get("maxTokens").as_u64().unwrap_or(0)) }))
        }
        _ => None,
    })
}

/// The model of a case, which may be given by name.
fn model(case: &Case) -> &Value {
    match case.get("model") {
        Value::String(name) => case.get("models").get(name).unwrap_or(&Value::Null),
        model => model,
    }
}

/// One update per part, each made from the message as it was before all of them: Qwery shipped it so.
fn prune(case: &Case, profile: &Profile) -> Result<Value> {
    let text = serde_json::to_string(case.get("messages"))?;
    if case.list("messages").is_empty() {
        return Ok(json!({ "writes": 0, "updates": [] }));
    }
    let transcript = transcript(&text, Format::Qwery, profile)?;
    let outline = &transcript.outline;
    let plan = profile.policy.plan(outline, &Situation::default(), &Memory::default());
    let mut updates = Vec::new();
    for cut in plan.cuts.iter().rev() {
        let rendering =
            Rendering { part: cut.part, action: cut.action, placeholder: &profile.policy.placeholder };
        let edited: Value = serde_json::from_slice(&transcript.apply([rendering], NOW)?.to_vec())?;
        let message = outline.owner(cut.part).0 as usize;
        let parts = |document: &Value| document.pointer(&format!("/{message}/content/parts")).cloned();
        let (before, after) = (parts(case.get("messages")), parts(&edited));
        let (before, after) = before.zip(after).context("a message has lost its parts")?;
        let index = changed(&before, &after).context("a cut has changed nothing")?;
        let id = case.list("messages").get(message).and_then(|message| message.get("id"));
        updates.push(
            json!({ "id": id, "parts": { index.to_string(): after.get(index) }, "updatedBy": "system" }),
        );
    }
    Ok(json!({ "writes": updates.len(), "updates": updates }))
}

fn changed(before: &Value, after: &Value) -> Option<usize> {
    let (before, after) = (before.as_array()?, after.as_array()?);
    before.iter().zip(after).position(|(one, other)| one != other)
}
