// The data of a study, as the lab writes them. A Rust test compares the data with these types, so both sides keep to
// them. Numbers that cannot be known are null.

/**
 * @typedef {object} StudyData
 * @property {string} title the heading of the page
 * @property {string} generator name and version of the program that made the study
 * @property {StudyPolicy[]} policies
 * @property {StudySession[]} sessions
 * @property {StudyView[]} views all agents together first, if there are several, then each
 * @property {ContextLines} contexts
 */

/**
 * @typedef {object} StudyPolicy
 * @property {string} name
 * @property {boolean} own whether it is one of Secateur's own
 */

/**
 * @typedef {object} StudySession
 * @property {string} name
 * @property {string} agent
 * @property {number} calls
 * @property {number} unpruned_cost in tokens of plain input
 * @property {(number | null)[]} cost_pct for each policy, in percent of the cost without pruning
 */

/**
 * @typedef {object} StudyView
 * @property {string | null} agent null for all together
 * @property {StudyRow[]} rows one for each policy, in their order
 * @property {number | null} best_pct the cost of the best schedule in hindsight, in percent of no pruning
 * @property {number | null} bound_pct the lower bound of the cost, in percent of no pruning
 * @property {number | null} replayed_pct what the replay without pruning costs, in percent of what was billed
 * @property {number} compactions how often sessions were compacted without pruning
 * @property {SheetUse[]} sheets the price sheets that sessions were charged by
 */

/**
 * @typedef {object} SheetUse
 * @property {string} name
 * @property {string} about
 * @property {number} sessions
 */

/**
 * @typedef {object} StudyRow
 * @property {string} agent
 * @property {string} policy
 * @property {number} sessions
 * @property {number} calls
 * @property {number} cost_pct
 * @property {[number | null, number | null]} cost_interval
 * @property {number} tokens_pct
 * @property {number} miss100
 * @property {number} editmiss100
 * @property {number} breaks100
 * @property {number} unseen100
 * @property {Record<string, number>} break_causes
 * @property {number} cached_pct
 * @property {number} peak_tokens
 * @property {number} compactions
 * @property {number} pct_over_optimum
 * @property {number} pct_over_bound
 */

/**
 * The tokens of every request of the most costly sessions.
 * @typedef {object} ContextLines
 * @property {number} unit what tokens are counted in
 * @property {StudyPolicy[]} policies no pruning first
 * @property {ContextSession[]} sessions the most costly first
 */

/**
 * @typedef {object} ContextSession
 * @property {string} name
 * @property {string} agent
 * @property {number} calls
 * @property {number[]} cold the calls that found the cache cold
 * @property {(number[] | number)[]} lines for each policy how the context grows from call to call, or the number of
 *   an earlier policy with the same line
 * @property {number[][]} broke for each policy the calls at which a cut invalidated a warm cache
 */

/**
 * The name of a view.
 * @param {StudyView} view
 */
export function viewName(view) {
  return view.agent ?? 'all agents';
}
