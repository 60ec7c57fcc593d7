//! What the profile of a session would cut now, and why.

use axum::Json;
use axum::extract::State;
use secateur::{Outline, PartIx, Plan, Verdict};
use secateur_engine::Session;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::outline::{CutEffect, name};
use super::page::{Page, PageQuery};
use super::params::{PathParams, QueryParams};
use super::problem::{ApiProblem, Problems};
use super::{ApiState, word};

/// What would be cut if a request were made now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
pub(super) struct PlanItem {
    /// The current time, in milliseconds since 1970.
    now: i64,
    /// The name of the profile.
    profile: String,
    /// The model of the last request; empty if there was none.
    model: String,
    /// Estimated tokens of the next request without these cuts.
    tokens: i64,
    /// What is usable of the model's window, in tokens; null if the window is unknown.
    #[schema(required)]
    usable: Option<i64>,
    /// The unit of the numbers below: `tokens` or `characters`.
    scale: String,
    /// The size of what was considered,
    before: u64,
    /// and what would be left of it.
    after: u64,
    /// The size of what could be cut, whether or not it is.
    candidates: u64,
    /// The cuts, oldest first.
    cuts: Vec<PlannedCut>,
    /// Why there is no cut: a word in `why`, and the numbers behind it. Null if there are cuts.
    #[schema(required, value_type = Option<Object>)]
    idle: Option<Value>,
}

/// A cut that would be made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Planned)]
struct PlannedCut {
    /// The name of the part, by which it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    /// The tool whose result it is.
    #[schema(required)]
    tool: Option<String>,
    #[serde(flatten)]
    deed: CutEffect,
    /// The reason, such as `rent` or `cache-cold`.
    reason: String,
    /// Its size,
    before: u64,
    /// and what would be left of it.
    after: u64,
}

/// Whether a part would be cut, and why.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verdict)]
pub(super) struct VerdictItem {
    /// Its place among the parts that are sent, from 1 on.
    number: u64,
    /// Its name, by which it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    /// Its kind.
    kind: String,
    /// The tool, for a call or a result.
    #[schema(required)]
    tool: Option<String>,
    /// Whether it would be cut.
    verdict: Fate,
    /// The reason.
    reason: String,
}

/// Whether a part would be cut.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    Cut,
    Kept,
}

/// A session with its plan.
struct PlannedSession {
    session: Session,
    plan: Plan,
    memory: secateur::Memory,
    now: i64,
}

impl PlannedSession {
    async fn load(state: &ApiState, id: &str) -> Result<Self, ApiProblem> {
        let session = state.engine.view(id).await?;
        let now = state.engine.now();
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

    fn cut(&self, cut: &secateur::Cut) -> PlannedCut {
        PlannedCut {
            name: self.name(cut.part),
            tool: self.tool(cut.part),
            deed: cut.action.into(),
            reason: word(cut.reason),
            before: cut.before,
            after: cut.after,
        }
    }

    fn verdict(&self, part: PartIx) -> VerdictItem {
        let policy = &self.session.profile().policy;
        let (verdict, reason) = match policy.verdict(self.outline(), &self.memory, &self.plan, part) {
            Verdict::Cut(cut) => (Fate::Cut, word(cut.reason)),
            Verdict::Kept(keep) => (Fate::Kept, word(keep)),
        };
        VerdictItem {
            number: u64::from(part.0) + 1,
            name: self.name(part),
            kind: word(self.outline().kind(part)),
            tool: self.tool(part),
            verdict,
            reason,
        }
    }
}

/// What the profile of a session would cut if a request were made now. Nothing is changed.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/plan",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id.")),
    responses((status = 200, body = PlanItem, description = "The plan."), Problems)
)]
pub(super) async fn plan(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
) -> Result<Json<PlanItem>, ApiProblem> {
    let planned = PlannedSession::load(&state, &id).await?;
    let totals = planned.plan.totals;
    Ok(Json(PlanItem {
        now: planned.now,
        profile: planned.session.profile().name.clone(),
        model: planned.session.state().request.model.clone(),
        tokens: planned.session.tokens(),
        usable: planned.session.usable(),
        scale: word(totals.scale),
        before: totals.before,
        after: totals.after,
        candidates: totals.candidates,
        cuts: planned.plan.cuts.iter().map(|cut| planned.cut(cut)).collect(),
        idle: planned.plan.idle.and_then(|idle| serde_json::to_value(idle).ok()),
    }))
}

/// What the plan says about every part that is sent, oldest first. `after` counts parts.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/verdicts",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id."), PageQuery),
    responses((status = 200, body = Page<VerdictItem>, description = "A part of the verdicts."), Problems)
)]
pub(super) async fn verdicts(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
    QueryParams(asked): QueryParams<PageQuery>,
) -> Result<Json<Page<VerdictItem>>, ApiProblem> {
    let (limit, after) = (asked.limit()?, usize::try_from(asked.after()?).unwrap_or(usize::MAX));
    let planned = PlannedSession::load(&state, &id).await?;
    let parts = planned.outline().parts().skip(after).take(limit + 1);
    let rows = parts.map(|part| planned.verdict(part)).collect();
    Ok(Json(Page::of(rows, limit, |row: &VerdictItem| row.number.to_string())))
}
