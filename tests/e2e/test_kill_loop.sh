#!/usr/bin/env bash
# SIGKILL in the middle of writes: what was acknowledged is there after the next start, and the log is whole.
# KILLS=10000 for the long run.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
kills=30
case $BUILD in *address*) kills=10 ;; esac
kills=${KILLS:-$kills}
got=$(python3 tests/e2e/kill_loop.py "$alm_bin" "$data" "$kills" 2>"$dir/lost")
has "$kills kills lose nothing that was acknowledged" " lost 0 slowest recovery" "$got$(tail -5 "$dir/lost" "$dir/server.log" 2>/dev/null)"
acknowledged=$(printf '%s' "$got" | sed 's/.*acknowledged \([0-9]*\).*/\1/')
has "and something was" yes "$([ "${acknowledged:-0}" -ge "$kills" ] && echo yes || echo "$got")"
code "and the log is whole" 0 "" alm audit verify --replay --data-dir "$data"
echo "# $got"
finish
