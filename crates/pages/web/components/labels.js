// Places labels beside points so that none lies on another.
//
// Twenty policies of which half cost about the same cannot all have their names to the right of their points. Labels
// are placed one after the other, each at the nearest place that is free; one that stands off gets a line to its
// point. The first labels get the best places.

/** @typedef {{ x: number, y: number, width: number, height: number }} Rect */
/** @typedef {import('./chart.js').Point} Point */
/** @typedef {[Point, Point]} Segment */
/** @typedef {{ space: Rect, x: number, anchor: 'start' | 'mid' | 'end', line: Point | null }} PlacedLabel */

// How near a label comes to the middle of its point.
const GAP = 9;
// How far to the side, and up or down, a label may go.
const ACROSS = [0, 10, 22, 40, 64, 100];
const UP = [0, 8, 13, 18, 25, 34, 45, 58, 75, 100];
// A label that stands no farther off needs no line to its point.
const NEAR = 10;
// What the less preferred side costs.
const OTHER_SIDE = 14;

/** @type {(a: Rect, b: Rect) => boolean} */
const overlaps = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** @type {(rect: Rect, point: Point) => boolean} */
const contains = (rect, [x, y]) =>
  x >= rect.x && x <= rect.x + rect.width && y >= rect.y && y <= rect.y + rect.height;

/** @type {(rect: Rect, outer: Rect) => boolean} */
const isWithin = (rect, outer) =>
  contains(outer, [rect.x, rect.y]) && contains(outer, [rect.x + rect.width, rect.y + rect.height]);

/** @type {(rect: Rect, point: Point) => Point} */
const nearestIn = (rect, [x, y]) => [
  Math.min(Math.max(x, rect.x), rect.x + rect.width),
  Math.min(Math.max(y, rect.y), rect.y + rect.height),
];

/** @type {(segment: Segment, rect: Rect) => boolean} */
function crosses([from, to], rect) {
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 2));
  for (let step = 0; step <= steps; step += 1) {
    const share = step / steps;
    if (contains(rect, [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])])) return true;
  }
  return false;
}

/** @type {(one: Segment, other: Segment) => boolean} */
function intersect([a, b], [c, d]) {
  const side = (/** @type {Point} */ p, /** @type {Point} */ q, /** @type {Point} */ r) =>
    (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

/**
 * The places around a point for a label of this size, the best first.
 * @param {number} width
 * @param {number} height
 * @param {'left' | 'right'} side
 */
function candidates(width, height, side) {
  /** @type {{ cost: number, isOff: boolean, x: number, y: number }[]} */
  const found = [];
  for (const across of ACROSS) {
    for (const up of UP) {
      for (const isRight of [true, false]) {
        for (const isDown of [false, true]) {
          const x = isRight ? GAP + across : -GAP - across - width;
          const y = (isDown ? up : -up) - height / 2;
          // The left side goes down first, the right side up.
          const turn = isDown === (side === 'left') ? 0 : 1;
          const cost = across + up + (isRight === (side === 'right') ? 0 : OTHER_SIDE) + turn;
          found.push({ cost, isOff: Math.max(across, up) > NEAR, x, y });
        }
      }
      if (across === 0 && up >= GAP) {
        const cost = up + OTHER_SIDE / 2;
        const isOff = up > GAP + NEAR;
        found.push({ cost, isOff, x: -width / 2, y: -up - height / 2 - 1 });
        found.push({ cost: cost + 1, isOff, x: -width / 2, y: up - height / 2 + 1 });
      }
    }
  }
  return found.sort((a, b) => a.cost - b.cost);
}

/**
 * A picture in which labels are placed.
 * @param {Rect} bounds
 */
export function createLabels(bounds) {
  /** @type {Rect[]} */
  const taken = [];
  /** @type {Rect[]} */
  const points = [];
  /** @type {Segment[]} From points to their labels. */
  const leads = [];
  /** @type {Segment[]} All other lines. */
  const lines = [];

  /** @param {Rect} space */
  const isFree = (space) =>
    isWithin(space, bounds) && ![...taken, ...points].some((other) => overlaps(other, space));

  /** Whether neither the label nor the line to it crosses something. @type {(point: Point, space: Rect, hasLine: boolean) => boolean} */
  function isClear(point, space, hasLine) {
    if ([...leads, ...lines].some((line) => crosses(line, space))) return false;
    /** @type {Segment} */
    const lead = [point, nearestIn(space, point)];
    return !hasLine || !(taken.some((other) => crosses(lead, other)) || leads.some((other) => intersect(other, lead)));
  }

  return {
    /** Keeps labels off a point; lines to labels may pass. @type {(point: Point, radius: number) => void} */
    avoidPoint([x, y], radius) {
      points.push({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
    },
    /** Keeps a space free of labels. @param {Rect} space */
    avoidSpace(space) {
      taken.push(space);
    },
    /** Keeps labels off a line. @type {(from: Point, to: Point) => void} */
    avoidLine(from, to) {
      lines.push([from, to]);
    },
    /**
     * Places a label beside a point.
     * @param {Point} point
     * @param {{ width: number, height: number, side: 'left' | 'right' }} label
     * @returns {PlacedLabel}
     */
    place(point, { width, height, side }) {
      const at = (/** @type {{ x: number, y: number }} */ { x, y }) =>
        ({ x: point[0] + x, y: point[1] + y, width, height });
      const all = candidates(width, height, side);
      // Where there are too many, lines may go through labels, but no label lies on another.
      const found =
        all.find((place) => isFree(at(place)) && isClear(point, at(place), place.isOff)) ??
        all.find((place) => isFree(at(place))) ?? { isOff: false, x: GAP, y: -height / 2 };
      const space = at(found);
      const line = found.isOff ? nearestIn(space, point) : null;
      taken.push(space);
      if (line) leads.push([point, line]);
      // The text may be narrower or wider than estimated; it stays put on the side of its point.
      if (space.x >= point[0]) return { space, x: space.x, anchor: 'start', line };
      if (space.x + width <= point[0]) return { space, x: space.x + width, anchor: 'end', line };
      return { space, x: space.x + width / 2, anchor: 'mid', line };
    },
  };
}
