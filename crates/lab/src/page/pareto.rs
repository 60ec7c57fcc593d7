//! The Pareto picture: what a policy costs against what it misses.
//!
//! Cheap is easy if misses do not count. So neither is shown without the other, and the line through those that
//! nothing else beats in both says which policies are worth a look. The picture is drawn in three widths, because text
//! in a picture that is scaled down cannot be read; on a phone, points have numbers and a list says their names.
//!
//! Most policies miss little, and what differs among those is what matters. So misses have the scale of a square root.

mod points;

use std::fmt::Write;

use super::labels::{Rect, Sheet};
use super::views::{View, is_own};
use super::words::{escaped, fixed, percent, step};
use crate::study::StudyRow;

/// One width of the picture.
struct Frame {
    class: &'static str,
    width: f64,
    height: f64,
    has_names: bool,
}

const FRAMES: [Frame; 3] = [
    Frame { class: "wide", width: 1180.0, height: 580.0, has_names: true },
    Frame { class: "middle", width: 720.0, height: 560.0, has_names: true },
    Frame { class: "narrow", width: 340.0, height: 400.0, has_names: false },
];

const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;

/// How wide a letter is and how high a line, on average.
const LETTER: f64 = 7.4;
const LINE: f64 = 15.0;

/// Numbers of misses that may be marked on the axis.
const MISSES: [f64; 16] =
    [0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 25.0, 50.0, 100.0];

/// The picture of a view, in all widths.
pub(super) fn pareto(view: &View<'_>) -> String {
    let mut html = String::new();
    for frame in &FRAMES {
        Picture::new(view, frame).draw(&mut html);
    }
    html.push_str("<ol class=\"numbers\" aria-hidden=\"true\">");
    for row in &view.rows {
        let class = if is_own(&row.policy) { " class=\"own\"" } else { "" };
        _ = write!(html, "<li{class}>{}</li>", escaped(&row.policy));
    }
    html.push_str("</ol>");
    html
}

/// The rows that no other beats in both, the one with the fewest misses first.
fn front(rows: &[StudyRow]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let key = |index: &usize| (rows[*index].miss100, rows[*index].cost_pct);
    order.sort_by(|a, b| key(a).0.total_cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let mut best = f64::INFINITY;
    order.retain(|&index| {
        let is_best = rows[index].cost_pct < best;
        best = best.min(rows[index].cost_pct);
        is_best
    });
    order
}

struct Picture<'v> {
    view: &'v View<'v>,
    frame: &'v Frame,
    front: Vec<usize>,
    /// The best schedule in hindsight, and the lower bound.
    marks: [(&'static str, f64); 2],
    most: f64,
    low: f64,
    high: f64,
}

impl<'v> Picture<'v> {
    fn new(view: &'v View<'v>, frame: &'v Frame) -> Self {
        let best = if frame.has_names { "best schedule in hindsight" } else { "best in hindsight" };
        let marks =
            [(best, view.share(|case| case.best_schedule)), ("lower bound", view.share(|case| case.bound))];
        let costs =
            || view.rows.iter().map(|row| row.cost_pct).chain([100.0]).filter(|cost| cost.is_finite());
        let lowest = costs().chain(marks.map(|(_, cost)| cost)).filter(|cost| cost.is_finite());
        let most = view.rows.iter().map(|row| row.miss100).fold(1.0, f64::max);
        Self {
            view,
            frame,
            front: front(&view.rows),
            marks,
            most: most * 1.04,
            low: (lowest.fold(100.0, f64::min) - 3.0).max(0.0),
            high: costs().fold(100.0, f64::max) + 5.0,
        }
    }

    fn x(&self, misses: f64) -> f64 {
        LEFT + (misses / self.most).max(0.0).sqrt() * (self.frame.width - LEFT - RIGHT)
    }

    fn y(&self, cost: f64) -> f64 {
        let height = self.frame.height - TOP - BOTTOM;
        TOP + (self.high - cost) / (self.high - self.low) * height
    }

    fn draw(&self, html: &mut String) {
        let Frame { class, width, height, .. } = self.frame;
        _ = write!(
            html,
            "<svg class=\"pareto {class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
            self.said()
        );
        self.axes(html);
        let mut sheet = Sheet::new(Rect {
            x: LEFT + 3.0,
            y: TOP - 14.0,
            width: width - LEFT - RIGHT + 8.0,
            height: height - TOP - BOTTOM + 12.0,
        });
        self.frontier(html, &mut sheet);
        self.unpruned(html, &mut sheet);
        self.hindsight(html, &mut sheet);
        self.points(html, &mut sheet);
        html.push_str("</svg>");
    }

    /// The picture in a sentence, for those who do not see it.
    fn said(&self) -> String {
        let names: Vec<String> = self
            .front
            .iter()
            .map(|&index| &self.view.rows[index])
            .map(|row| {
                format!(
                    "{} {} at {} misses",
                    escaped(&row.policy),
                    percent(row.cost_pct, 0),
                    fixed(row.miss100, 1)
                )
            })
            .collect();
        format!(
            "Cost against misses per 100 calls, {}. Beaten by none in both: {}. The table below has all numbers.",
            self.view.whose(),
            names.join("; ")
        )
    }

    fn axes(&self, html: &mut String) {
        let Frame { width, height, .. } = self.frame;
        let (right, floor) = (width - RIGHT, height - BOTTOM);
        html.push_str("<g class=\"axes\">");
        let size = step(self.high - self.low, if self.frame.has_names { 9.0 } else { 7.0 });
        for tick in ticks(self.low, self.high, size) {
            let y = self.y(tick);
            _ = write!(
                html,
                "<path d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                fixed(tick, 0)
            );
        }
        let mut before = f64::NEG_INFINITY;
        for tick in MISSES.into_iter().filter(|&tick| tick <= self.most) {
            let x = self.x(tick);
            if x < before + 26.0 {
                continue;
            }
            before = x;
            _ = write!(
                html,
                "<path d=\"M{x:.1} {floor}v5\"/><text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\">{tick}</text>",
                floor + 19.0
            );
        }
        _ = write!(
            html,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{floor}H{right}\"/>\
             <text class=\"title\" x=\"2\" y=\"12\">Cost, % of no pruning ↓ cheaper</text>\
             <text class=\"title end\" x=\"{right}\" y=\"{:.1}\">safer ← misses per 100 calls, square-root scale</text></g>",
            height - 6.0
        );
    }

    /// The line through those that nothing beats. Between two of them there is no policy, so it goes in steps.
    fn frontier(&self, html: &mut String, sheet: &mut Sheet) {
        let mut path = String::new();
        let mut last: Option<(f64, f64)> = None;
        for &index in &self.front {
            let row = &self.view.rows[index];
            let (x, y) = (self.x(row.miss100), self.y(row.cost_pct));
            if let Some(before) = last {
                sheet.avoid(before, (x, before.1));
                sheet.avoid((x, before.1), (x, y));
                _ = write!(path, "H{x:.1}V{y:.1}");
            } else {
                _ = write!(path, "M{x:.1} {TOP}V{y:.1}");
            }
            last = Some((x, y));
        }
        if let Some((x, y)) = last {
            let right = self.frame.width - RIGHT;
            sheet.avoid((x, y), (right, y));
            _ = write!(html, "<path class=\"front\" d=\"{path}H{right}\"/>");
        }
    }

    fn unpruned(&self, html: &mut String, sheet: &mut Sheet) {
        let (right, y) = (self.frame.width - RIGHT, self.y(100.0));
        let text = "no pruning = 100 %";
        let width = text.len() as f64 * LETTER;
        sheet.take(Rect { x: right - width, y: y - 18.0, width, height: 20.0 });
        sheet.avoid((LEFT, y), (right, y));
        _ = write!(
            html,
            "<g class=\"unpruned\"><path d=\"M{LEFT} {y:.1}H{right}\"/>\
             <text class=\"end\" x=\"{right}\" y=\"{:.1}\">{text}</text></g>",
            y - 5.0
        );
    }

    /// What hindsight could reach, on the axis: without a miss.
    fn hindsight(&self, html: &mut String, sheet: &mut Sheet) {
        let mut above = f64::NEG_INFINITY;
        for (name, cost) in self.marks {
            if !cost.is_finite() {
                continue;
            }
            let y = self.y(cost);
            let base = (y + 4.0).max(above + LINE);
            above = base;
            let text = format!("{name}, {}", percent(cost, 1));
            let width = text.chars().count() as f64 * LETTER + 6.0;
            sheet.take(Rect { x: LEFT, y: base - 12.0, width: width + 12.0, height: LINE });
            _ = write!(
                html,
                "<g class=\"hindsight\"><path d=\"M{LEFT} {y:.1}l10 -5v10z\"/>\
                 <text x=\"{}\" y=\"{base:.1}\">{text}</text></g>",
                LEFT + 15.0
            );
        }
    }
}

/// Round numbers of a span.
fn ticks(low: f64, high: f64, size: f64) -> impl Iterator<Item = f64> {
    let first = (low / size - 1e-9).ceil();
    (0..).map(move |index| (first + f64::from(index)) * size).take_while(move |&tick| tick <= high)
}
