#!/bin/sh
# Keeps every call in a file, and tells the summary where to look.
call=$(cat)
case $call in
*'"hook":"before_compaction"'*)
    printf '%s\n' "$call" >> "$HOME/notes.jsonl"
    printf '{"context": ["Earlier work is kept word for word in ~/notes.jsonl."]}\n' ;;
esac
