//! What is logged about hooks.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use secateur_engine::hooks::{HookError, HookMoment};
use tracing::field::{Field, Visit};
use tracing::span;

use super::rounds::{Fixed, context};
use super::{call, list, shell};

/// Records the log, with every field.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0.lock().unwrap(), " {}={value:?}", field.name()).unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("secateur_engine")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        write!(self.0.lock().unwrap(), "\n{}", event.metadata().level()).unwrap();
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn the_log_names_the_hook_and_the_failure_but_no_contents() {
    let log = Log::default();
    let logging = tracing::subscriber::set_default(log.clone());
    let nonsense = shell(r#"printf 'odd\033 thing\nsecond\n' >&2; echo '{"veto": ["hunter2"]}'"#);
    let hooks = [
        nonsense.build().unwrap(),
        Arc::new(Fixed("own", || Err(HookError::own("hunter2")))),
        Arc::new(Fixed("fine", || Ok(context(&["hunter2"])))),
    ];
    list(hooks).ask(call(HookMoment::BeforeCompaction)).await;
    drop(logging);
    let log = log.0.lock().unwrap().clone();
    let lines: Vec<_> = log.trim().lines().collect();
    let [complaint, script, own] = lines[..] else { panic!("{log}") };
    assert!(
        complaint.starts_with("DEBUG ") && complaint.contains("bytes=18 first=\"odd thing\""),
        "{complaint}"
    );
    assert!(
        script.starts_with("WARN ") && script.contains("hook=\"script\" moment=before_compaction"),
        "{script}"
    );
    assert!(
        own.starts_with("WARN ") && own.contains("hook=\"own\"") && own.contains("the hook failed"),
        "{own}"
    );
    for secret in ["hunter2", "second", "parser", "ses_1"] {
        assert!(!log.contains(secret), "{log}");
    }
}
