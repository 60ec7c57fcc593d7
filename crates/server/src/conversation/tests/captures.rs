//! Requests that real clients sent, if a folder of them is at hand.

use std::path::Path;

use serde_json::Value;

use super::agent::{process, send};
use crate::outcome::PassReason;
use crate::route::Route;

/// Whatever is not cut passes as it is.
#[tokio::test]
async fn recorded_requests_pass_as_they_are() {
    let Ok(folder) = std::env::var("SECATEUR_CAPTURES") else { return };
    let mut count = 0;
    for client in
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let conversations = process("sqlite::memory:", 1_000_000).await;
        for path in files(&client) {
            let recorded: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let address = recorded["path"].as_str().unwrap().split('?').next().unwrap();
            let Some((wire, kind)) = Route::of(address, &http::HeaderMap::new()).conversation else {
                continue;
            };
            let body = recorded["body"].as_str().unwrap();
            let sent = send(&conversations, wire, kind, body).await;
            assert_ne!(
                sent.report.reason,
                Some(PassReason::Internal),
                "{}: {:?}",
                path.display(),
                sent.report
            );
            if sent.report.cuts + sent.report.replaced == 0 {
                assert_eq!(sent.body, body, "{}", path.display());
            }
            sent.answer().await;
            count += 1;
        }
        let sessions = conversations.engine.sessions(999).await.unwrap().len();
        println!("{}: {sessions} sessions", client.file_name().unwrap().display());
    }
    assert!(count > 0);
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
