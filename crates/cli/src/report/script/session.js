// The session: the data of the page, and what follows from them.

const data = JSON.parse(find('data').textContent);
if (data === null) throw new Error('the report holds no data');

const parts = data.parts;
for (const zone of data.zones) zone.last_part = Math.min(zone.last_part, parts.length - 1);
const roleOf = (part) => data.messages[part.message]?.role ?? '';
const savedBy = (part) => (part.verdict === 'gone' ? 0 : Math.max(0, part.size - part.after));
const zoneOf = (index) => data.zones.find((zone) => index >= zone.first_part && index <= zone.last_part);

// Zones are named by the profile; those that every profile has keep their colour everywhere.
const ZONE_COLOURS = {
  'active turn': 'active',
  'protected window': 'protected',
  'may be cut': 'open',
  'behind a summary': 'behind',
};
const SPARE_COLOURS = ['behind', 'open', 'protected', 'active'];
const zoneColour = (zone) =>
  `--zone-${ZONE_COLOURS[zone.name] ?? SPARE_COLOURS[data.zones.indexOf(zone) % SPARE_COLOURS.length]}`;

const kindColour = (kind) => `--kind-${KINDS.includes(kind) ? kind : 'other'}`;

const aboutPart = (index) => {
  const part = parts[index];
  const what = [part.tool, part.subject].filter(Boolean).map((text) => brief(text, 80)).join(' ');
  return {
    name: `Part ${index}: ${roleOf(part)} ${part.kind}${what ? `, ${what}` : ''}`,
    size:
      part.verdict === 'gone'
        ? `${counted(part.size, 'token')}, no longer in the context`
        : part.after === part.size
          ? `${counted(part.size, 'token')}, ${part.verdict}`
          : `${grouped(part.size)} → ${counted(part.after, 'token')}, ${part.verdict}`,
    reason: brief(part.reason, 160),
  };
};
