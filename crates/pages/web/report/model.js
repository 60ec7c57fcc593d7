// The session of a report: its data, and what follows from them.

import { counted, grouped } from '../components/numbers.js';
import { brief } from '../components/text.js';
import { KINDS } from './data.js';

/** @typedef {import('./data.js').ReportData} ReportData */
/** @typedef {import('./data.js').ReportPart} ReportPart */
/** @typedef {import('./data.js').ReportZone} ReportZone */
/** @typedef {ReturnType<typeof createModel>} ReportModel */

// The zones that most profiles have keep their colour on every page.
/** @type {Record<string, string>} */
const ZONE_COLOURS = {
  active: 'active',
  protected: 'protected',
  prunable: 'open',
  'before a summary': 'behind',
  'before an earlier cut': 'behind',
  'left the context': 'behind',
};
const SPARE_COLOURS = ['behind', 'open', 'protected', 'active'];

/**
 * The custom property with the colour of a kind of part.
 * @param {string} kind
 */
export function kindColour(kind) {
  return `--kind-${KINDS.includes(kind) ? kind : 'other'}`;
}

/**
 * The tokens that a part saves.
 * @param {ReportPart} part
 */
export function savedBy(part) {
  return part.verdict === 'gone' ? 0 : Math.max(0, part.size - part.after);
}

/**
 * The size of a part, before and after if it changes.
 * @param {ReportPart} part
 */
export function sizeText(part) {
  const isSame = part.after === part.size || part.verdict === 'gone';
  return isSame ? grouped(part.size) : `${grouped(part.size)} → ${grouped(part.after)}`;
}

/**
 * @param {ReportZone} zone
 * @returns {number}
 */
export function zoneSize(zone) {
  return Math.max(0, zone.last_part - zone.first_part + 1);
}

/** @param {ReportData} data */
export function createModel(data) {
  const { parts } = data;
  const zones = data.zones.map((zone) => ({ ...zone, last_part: Math.min(zone.last_part, parts.length - 1) }));

  /** @param {ReportPart} part */
  const roleOf = (part) => data.messages[part.message]?.role ?? '';

  return {
    data,
    parts,
    zones,
    roleOf,
    /** @param {number} index */
    zoneOf: (index) => zones.find((zone) => index >= zone.first_part && index <= zone.last_part),
    /** @param {ReportZone} zone */
    zoneColour: (zone) =>
      `--zone-${ZONE_COLOURS[zone.name] ?? SPARE_COLOURS[zones.indexOf(zone) % SPARE_COLOURS.length]}`,
    /** A part in three short texts. @param {number} index */
    describe(index) {
      const part = parts[index];
      const what = [part.tool, part.subject].filter(Boolean).map((text) => brief(text, 80)).join(' ');
      const tokens = `${sizeText(part)} token${part.after === 1 ? '' : 's'}`;
      return {
        name: `Part ${index}: ${roleOf(part)} ${part.kind}${what ? `, ${what}` : ''}`,
        size:
          part.verdict === 'gone'
            ? `${counted(part.size, 'token')}, no longer in the context`
            : `${tokens}, ${part.verdict}`,
        reason: brief(part.reason, 160),
      };
    },
  };
}
