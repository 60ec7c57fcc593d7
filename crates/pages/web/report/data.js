// The data of a report, as the command writes them. All sizes are in tokens. A Rust test compares the data with these
// types, so both sides keep to them.

/**
 * @typedef {object} ReportData
 * @property {string} title the heading of the page
 * @property {string} file the file that was read
 * @property {string} format the file's format
 * @property {string | null} agent_version the version of the agent that wrote the session
 * @property {string | null} model the last model that was used
 * @property {string} generator name and version of the program that made the report
 * @property {ReportProfile} profile
 * @property {ReportTotals} totals
 * @property {ReportCategory[]} categories the context by origin
 * @property {ReportTool[]} tools the context by tool
 * @property {ReportCall[]} calls the model calls, in order
 * @property {ReportCompaction[]} compactions where the session was compacted
 * @property {ReportZone[]} zones runs of parts that the plan treats alike, in order
 * @property {ReportMessage[]} messages
 * @property {ReportPart[]} parts a part's number is its place here
 * @property {string[]} warnings what could not be read
 */

/**
 * @typedef {object} ReportProfile
 * @property {string} name
 * @property {string} about what the profile does, in a sentence
 */

/**
 * @typedef {object} ReportTotals
 * @property {number} messages
 * @property {number} parts
 * @property {number} tool_calls
 * @property {number} tool_results
 * @property {number} before the context without pruning
 * @property {number} after the context with the profile
 * @property {number | null} window the model's window
 * @property {number | null} recorded_peak the largest context that the provider reported
 */

/**
 * @typedef {object} ReportCategory
 * @property {string} name
 * @property {number} before
 * @property {number} after
 */

/**
 * @typedef {object} ReportTool
 * @property {string} name
 * @property {string} class the class that the profile puts it into
 * @property {number} calls
 * @property {number} before
 * @property {number} after
 */

/**
 * @typedef {object} ReportCall
 * @property {number} message the message that the model responded with
 * @property {number | null} time milliseconds since 1970
 * @property {number | null} recorded the context that the provider reported
 * @property {number | null} cached how much of it came from the provider's cache
 * @property {number} estimated the context by estimate, without pruning
 * @property {number} pruned the context by estimate, with the profile
 * @property {boolean} cold whether the provider's cache had expired
 */

/**
 * @typedef {object} ReportCompaction
 * @property {number} message the message that holds the summary
 * @property {number | null} before the context before it
 */

/**
 * @typedef {object} ReportZone
 * @property {string} name
 * @property {number} first_part
 * @property {number} last_part inclusive
 * @property {string} about what it is, in a sentence
 */

/**
 * @typedef {object} ReportMessage
 * @property {string} role
 * @property {number | null} time milliseconds since 1970
 * @property {boolean} summary whether it is a summary of older history
 * @property {boolean} gone whether it is no longer in the context
 */

/**
 * @typedef {object} ReportPart
 * @property {number} message the number of its message
 * @property {string} kind
 * @property {string | null} tool
 * @property {string | null} subject a path with lines, or a command
 * @property {string | null} status how the tool call ended
 * @property {number} size without pruning
 * @property {number} after with the profile
 * @property {'cut' | 'trimmed' | 'kept' | 'gone'} verdict
 * @property {string} reason a clause without a full stop
 * @property {string} preview the first characters
 * @property {boolean} clipped whether the text is longer than the preview
 */

/** The kinds of parts, in the order in which they are listed. */
export const KINDS = ['text', 'reasoning', 'signature', 'call', 'result', 'media', 'compaction', 'other'];

/** @type {ReportPart['verdict'][]} */
export const VERDICTS = ['cut', 'trimmed', 'kept', 'gone'];
