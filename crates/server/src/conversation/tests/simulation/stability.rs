//! What was sent for a client last, to be compared with what is sent next: between two decisions the provider's cache must
//! stay valid.

use std::time::Duration;

use tokio::time::Instant;

/// How long it takes at most to store what a response added. Until then another process does not know to which of several
/// branches a request belongs.
const SETTLING: Duration = Duration::from_secs(2);

/// What was sent last.
#[derive(Clone, Debug)]
pub(super) struct SentPrefix {
    pub session: String,
    /// The number of the process that sent it.
    pub process: u64,
    pub began: Instant,
    pub ended: Instant,
    /// The newest operation of the session then, and how many were undone.
    pub operations: (u64, usize),
    /// The faults of the store until then.
    pub faults: u64,
    /// The messages, as they were sent.
    pub messages: Vec<String>,
}

impl SentPrefix {
    /// Fails if what is sent now begins differently although nothing was decided meanwhile.
    pub(super) fn check(&self, now: &SentPrefix, is_damaged: bool) -> Result<(), String> {
        if self.session != now.session {
            // A fork has all operations of the session that it is from. A conversation begins anew only if the store is
            // away, or has lost something, or if the client was faster at another process than what was to be stored.
            let is_early = self.process != now.process && now.began - self.ended < SETTLING;
            let is_anew = is_damaged || self.faults != now.faults || is_early;
            if !is_anew && now.operations.0 < self.operations.0 {
                return Err(format!(
                    "the decisions of session {} are lost: session {} has {:?} operations, not {:?}",
                    self.session, now.session, now.operations, self.operations
                ));
            }
            return Ok(());
        }
        if self.operations != now.operations {
            return Ok(());
        }
        let same = self.messages.iter().zip(&now.messages).take_while(|(one, other)| one == other).count();
        if same == self.messages.len() {
            return Ok(());
        }
        Err(format!(
            "message {same} of {} changed without a decision in session {}:\n  before: {:?}\n  now:    {:?}",
            self.messages.len(),
            self.session,
            self.messages.get(same),
            now.messages.get(same)
        ))
    }
}
