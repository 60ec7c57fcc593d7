//! How well does the calibrated meter predict the next context? Measured on real sessions.
//!
//! `cargo run --release -p secateur-formats --example calibration -- FILE…`
//!
//! Goes through the model calls of each session in order. Before each call the tokens of its context are predicted,
//! by the calibrated meter from what earlier calls reported, and by dividing all characters by four; then the
//! provider's own report is taken in. Printed are the median and the 90th percentile of the relative errors.

use secateur::{Calibration, Measures, Outline, PartIx, PartKind};
use secateur_formats::read;

fn main() {
    let mut pooled = Errors::default();
    println!(
        "{:<52} {:>6} {:>22} {:>22}",
        "session", "calls", "calibrated, median/p90", "chars/4, median/p90"
    );
    for file in std::env::args().skip(1) {
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        match read(&bytes, &Measures::default()) {
            Ok(transcript) => {
                let errors = Errors::of(&transcript.outline);
                let name: String = file.rsplit('/').next().unwrap_or(&file).chars().take(52).collect();
                errors.print(&name);
                pooled.calibrated.extend(errors.calibrated);
                pooled.quartered.extend(errors.quartered);
            }
            Err(error) => eprintln!("{file}: {error}"),
        }
    }
    pooled.print("all");
}

/// Relative errors of the two ways to predict.
#[derive(Default)]
struct Errors {
    calibrated: Vec<f64>,
    quartered: Vec<f64>,
}

impl Errors {
    fn of(outline: &Outline) -> Self {
        let mut errors = Self::default();
        let mut calibration = Calibration::default();
        let (mut chars, mut next) = (0, 0);
        for call in outline.model_calls() {
            let Ok(reported) = u64::try_from(call.usage.context()) else { continue };
            if reported == 0 {
                continue;
            }
            let end = outline.parts_of(call.message).start;
            chars += (next..end).map(|part| sent(outline, PartIx(part))).sum::<u64>();
            next = next.max(end);
            let error = |predicted: u64| (predicted as f64 - reported as f64).abs() / reported as f64;
            // The first call has nothing to be predicted from.
            if calibration != Calibration::default() {
                errors.calibrated.push(error(calibration.predict(chars)));
                errors.quartered.push(error(chars.div_ceil(4)));
            }
            calibration.observe(chars, reported);
        }
        errors
    }

    fn print(&self, name: &str) {
        let figures = |errors: &[f64]| {
            let at = |share: f64| quantile(errors, share) * 100.0;
            format!("{:>8.2} % /{:>8.2} %", at(0.5), at(0.9))
        };
        println!(
            "{name:<52} {:>6} {:>22} {:>22}",
            self.calibrated.len(),
            figures(&self.calibrated),
            figures(&self.quartered)
        );
    }
}

/// Characters of a part that go to the model.
fn sent(outline: &Outline, part: PartIx) -> u64 {
    match outline.kind(part) {
        PartKind::Text | PartKind::Reasoning | PartKind::Call => outline.units(part),
        PartKind::Result if outline.is_cut(part) => 33,
        PartKind::Result => outline.units(part),
        _ => 0,
    }
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
