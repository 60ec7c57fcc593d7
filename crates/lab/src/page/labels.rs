//! Labels beside points, so that none lies on another.
//!
//! Twenty policies of which half cost about the same cannot all have their names to the right of their points. Labels
//! are placed one after the other, each at the nearest place that is free; one that stands off gets a line to its
//! point. It is greedy: what is placed first gets the better place.

/// A rectangle, by its left upper corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    /// A square around a point.
    fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self { x: x - radius, y: y - radius, width: 2.0 * radius, height: 2.0 * radius }
    }

    fn meets(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    fn holds(&self, (x, y): (f64, f64)) -> bool {
        (self.x..=self.x + self.width).contains(&x) && (self.y..=self.y + self.height).contains(&y)
    }

    fn is_within(&self, other: &Self) -> bool {
        other.holds((self.x, self.y)) && other.holds((self.x + self.width, self.y + self.height))
    }

    /// The place in it that is nearest to a point.
    fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x, self.x + self.width), y.clamp(self.y, self.y + self.height))
    }
}

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    /// The space of its text.
    pub(super) space: Rect,
    /// Where its text is anchored, and how: `start`, `mid` or `end`.
    pub(super) anchor: (f64, &'static str),
    /// Where a line from the point ends, if one is wanted.
    pub(super) line: Option<(f64, f64)>,
}

/// Where labels may stand, and what is there already.
pub(super) struct Sheet {
    bounds: Rect,
    taken: Vec<Rect>,
    points: Vec<Rect>,
    /// From labels to their points.
    lines: Vec<[(f64, f64); 2]>,
    /// All others.
    drawn: Vec<[(f64, f64); 2]>,
}

/// On which side of its point a label had better stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// To the left, or below.
    Left,
    /// To the right, or above.
    Right,
}

/// How near a label comes to the middle of its point.
const GAP: f64 = 9.0;

/// How far to the side and up or down a label may go.
const ASIDE: [f64; 6] = [0.0, 10.0, 22.0, 40.0, 64.0, 100.0];
const UPRIGHT: [f64; 10] = [0.0, 8.0, 13.0, 18.0, 25.0, 34.0, 45.0, 58.0, 75.0, 100.0];

/// A label that stands no farther off needs no line to its point.
const NEAR: f64 = 10.0;

/// How much farther away the other side seems than it is.
const OTHER_SIDE: f64 = 14.0;

impl Sheet {
    /// An empty one.
    pub(super) fn new(bounds: Rect) -> Self {
        Self { bounds, taken: Vec::new(), points: Vec::new(), lines: Vec::new(), drawn: Vec::new() }
    }

    /// Keeps labels off a point; lines to labels may pass.
    pub(super) fn spare(&mut self, point: (f64, f64), radius: f64) {
        self.points.push(Rect::around(point, radius));
    }

    /// Keeps a space free of labels.
    pub(super) fn take(&mut self, space: Rect) {
        self.taken.push(space);
    }

    /// Keeps labels off a line.
    pub(super) fn avoid(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.drawn.push([from, to]);
    }

    /// Places a label of this size beside a point.
    pub(super) fn place(&mut self, point: (f64, f64), (width, height): (f64, f64), side: Side) -> Label {
        let mut places = Vec::new();
        for (across, up) in ASIDE.into_iter().flat_map(|across| UPRIGHT.map(|up| (across, up))) {
            for (to, down) in
                [(Side::Right, false), (Side::Right, true), (Side::Left, true), (Side::Left, false)]
            {
                let x = if to == Side::Right { GAP + across } else { -GAP - across - width };
                let y = if down { up } else { -up } - height / 2.0;
                let far = across + up + if to == side { 0.0 } else { OTHER_SIDE };
                // The left side goes down first, the right side up.
                let far = far + if down == (side == Side::Left) { 0.0 } else { 1.0 };
                places.push((far, across.max(up) > NEAR, (x, y)));
            }
            if across == 0.0 && up >= GAP {
                let far = up + OTHER_SIDE / 2.0;
                places.push((far, up > GAP + NEAR, (-width / 2.0, -up - height / 2.0 - 1.0)));
                places.push((far + 1.0, up > GAP + NEAR, (-width / 2.0, up - height / 2.0 + 1.0)));
            }
        }
        places.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let space = |(x, y): (f64, f64)| Rect { x: point.0 + x, y: point.1 + y, width, height };
        let is_clear =
            |(_, is_off, at): &&_| self.is_free(&space(*at)) && self.is_clear(point, &space(*at), *is_off);
        // In a crowd, lines may go through labels, but no label lies on another.
        let found =
            places.iter().find(is_clear).or_else(|| places.iter().find(|(.., at)| self.is_free(&space(*at))));
        let (is_off, at) = found.map_or((false, (GAP, -height / 2.0)), |(_, is_off, at)| (*is_off, *at));
        let space = space(at);
        let line = is_off.then(|| space.nearest(point));
        self.taken.push(space);
        self.lines.extend(line.map(|end| [point, end]));
        // The text may be narrower or wider than thought; it stays put on the side of its point.
        let anchor = if space.x >= point.0 {
            (space.x, "start")
        } else if space.x + width <= point.0 {
            (space.x + width, "end")
        } else {
            (space.x + width / 2.0, "mid")
        };
        Label { space, anchor, line }
    }

    /// Whether a label can stand there at all.
    fn is_free(&self, space: &Rect) -> bool {
        space.is_within(&self.bounds)
            && !self.taken.iter().chain(&self.points).any(|taken| taken.meets(space))
    }

    /// Whether neither the label nor the line to it crosses something.
    fn is_clear(&self, point: (f64, f64), space: &Rect, has_line: bool) -> bool {
        let line = [point, space.nearest(point)];
        let is_crossed = self.lines.iter().chain(&self.drawn).any(|other| crosses(other, space));
        let crosses_one = || {
            self.taken.iter().any(|taken| crosses(&line, taken))
                || self.lines.iter().any(|other| cuts(other, &line))
        };
        !is_crossed && (!has_line || !crosses_one())
    }
}

/// Whether a line goes through a space.
fn crosses([from, to]: &[(f64, f64); 2], space: &Rect) -> bool {
    let steps = ((to.0 - from.0).hypot(to.1 - from.1) / 2.0).ceil().max(1.0);
    (0..=steps as u32).any(|step| {
        let part = f64::from(step) / steps;
        space.holds((from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1)))
    })
}

/// Whether two lines cut each other.
fn cuts([a, b]: &[(f64, f64); 2], [c, d]: &[(f64, f64); 2]) -> bool {
    let side =
        |p: (f64, f64), q: (f64, f64), r: (f64, f64)| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    side(*a, *b, *c) * side(*a, *b, *d) < 0.0 && side(*c, *d, *a) * side(*c, *d, *b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { x: 0.0, y: 0.0, width: 900.0, height: 500.0 };

    #[test]
    fn labels_of_points_in_one_place_do_not_meet() {
        let mut sheet = Sheet::new(BOUNDS);
        let points: Vec<(f64, f64)> = (0..14).map(|n| (f64::from(n % 3), 250.0 + f64::from(n % 5))).collect();
        let labels: Vec<Label> =
            points.iter().map(|&point| sheet.place(point, (90.0, 14.0), Side::Right)).collect();
        for (index, label) in labels.iter().enumerate() {
            assert!(label.space.is_within(&BOUNDS), "{label:?}");
            assert!(labels[..index].iter().all(|other| !other.space.meets(&label.space)), "{labels:?}");
        }
    }

    #[test]
    fn a_lonely_label_is_to_the_right() {
        let mut sheet = Sheet::new(BOUNDS);
        let label = sheet.place((100.0, 100.0), (50.0, 10.0), Side::Right);
        assert_eq!(label.space, Rect { x: 109.0, y: 95.0, width: 50.0, height: 10.0 });
        assert_eq!(label.line, None);
        // At the right edge it goes to the left.
        assert!(sheet.place((890.0, 100.0), (50.0, 10.0), Side::Right).space.x < 890.0);
    }
}
