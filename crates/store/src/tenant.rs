//! Tenants: whose sessions a store shows.
//!
//! A store is opened for the tenant with the empty name, the user of the machine. [`Store::scoped`] gives a view for
//! another tenant on the same connections. A view shows and changes the sessions of its tenant only; those of others do
//! not exist for it. Nothing is shared below it either: a body's key ends with its tenant, and the words of what was cut
//! begin with a mark of the tenant, so no lookup even meets rows of others.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use crate::Store;
use crate::clipping::{Clipping, ClippingSearch};
use crate::error::StoreError;
use crate::record::{
    Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease, Loaded, NewSession,
    OperationRow, SessionCursor, SessionRow, StoredMessage,
};
use crate::retention::{RetentionStore, Swept};

/// The longest name of a tenant.
const LONGEST_NAME: usize = 64;

/// The tenant of a machine's own user.
pub const LOCAL_TENANT: &str = "";

/// Whose sessions a view of a store shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantScope {
    /// Those of one tenant.
    One(String),
    /// Those of all tenants, for the operator. New sessions belong to [`LOCAL_TENANT`].
    All,
}

/// Whether a text can be the name of a tenant: 1 to 64 letters, digits, or characters of `-._@`.
///
/// ```
/// assert!(secateur_store::is_tenant_name("anna@example.org"));
/// assert!(!secateur_store::is_tenant_name("*"));
/// ```
pub fn is_tenant_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-._@".contains(&byte);
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_fit)
}

/// A session's id with its tenant, by which it is looked up.
#[derive(Clone, Debug)]
pub(crate) struct SessionName {
    pub(crate) tenant: String,
    pub(crate) id: String,
}

/// What the words of a tenant begin with in the search index; empty for the machine's user. It is short, so two tenants may
/// have the same one: it keeps lookups apart, and the tenant's name decides what is found.
pub(crate) fn word_mark(tenant: &str) -> String {
    let mut mark = String::new();
    if tenant != LOCAL_TENANT {
        for byte in Sha256::digest(tenant).iter().take(4) {
            let _ = write!(mark, "{byte:02x}");
        }
    }
    mark
}

/// A database that has a view for each tenant.
#[async_trait]
pub(crate) trait TenantViews: Send + Sync {
    /// The key of the store's handles.
    fn handle_key(&self) -> Option<[u8; 32]>;

    /// The view of a tenant.
    fn view(&self, tenant: &str) -> Arc<dyn Store>;

    /// The tenants that have sessions.
    async fn tenants(&self) -> Result<Vec<String>, StoreError>;

    /// The tenant of a session; [`StoreError::NoSession`] if it does not exist.
    async fn tenant_of(&self, id: &str) -> Result<String, StoreError>;
}

/// The view of the operator. It asks the view of each tenant in turn, so every statement is for one tenant. That costs
/// more with more tenants, but only operators use it.
pub(crate) struct AllTenants {
    views: Arc<dyn TenantViews>,
}

impl AllTenants {
    pub(crate) fn new(views: Arc<dyn TenantViews>) -> Self {
        Self { views }
    }

    /// The view of the tenant that a session belongs to.
    async fn of(&self, id: &str) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.views.view(&self.views.tenant_of(id).await?))
    }

    async fn each(&self) -> Result<Vec<Arc<dyn Store>>, StoreError> {
        Ok(self.views.tenants().await?.iter().map(|tenant| self.views.view(tenant)).collect())
    }
}

/// The newest sessions of several lists.
fn newest(mut sessions: Vec<SessionRow>, limit: usize) -> Vec<SessionRow> {
    sessions.sort_by(|one, other| (other.updated, &other.id).cmp(&(one.updated, &one.id)));
    sessions.truncate(limit);
    sessions
}

/// Implements methods by calls of the view of the session's tenant.
macro_rules! by_session {
    ($($name:ident($id:ident $(, $argument:ident: $type:ty)*) -> $output:ty;)+) => {
        #[async_trait]
        impl Store for AllTenants {
            fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
                match scope {
                    TenantScope::One(tenant) => self.views.view(&tenant),
                    TenantScope::All => Arc::new(Self::new(Arc::clone(&self.views))),
                }
            }

            $(async fn $name(&self, $id: &str $(, $argument: $type)*) -> Result<$output, StoreError> {
                self.of($id).await?.$name($id $(, $argument)*).await
            })+

            fn handle_key(&self) -> Option<[u8; 32]> {
                self.views.handle_key()
            }

            async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
                self.views.view(LOCAL_TENANT).create(session).await
            }

            async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
                let mut sessions = Vec::new();
                for view in self.each().await? {
                    sessions.extend(view.sessions(limit).await?);
                }
                Ok(newest(sessions, limit))
            }

            async fn sessions_after(
                &self,
                cursor: &SessionCursor,
                limit: usize,
            ) -> Result<Vec<SessionRow>, StoreError> {
                let mut sessions = Vec::new();
                for view in self.each().await? {
                    sessions.extend(view.sessions_after(cursor, limit).await?);
                }
                Ok(newest(sessions, limit))
            }

            async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
                let mut found = Vec::new();
                for view in self.each().await? {
                    found.extend(view.find(ids).await?);
                }
                found.sort_by(|one, other| {
                    (other.updated, &one.session, one.seq).cmp(&(one.updated, &other.session, other.seq))
                });
                found.truncate(crate::MOST_FOUND);
                Ok(found)
            }

            async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
                match self.of(session).await {
                    Ok(view) => view.find_in(session, ids).await,
                    Err(StoreError::NoSession { .. }) => Ok(Vec::new()),
                    Err(error) => Err(error),
                }
            }

            async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
                let mut found = Vec::new();
                for view in self.each().await? {
                    found.extend(view.clippings(handle).await?);
                }
                found.truncate(crate::MOST_FOUND);
                Ok(found)
            }

            async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
                if let Some(session) = &search.session {
                    return self.of(session).await?.search(search).await;
                }
                let mut found = Vec::new();
                for view in self.each().await? {
                    found.extend(view.search(search.clone()).await?);
                }
                found.sort_by(|one, other| (other.time, other.seq).cmp(&(one.time, one.seq)));
                found.truncate(search.limit);
                Ok(found)
            }

            async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
                match self.of(id).await {
                    Ok(view) => view.release(id, owner).await,
                    Err(StoreError::NoSession { .. }) => Ok(()),
                    Err(error) => Err(error),
                }
            }

            async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError> {
                match self.of(id).await {
                    Ok(view) => view.touch(id, time).await,
                    Err(StoreError::NoSession { .. }) => Ok(()),
                    Err(error) => Err(error),
                }
            }

            async fn check_writable(&self) -> Result<(), StoreError> {
                self.views.view(LOCAL_TENANT).check_writable().await
            }

            async fn shrink(&self) -> Result<(), StoreError> {
                self.views.view(LOCAL_TENANT).shrink().await
            }

            fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
                Ok(self)
            }
        }
    };
}

by_session! {
    session(id) -> SessionRow;
    load(id) -> Loaded;
    commit(id, commit: Commit) -> Committed;
    fork(id, fork: Fork) -> SessionRow;
    originals(id, seqs: &[u64]) -> Vec<Option<Vec<u8>>>;
    facts(id, after: u64, limit: usize) -> Vec<StoredMessage>;
    messages(id, from: u64, to: u64) -> Vec<StoredMessage>;
    operations(id, after: u64, limit: usize) -> Vec<OperationRow>;
    events(id, after: u64, limit: usize) -> Vec<EventRow>;
    lease(id, owner: &str, ttl_ms: u64) -> Option<Lease>;
    forget(id, forget: Forget) -> Forgotten;
}

#[async_trait]
impl RetentionStore for AllTenants {
    async fn claim(&self, owner: &str, ttl_ms: u64) -> Result<bool, StoreError> {
        self.views.view(LOCAL_TENANT).retention()?.claim(owner, ttl_ms).await
    }

    async fn unused(
        &self,
        before: i64,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Vec<SessionCursor>, StoreError> {
        let mut found = Vec::new();
        for view in self.each().await? {
            found.extend(view.retention()?.unused(before, after, limit).await?);
        }
        found.sort_by(|one, other| (one.updated, &one.id).cmp(&(other.updated, &other.id)));
        found.truncate(limit);
        Ok(found)
    }

    async fn delete(&self, id: &str, before: i64) -> Result<bool, StoreError> {
        self.of(id).await?.retention()?.delete(id, before).await
    }

    async fn sweep(&self, rows: usize) -> Result<Swept, StoreError> {
        self.views.view(LOCAL_TENANT).retention()?.sweep(rows).await
    }

    async fn size(&self) -> Result<u64, StoreError> {
        self.views.view(LOCAL_TENANT).retention()?.size().await
    }

    async fn tenant_sizes(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.views.view(LOCAL_TENANT).retention()?.tenant_sizes().await
    }

    async fn give_back(&self) -> Result<bool, StoreError> {
        self.views.view(LOCAL_TENANT).retention()?.give_back().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tenants_are_short_and_plain() {
        for name in ["a", "Anna", "team-1", "anna@example.org", &"x".repeat(64)] {
            assert!(is_tenant_name(name), "{name}");
        }
        for name in ["", "*", "a b", "ä", "a/b", "a\0", "a'", &"x".repeat(65)] {
            assert!(!is_tenant_name(name), "{name}");
        }
    }

    #[test]
    fn only_the_machines_user_has_plain_words() {
        assert_eq!(word_mark(LOCAL_TENANT), "");
        assert_eq!(word_mark("anna").len(), 8);
        assert_ne!(word_mark("anna"), word_mark("bert"));
    }
}
