//! `secateur lint`: what a provider would reject in a request; with `--fix`, the repaired request.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur_formats::lint::{Finding, fix, lint};
use secateur_formats::{Wire, recorded_body};
use serde::Serialize;

use crate::humanize::{counted, printable};
use crate::logs;
use crate::terminal::{BOLD, RED, print_json};

/// Check a request body for what its provider rejects; with --fix, print it repaired.
///
/// Findings are only what the provider rejects with an error: broken pairs of tool calls and results, empty content,
/// unsigned thinking, too many cache marks, exceeded limits. Exit code 1 if there are findings (with --fix, if any
/// remain).
#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// The request body, or `-` for standard input. Of a recorded `{method, path, headers, body}`, the body is used.
    request: PathBuf,
    /// The provider's wire: anthropic, openai-chat, openai-responses or gemini [default: detected]
    #[arg(long = "as", value_name = "WIRE")]
    wire: Option<Wire>,
    /// Print the body with everything repaired that can be. All other bytes stay as they are.
    #[arg(long)]
    fix: bool,
    /// With --fix: write the repaired body to this file instead.
    #[arg(long, short, value_name = "FILE", requires = "fix")]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct LintReport<'a> {
    file: String,
    wire: Wire,
    valid: bool,
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<&'a [Finding]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

impl LintArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let file = if self.request == Path::new("-") {
            "standard input".to_owned()
        } else {
            self.request.display().to_string()
        };
        if let Some(out) = &self.out {
            logs::refuse_same_file(out, &self.request)?;
        }
        let body = read(&self.request, &file)?;
        let wire = self.wire.or_else(|| Wire::detect(&body)).ok_or_else(|| {
            anyhow!("{file} is not a request in a known wire; name one with --as: anthropic, openai-chat, openai-responses or gemini")
        })?;
        if !self.fix {
            let findings = lint(wire, &body);
            let report = LintReport {
                file,
                wire,
                valid: findings.is_empty(),
                findings: &findings,
                repaired: None,
                body: None,
            };
            self.print(out, &report)?;
            return Ok(code(&findings));
        }
        let fixed = fix(wire, &body);
        if let Some(path) = &self.out {
            logs::write(path, &fixed.body)?;
        }
        let shown = self.out.is_none().then_some(&*fixed.body);
        if self.json {
            let report = LintReport {
                file,
                wire,
                valid: fixed.remaining.is_empty(),
                findings: &fixed.remaining,
                repaired: Some(&fixed.repaired),
                body: shown,
            };
            print_json(out, &report)?;
        } else {
            // Standard output holds only the body.
            out.write_all(shown.unwrap_or_default().as_bytes())?;
            for finding in &fixed.repaired {
                anstream::eprintln!("repaired: {}", line(finding));
            }
            for finding in &fixed.remaining {
                anstream::eprintln!("not repaired: {}", line(finding));
            }
        }
        Ok(code(&fixed.remaining))
    }

    fn print(&self, out: &mut dyn Write, report: &LintReport<'_>) -> Result<()> {
        if self.json {
            print_json(out, report)?;
            return Ok(());
        }
        if report.valid {
            writeln!(out, "{}: {} request, no findings", report.file, report.wire)?;
            return Ok(());
        }
        let count = counted(report.findings.len() as u64, "finding");
        writeln!(out, "{}: {} request, {count}", report.file, report.wire)?;
        for finding in report.findings {
            let label = if finding.fixable { "--fix" } else { "to do" };
            writeln!(out, "\n{}", painted(finding))?;
            writeln!(out, "    {label}: {}", printable(&finding.repair))?;
        }
        Ok(())
    }
}

fn line(finding: &Finding) -> String {
    format!("{} [{}] {}", printable(&finding.path), finding.rule.name(), printable(&finding.message))
}

fn painted(finding: &Finding) -> String {
    let (path, message) = (printable(&finding.path), printable(&finding.message));
    format!("{BOLD}{path}{BOLD:#} {RED}[{}]{RED:#} {message}", finding.rule.name())
}

fn code(findings: &[Finding]) -> ExitCode {
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// The body of a request, from a file or standard input.
fn read(path: &Path, file: &str) -> Result<String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        bytes
    } else {
        if path.is_dir() {
            bail!("{} is a folder; expected the file of a request body", path.display());
        }
        fs::read(path).with_context(|| format!("cannot read {}", path.display()))?
    };
    if let Some(body) = recorded_body(&bytes) {
        return Ok(body);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{file} is not UTF-8 (at byte {at}); expected a JSON request body")
    })
}
