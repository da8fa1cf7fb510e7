#!/bin/sh
# Replays the 187 requests of tests/golden/kube-api against `alm server` and compares with what a real
# kube-apiserver 1.33 answered. differs.txt lists the answers that may differ; it may only shrink.
set -u
. tests/lib/server.sh
golden=tests/golden/kube-api

command -v python3 >/dev/null || {
	echo "ok 1 - golden # SKIP no python3"
	exit 0
}
server_start --metrics-listen 127.0.0.1:0 "$@" || {
	not_ok "golden: the server starts"
	exit 1
}
timeout 120 python3 "$golden/scenario.py" --user-token user-token -- "$url" "$token" "$dir/out.jsonl" >&2 || exit 1
python3 "$golden/scenario.py" --compare "$golden/kube-apiserver-1.33.13.jsonl" "$dir/out.jsonl" >"$dir/cmp"
grep -oE '^[0-9]+ (.* )?(GET|POST|PUT|PATCH|DELETE) /' "$dir/cmp" | cut -d' ' -f1 | sort -n >"$dir/differ"
grep -oE '^~?[0-9]+' "$golden/differs.txt" >"$dir/listed"
tr -d '~' <"$dir/listed" | sort -n >"$dir/may"
grep -v '~' "$dir/listed" | sort -n >"$dir/must"
sort "$dir/differ" >"$dir/a"
sort "$dir/may" >"$dir/b"
sort "$dir/must" >"$dir/c"
new=$(comm -23 "$dir/a" "$dir/b" | tr '\n' ' ')
gone=$(comm -13 "$dir/a" "$dir/c" | tr '\n' ' ')
matching=$((187 - $(wc -l <"$dir/differ")))
if [ -n "$new" ]; then
	not_ok "golden: $matching of 187 match; these stopped matching: $new" "$(for n in $new; do grep -A6 "^$n " "$dir/cmp" | cut -c1-300; done)"
elif [ -n "$gone" ]; then
	not_ok "golden: $matching of 187 match; remove from differs.txt: $gone"
else
	ok "golden: $matching of 187 match"
fi
metrics=$(grep -o 'http://[^ ]*' "$dir/out")
if curl -s "$metrics" | grep -q '^alm_api_requests_total'; then
	ok "--metrics-listen: what the requests were, at $metrics"
else
	not_ok "--metrics-listen: no metrics at '$metrics'"
fi
finish
