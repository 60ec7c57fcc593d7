//! The points of the Pareto picture, with their names.

use std::fmt::Write;

use super::super::labels::{Sheet, Side};
use super::super::views::{NONE, is_own};
use super::super::words::{escaped, fixed, percent};
use super::{LETTER, LINE, Picture};

/// Points that are nearer than that share a label.
const SAME: f64 = 2.5;

impl Picture<'_> {
    pub(super) fn points(&self, html: &mut String, sheet: &mut Sheet) {
        let rows = &self.view.rows;
        let places: Vec<(f64, f64)> =
            rows.iter().map(|row| (self.x(row.miss100), self.y(row.cost_pct))).collect();
        for &place in &places {
            sheet.spare(place, 5.0);
        }
        // Own policies and those of the front are labelled first, but drawn last, above the others.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&index| (self.rank(index), index));
        let is_near =
            |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1) < SAME;
        let mut groups = Vec::with_capacity(order.len());
        let mut done = vec![false; rows.len()];
        for &index in &order {
            let (x, y) = places[index];
            let mut group = format!(
                "<g class=\"point {}\"><title>{}: {} of the cost, {} misses per 100 calls</title>",
                self.class(index),
                escaped(&rows[index].policy),
                percent(rows[index].cost_pct, 1),
                fixed(rows[index].miss100, 2)
            );
            let radius = if is_own(&rows[index].policy) { 6.0 } else { 4.5 };
            let mut label = String::new();
            if !done[index] {
                let is_with = |&&other: &&usize| {
                    other == index || !done[other] && !is_own(&rows[other].policy) && is_near(index, other)
                };
                let with: Vec<usize> = order.iter().filter(is_with).copied().collect();
                with.iter().for_each(|&other| done[other] = true);
                label = self.label(sheet, index, (x, y), &with);
            }
            _ = write!(group, "{label}<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/></g>");
            groups.push(group);
        }
        html.extend(groups.into_iter().rev());
    }

    /// The label of a point, with the names of all that are there.
    fn label(&self, sheet: &mut Sheet, index: usize, (x, y): (f64, f64), with: &[usize]) -> String {
        let name = |&index: &usize| match self.frame.has_names {
            true => self.view.rows[index].policy.clone(),
            false => (index + 1).to_string(),
        };
        let text = with.iter().map(name).collect::<Vec<_>>().join(", ");
        // Below the front and left of it there is nothing else.
        let side = if self.front.contains(&index) { Side::Left } else { Side::Right };
        let label = sheet.place((x, y), (text.chars().count() as f64 * LETTER, LINE), side);
        let (at, anchor) = label.anchor;
        let mut svg = String::new();
        if let Some(end) = label.line {
            _ = write!(svg, "<path d=\"M{x:.1} {y:.1}L{:.1} {:.1}\"/>", end.0, end.1);
        }
        let base = label.space.y + 11.5;
        _ = write!(svg, "<text class=\"{anchor}\" x=\"{at:.1}\" y=\"{base:.1}\">{}</text>", escaped(&text));
        svg
    }

    fn rank(&self, index: usize) -> usize {
        match self.class(index) {
            "own" => 0,
            "unbeaten" => 1,
            _ => 2,
        }
    }

    fn class(&self, index: usize) -> &'static str {
        let policy = &*self.view.rows[index].policy;
        match policy {
            _ if is_own(policy) => "own",
            NONE => "none",
            _ if self.front.contains(&index) => "unbeaten",
            _ => "beaten",
        }
    }
}
