# What a straightforward Python script does with a Claude Code log, as a baseline to measure against: parse each
# line, count, and print the same numbers as `secateur inspect --json`.
#
#   python3 count.py LOG

import json
import sys

calls, results = set(), set()
counts = dict(messages=0, tool_calls=0, tool_results=0, errors=0, compactions=0)
chars, usage = {}, {}


def add(category, text):
    chars[category] = chars.get(category, 0) + len(text)


for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line)
    kind = record.get("type")
    if kind == "system" and record.get("subtype") == "compact_boundary":
        counts["compactions"] += 1
    if kind not in ("user", "assistant"):
        continue
    message = record["message"]
    if kind == "assistant" and "usage" in message:
        usage[message["id"]] = message["usage"]
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content:
        if block["type"] == "text":
            counts["messages"] += 1
            add(kind, block["text"])
        elif block["type"] == "thinking":
            add("reasoning", block["thinking"])
        elif block["type"] == "tool_use":
            counts["tool_calls"] += 1
            calls.add(block["id"])
            add("tool_call", json.dumps(block["input"], ensure_ascii=False, separators=(",", ":")))
        elif block["type"] == "tool_result":
            counts["messages"] += 1
            counts["tool_results"] += 1
            counts["errors"] += bool(block.get("is_error"))
            results.add(block["tool_use_id"])
            content = block.get("content") or ""
            if not isinstance(content, str):
                content = "\n".join(piece["text"] for piece in content if piece["type"] == "text")
            add("tool_result", content)

context = [u["input_tokens"] + u["cache_read_input_tokens"] + u["cache_creation_input_tokens"] for u in usage.values()]
counts.update(
    unanswered_calls=len(calls - results),
    unpaired_results=len(results - calls),
    api_calls_with_usage=len(usage),
    peak_context_tokens=max(context),
    sum_input_tokens=sum(context),
    sum_output_tokens=sum(u["output_tokens"] for u in usage.values()),
    chars=chars,
)
print(json.dumps(counts))
