//! Everything that this process logs. There is one subscriber in a process, so that all its tests share the log.

use std::io::Write;
use std::sync::{Mutex, OnceLock};

use tracing::Level;
use tracing::subscriber::set_global_default;

/// What was logged by any test of this process, at every level.
#[derive(Default)]
pub(crate) struct ProcessLog(Mutex<Vec<u8>>);

impl ProcessLog {
    /// The log; the first call starts it.
    pub(crate) fn start() -> &'static Self {
        static LOG: OnceLock<ProcessLog> = OnceLock::new();
        static STARTED: OnceLock<()> = OnceLock::new();
        let log = LOG.get_or_init(Self::default);
        STARTED.get_or_init(|| {
            let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
            set_global_default(subscriber.with_writer(move || log).finish()).unwrap();
        });
        log
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for &ProcessLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
