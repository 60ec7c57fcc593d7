//! What was sent for a client last, to be compared with what is sent next: between two decisions the provider's cache must
//! stay valid.

/// What was sent last.
#[derive(Clone, Debug)]
pub(super) struct SentPrefix {
    pub session: String,
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
            // away, or has lost something.
            let is_anew = is_damaged || self.faults != now.faults;
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
