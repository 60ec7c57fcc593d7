// What a straightforward JavaScript tool does with an OpenCode session, as a baseline to measure against:
// read the file, parse it, prune by OpenCode's rule and, with a second argument, write it back.
//
//   node prune.mjs SESSION [OUTPUT]

import { readFileSync, writeFileSync } from "node:fs"

const PROTECT = 40_000
const MINIMUM = 20_000

const estimate = (text) => Math.max(0, Math.round(text.length / 4))

function plan(messages) {
  let turns = 0
  let total = 0
  let pruned = 0
  const found = []
  scan: for (let m = messages.length - 1; m >= 0; m--) {
    const { info, parts } = messages[m]
    if (info.role === "user") turns++
    if (turns < 2) continue
    if (info.role === "assistant" && info.summary) break
    for (let p = parts.length - 1; p >= 0; p--) {
      const part = parts[p]
      if (part.type !== "tool" || part.state.status !== "completed" || part.tool === "skill") continue
      if (part.state.time.compacted) break scan
      const tokens = estimate(part.state.output)
      total += tokens
      if (total > PROTECT) {
        pruned += tokens
        found.push(part)
      }
    }
  }
  return pruned > MINIMUM ? found : []
}

const [session, output] = process.argv.slice(2)
const document = JSON.parse(readFileSync(session, "utf8"))
const found = plan(Array.isArray(document) ? document : document.messages)
if (output) {
  for (const part of found) part.state.time.compacted = Date.now()
  writeFileSync(output, JSON.stringify(document))
}
console.log(JSON.stringify({ cuts: found.length }))
