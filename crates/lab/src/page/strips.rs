//! The strips: what a policy costs in each session.
//!
//! A sum over sessions hides that a policy may be fine in most and dear in a few. Here every session is a dot, as large
//! as what it costs without pruning, beside what they give together. Places are shares of the width, so that a strip
//! fits wherever it stands.

use std::fmt::Write;

use super::views::{View, is_own};
use super::words::{escaped, fixed, percent, step};

/// Where all strips of a view begin and end, in percent of the cost without pruning.
struct Scale {
    low: f64,
    high: f64,
}

/// Beyond these, dots are at the edge: a few extremes would press all others together.
const LOWEST: f64 = 40.0;
const HIGHEST: f64 = 180.0;

/// How large dots are: the smallest, and what comes on top for the dearest session.
const SMALLEST: f64 = 1.8;
const LARGER: f64 = 4.2;

impl Scale {
    /// Where a share stands, in percent of the width.
    fn at(&self, share: f64) -> f64 {
        2.0 + 96.0 * ((share - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// The strips of a view, as a table with pictures in it.
pub(super) fn strips(view: &View<'_>) -> String {
    let mut shares: Vec<Vec<f64>> = Vec::with_capacity(view.rows.len());
    for index in 0..view.rows.len() {
        let costs =
            view.cases.iter().filter_map(|case| Some((case.by_policy.get(index)?.cost, case.none.cost)));
        shares.push(costs.map(|(cost, none)| 100.0 * cost / none).collect());
    }
    let all = || shares.iter().flatten().copied().filter(|share| share.is_finite());
    let scale = Scale {
        low: ((all().fold(100.0, f64::min) / 10.0).floor() * 10.0).clamp(LOWEST, 90.0),
        high: ((all().fold(100.0, f64::max) / 10.0).ceil() * 10.0).clamp(110.0, HIGHEST),
    };
    let mut html = format!(
        "<table class=\"strips\"><thead><tr><th scope=\"col\">Policy</th><th scope=\"col\" class=\"strip\">\
         <span class=\"hidden\">Sessions</span>{}</th><th scope=\"col\" class=\"number\">SplitUnit</th>\
         <th scope=\"col\" class=\"number extra\">95 % interval</th><th scope=\"col\" class=\"number extra\">Median</th>\
         </tr></thead><tbody>",
        axis(&scale)
    );
    let mut strips: Vec<_> = view.rows.iter().zip(&shares).collect();
    strips.sort_by(|(a, _), (b, _)| b.cost_pct.total_cmp(&a.cost_pct));
    for (row, shares) in strips {
        let class = if is_own(&row.policy) { " class=\"own\"" } else { "" };
        let (low, high) = row.cost_interval;
        let middle = median(shares);
        _ = write!(html, "<tr{class}><th scope=\"row\">{}</th><td class=\"strip\">", escaped(&row.policy));
        _ = write!(
            html,
            "<svg role=\"img\" aria-label=\"{} sessions from {} to {}\">",
            shares.len(),
            percent(shares.iter().copied().fold(f64::INFINITY, f64::min), 0),
            percent(shares.iter().copied().fold(f64::NEG_INFINITY, f64::max), 0)
        );
        grid(&mut html, &scale);
        dots(&mut html, &scale, view, shares);
        if middle.is_finite() {
            let at = scale.at(middle);
            _ = write!(html, "<line class=\"median\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"3\" y2=\"21\"/>");
        }
        if low.is_finite() && high.is_finite() {
            let (from, to, at) = (scale.at(low), scale.at(high), scale.at(row.cost_pct));
            _ = write!(
                html,
                "<rect class=\"interval\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"26.5\" height=\"3\"/>\
                 <circle class=\"together\" cx=\"{at:.2}%\" cy=\"28\" r=\"4\"/>",
                (to - from).max(0.2)
            );
        }
        _ = write!(
            html,
            "</svg></td><td class=\"number\">{}</td><td class=\"number extra\">{} – {}</td>\
             <td class=\"number extra\">{}</td></tr>",
            fixed(row.cost_pct, 1),
            fixed(low, 1),
            fixed(high, 1),
            fixed(middle, 1)
        );
    }
    html.push_str("</tbody></table>");
    html
}

/// The scale above the strips.
fn axis(scale: &Scale) -> String {
    let mut html = "<svg class=\"scale\" aria-hidden=\"true\">".to_owned();
    for tick in ticks(scale) {
        let sign = if tick == 100.0 { " %" } else { "" };
        let class = if (tick - 100.0) % 40.0 == 0.0 { "mid" } else { "mid extra" };
        _ = write!(
            html,
            "<text class=\"{class}\" x=\"{:.2}%\" y=\"14\">{}{sign}</text>",
            scale.at(tick),
            fixed(tick, 0)
        );
    }
    html.push_str("</svg>");
    html
}

fn grid(html: &mut String, scale: &Scale) {
    for tick in ticks(scale) {
        let class = if tick == 100.0 { "whole" } else { "tick" };
        let at = scale.at(tick);
        _ = write!(html, "<line class=\"{class}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"100%\"/>");
    }
}

fn ticks(scale: &Scale) -> impl Iterator<Item = f64> {
    let size = step(scale.high - scale.low, 8.0).max(10.0);
    let (first, last) = ((scale.low / size).ceil() as i64, (scale.high / size).floor() as i64);
    (first..=last).map(move |tick| tick as f64 * size)
}

/// One dot for each session; neighbours stand at different heights, so that they can be told apart.
fn dots(html: &mut String, scale: &Scale, view: &View<'_>, shares: &[f64]) {
    let dearest = view.cases.iter().map(|case| case.none.cost).fold(1.0, f64::max);
    for (index, (case, share)) in view.cases.iter().zip(shares).enumerate() {
        if !share.is_finite() {
            continue;
        }
        let radius = SMALLEST + LARGER * (case.none.cost / dearest).sqrt();
        let height = 12.0 + ((index * 7 % 5) as f64 - 2.0) * 2.0;
        let class = if !(LOWEST..=HIGHEST).contains(share) { " class=\"beyond\"" } else { "" };
        _ = write!(
            html,
            "<circle{class} cx=\"{:.2}%\" cy=\"{height}\" r=\"{radius:.1}\"><title>{}: {}</title></circle>",
            scale.at(*share),
            escaped(&case.trace.name),
            percent(*share, 1)
        );
    }
}

/// The middle of some numbers.
fn median(numbers: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => sorted[count / 2 - 1].midpoint(sorted[count / 2]),
    }
}
