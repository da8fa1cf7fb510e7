#!/bin/sh
# program_size.sh PROGRAM: fails if the program, without what only debuggers read, is over 5 MB. To make it
# smaller: SMALL and UNASKED in the Makefile; what takes the room: nm -S --size-sort PROGRAM.
set -u
max=5000000
small=$(mktemp)
trap 'rm -f "$small"' EXIT
strip -o "$small" "$1" || exit 1
bytes=$(wc -c <"$small")
[ "$bytes" -le "$max" ] || { echo "$1: $bytes bytes without symbols, more than $max (tests/lint/program_size.sh)"; exit 1; }
echo "lint: the program has $bytes bytes of at most $max"
