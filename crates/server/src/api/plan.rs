//! What a session's profile would do about it now, and why.

use axum::Json;
use axum::extract::State;
use secateur::{Outline, PartIx, Plan as Decision, Verdict as Judgement};
use secateur_engine::Session;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::outline::{Deed, name};
use super::page::{Numbered, Page};
use super::params::{Asked, At};
use super::problem::{Problem, Problems};
use super::{Desk, word};

/// What would be cut if a request were wanted now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Plan {
    /// When that is, in milliseconds since 1970.
    now: i64,
    /// The name of the profile.
    profile: String,
    /// The model that was last asked; empty if none was.
    model: String,
    /// Estimated tokens of the next request without these cuts.
    tokens: i64,
    /// What is usable of the model's window, in tokens; null if the window is not known.
    #[schema(required)]
    usable: Option<i64>,
    /// What the numbers below count: `tokens` or `characters`.
    scale: String,
    /// What was weighed,
    before: u64,
    /// and what would be left of it.
    after: u64,
    /// What could be cut, whether or not it is.
    candidates: u64,
    /// The cuts, oldest first.
    cuts: Vec<Planned>,
    /// Why there is no cut: `why` in a word, and the numbers behind it. Null if there are cuts.
    #[schema(required, value_type = Option<Object>)]
    idle: Option<Value>,
}

/// A cut that would be made.
#[derive(Debug, Serialize, ToSchema)]
struct Planned {
    /// The part, as it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    /// The tool whose result it is.
    #[schema(required)]
    tool: Option<String>,
    #[serde(flatten)]
    deed: Deed,
    /// Why, in a word such as `rent` or `cache-cold`.
    reason: String,
    /// What it weighs,
    before: u64,
    /// and what would be left of it.
    after: u64,
}

/// What becomes of a part, and why.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Verdict {
    /// Its place among the parts that a model is sent, from 1 on.
    number: u64,
    /// Its name, by which it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    /// What it is.
    kind: String,
    /// The tool, for a call or a result.
    #[schema(required)]
    tool: Option<String>,
    /// What becomes of it.
    verdict: Fate,
    /// Why, in a word.
    reason: String,
}

/// What becomes of a part.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    Cut,
    Kept,
}

/// A session with what would be done about it.
struct Look {
    session: Session,
    plan: Decision,
    memory: secateur::Memory,
    now: i64,
}

impl Look {
    async fn at(desk: &Desk, id: &str) -> Result<Self, Problem> {
        let session = desk.engine.view(id).await?;
        let now = desk.engine.now();
        let (plan, memory) = session.plan(now);
        Ok(Self { session, plan, memory, now })
    }

    fn outline(&self) -> &Outline {
        self.session.live_messages().outline()
    }

    fn name(&self, part: PartIx) -> String {
        let place = self.session.live_messages().locate(part);
        place.map(|(message, part)| name(message, part)).unwrap_or_default()
    }

    fn tool(&self, part: PartIx) -> Option<String> {
        self.outline().tool(part).map(str::to_owned)
    }

    fn cut(&self, cut: &secateur::Cut) -> Planned {
        Planned {
            name: self.name(cut.part),
            tool: self.tool(cut.part),
            deed: cut.action.into(),
            reason: word(cut.reason),
            before: cut.before,
            after: cut.after,
        }
    }

    fn verdict(&self, part: PartIx) -> Verdict {
        let policy = &self.session.profile().policy;
        let (verdict, reason) = match policy.verdict(self.outline(), &self.memory, &self.plan, part) {
            Judgement::Cut(cut) => (Fate::Cut, word(cut.reason)),
            Judgement::Kept(keep) => (Fate::Kept, word(keep)),
        };
        Verdict {
            number: u64::from(part.0) + 1,
            name: self.name(part),
            kind: word(self.outline().kind(part)),
            tool: self.tool(part),
            verdict,
            reason,
        }
    }
}

/// What the session's profile would cut if a request were wanted now. Nothing is done.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/plan",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id.")),
    responses((status = 200, body = Plan, description = "The plan."), Problems)
)]
pub(super) async fn plan(State(desk): State<Desk>, At(id): At<String>) -> Result<Json<Plan>, Problem> {
    let look = Look::at(&desk, &id).await?;
    let totals = look.plan.totals;
    Ok(Json(Plan {
        now: look.now,
        profile: look.session.profile().name.clone(),
        model: look.session.state().request.model.clone(),
        tokens: look.session.tokens(),
        usable: look.session.usable(),
        scale: word(totals.scale),
        before: totals.before,
        after: totals.after,
        candidates: totals.candidates,
        cuts: look.plan.cuts.iter().map(|cut| look.cut(cut)).collect(),
        idle: look.plan.idle.and_then(|idle| serde_json::to_value(idle).ok()),
    }))
}

/// What the plan says about every part that a model is sent, oldest first. `after` counts parts.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/verdicts",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id."), Numbered),
    responses((status = 200, body = Page<Verdict>, description = "A part of the verdicts."), Problems)
)]
pub(super) async fn verdicts(
    State(desk): State<Desk>,
    At(id): At<String>,
    Asked(asked): Asked<Numbered>,
) -> Result<Json<Page<Verdict>>, Problem> {
    let (limit, after) = (asked.limit()?, usize::try_from(asked.after()?).unwrap_or(usize::MAX));
    let look = Look::at(&desk, &id).await?;
    let parts = look.outline().parts().skip(after).take(limit + 1);
    let rows = parts.map(|part| look.verdict(part)).collect();
    Ok(Json(Page::of(rows, limit, |row: &Verdict| row.number.to_string())))
}
