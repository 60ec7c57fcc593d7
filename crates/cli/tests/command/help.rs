//! The command's reference, as it prints it itself.

use super::secateur;

#[test]
fn the_reference_is_what_the_command_prints() {
    let mut reference = secateur(&["--help"]).out;
    for command in [
        "serve", "run", "doctor", "status", "demo", "prune", "explain", "inspect", "scan", "report",
        "context", "convert", "lint", "profiles", "config", "overflow", "compact", "session", "recall",
        "mcp",
    ] {
        reference.push_str(&format!("\n---- secateur {command}\n\n{}", secateur(&[command, "--help"]).out));
    }
    for command in [
        "new", "append", "context", "settle", "compact", "undo", "redo", "recall", "events", "list", "forget",
    ] {
        let help = secateur(&["session", command, "--help"]).out;
        reference.push_str(&format!("\n---- secateur session {command}\n\n{help}"));
    }
    insta::assert_snapshot!("reference", reference);
}
