//! The command's reference, as it prints it itself.

use super::secateur;

#[test]
fn the_reference_is_what_the_command_prints() {
    let mut reference = secateur(&["--help"]).out;
    for command in [
        "demo", "prune", "explain", "inspect", "scan", "report", "context", "convert", "lint", "profiles",
        "config", "overflow", "conform",
    ] {
        reference.push_str(&format!("\n---- secateur {command}\n\n{}", secateur(&[command, "--help"]).out));
    }
    insta::assert_snapshot!("reference", reference);
}
