#!/bin/bash
# What clients of the HTTP server may do, they do to themselves: an administrator is served meanwhile, memory is bounded, and
# the server comes to rest and stops when it is told to.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

printf 'bobtoken,bob,u-bob\n' >"$dir/tokens"
chmod 600 "$dir/tokens"
up_start --token-file "$dir/tokens" --allowed-host alm.example
k create clusterrolebinding bob --clusterrole=view --user=bob >/dev/null
url=$(grep -o 'https://[0-9.:]*' "$dir/out" | head -1)
while read -r line; do
	case $line in
	'ok - '*) ok "${line#ok - }" ;;
	'not ok - '*) not_ok "${line#not ok - }" ;;
	*) echo "    $line" ;;
	esac
done < <(BUILD=$BUILD python3 "$(dirname "$0")/http_attacks.py" "$pid" "$url" "$metrics" "$data" "$@" 2>&1)

kill -TERM "$pid"
for _ in $(seq 300); do
	kill -0 "$pid" 2>/dev/null || break
	sleep 0.1
done
if kill -0 "$pid" 2>/dev/null; then
	not_ok "SIGTERM ends the server"
	kill -KILL "$pid"
else
	ok "SIGTERM ends the server"
fi
pid=
finish
