//! Work on conversations that must never keep a request from being answered.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;

use crate::http::socket::Disconnect;
use crate::outcome::PassReason;

/// Does the work. If it panics or takes too long, returns why the request is passed through.
pub(super) async fn guard<T>(work: impl Future<Output = T>, limit: Duration) -> Result<T, PassReason> {
    match timeout(limit, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => {
            tracing::error!("panic while a conversation was managed; its request is passed through");
            Err(PassReason::Internal)
        }
        Err(_) => {
            tracing::error!(after = ?limit, "managing a conversation took too long; its request is passed through");
            Err(PassReason::Slow)
        }
    }
}

/// Does the work to its end, whether the client waits or not: half of it might be worse than none. None if the client
/// disconnected meanwhile.
pub(super) async fn finish_unless_gone<T>(
    work: impl Future<Output = T>,
    disconnect: &mut Option<Disconnect>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut is_gone = false;
    let done = poll_fn(|cx| {
        let done = work.as_mut().poll(cx);
        if done.is_pending()
            && !is_gone
            && disconnect.as_mut().is_some_and(|disconnect| disconnect.as_mut().poll(cx).is_ready())
        {
            is_gone = true;
        }
        done
    })
    .await;
    (!is_gone).then_some(done)
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
        assert_eq!(guard(panicking, long).await, Err(PassReason::Internal));
        assert_eq!(guard(pending::<()>(), Duration::ZERO).await, Err(PassReason::Slow));
    }
}
