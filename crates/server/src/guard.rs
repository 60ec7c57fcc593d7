//! Work that must never keep a request from being answered.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;

/// Does the work; if it panics or takes too long, says in a word what went wrong.
pub(crate) async fn guard<T>(work: impl Future<Output = T>, most: Duration) -> Result<T, &'static str> {
    match timeout(most, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => {
            tracing::error!("a conversation could not be worked on; its request goes on as it came");
            Err("internal")
        }
        Err(_) => {
            tracing::error!(after = ?most, "work on a conversation did not end; its request goes on as it came");
            Err("slow")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn work_that_panics_or_never_ends_is_given_up() {
        let long = Duration::from_secs(3600);
        assert_eq!(guard(ready(1), long).await, Ok(1));
        let panicking = async {
            tokio::task::yield_now().await;
            "no number".parse::<u32>().unwrap()
        };
        assert_eq!(guard(panicking, long).await, Err("internal"));
        assert_eq!(guard(pending::<()>(), Duration::ZERO).await, Err("slow"));
    }
}
