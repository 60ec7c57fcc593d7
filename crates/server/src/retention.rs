//! Deletes sessions that are not used any more, while the proxy runs.

use std::time::Duration;

use secateur_engine::{Retention, RetentionLimits, RetentionStep};

use crate::metrics::Metrics;
use crate::tenants::Tenants;

/// The pause between two steps, so that requests come first.
const PAUSE: Duration = Duration::from_millis(50);

/// The pause after there was nothing to do, or after a failure.
const REST: Duration = Duration::from_secs(5 * 60);

/// Applies retention to the sessions of all tenants until the future is dropped. Sessions that a branch in memory uses
/// stay.
pub(crate) async fn apply_retention(tenants: &Tenants, limits: RetentionLimits, metrics: &Metrics) {
    if limits.is_off() {
        return std::future::pending().await;
    }
    let mut retention = Retention::new(tenants.operator(), limits);
    let release = |session: &str| tenants.all().all(|(_, parts)| parts.conversations.release(session));
    loop {
        let pause = match retention.step(&release).await {
            Ok(RetentionStep::Worked(swept)) => {
                metrics.count_deleted(swept.sessions, swept.bytes);
                PAUSE
            }
            Ok(RetentionStep::Rested) => REST,
            Err(error) => {
                tracing::warn!(%error, "sessions not deleted");
                REST
            }
        };
        tokio::time::sleep(pause).await;
    }
}
