//! Work that must never keep a request from being answered.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::timeout;

use crate::http::response_body::Watch;

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

/// Does the work to its end, whether the client waits or not: half of it might be worse than none. None if the client
/// is gone by then.
pub(crate) async fn unless_gone<T>(work: impl Future<Output = T>, watch: &mut Option<Watch>) -> Option<T> {
    let mut work = pin!(work);
    let mut is_gone = false;
    let done = poll_fn(|cx| {
        let done = work.as_mut().poll(cx);
        if done.is_pending()
            && !is_gone
            && watch.as_mut().is_some_and(|watch| watch.as_mut().poll(cx).is_ready())
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
        assert_eq!(guard(panicking, long).await, Err("internal"));
        assert_eq!(guard(pending::<()>(), Duration::ZERO).await, Err("slow"));
    }
}
