#!/bin/bash
# bench_budgets.sh: the share of a create's instructions that the checks of budgets take, counted by callgrind over HTTPS.
# Counted whole: who asks and what he may, at the head (apiserver_admit); Host names; what a user and a peer hold (pool_,
# which calls quota_, and peer). Comparisons inside parsers (bytes, values, depth) are not functions of their own.
# Counts of instructions do not depend on other work of the machine. Limit: 5 %.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v valgrind >/dev/null || { echo "SKIP bench_budgets: valgrind is not installed"; exit 0; }
# A sanitizer's build keeps open the system calls that valgrind needs.
make -s CC="${CC:-gcc} -D__SANITIZE_THREAD__" BUILD=build-budgets build-budgets/alm >/dev/null
work=$(mktemp -d)
pid=
ended() {
	set +e # whatever ended, and how
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid"
	rm -rf "$work"
}
trap ended EXIT
valgrind --tool=callgrind --callgrind-out-file="$work/cg" build-budgets/alm server --data-dir "$work/d" \
	--listen 127.0.0.1:0 >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 600); do
	grep -q 'https://' "$work/log" && [ -s "$work/d/kubeconfig" ] && break
	sleep 0.1
done
server=$(sed -n 's/ *server: //p' "$work/d/kubeconfig")
creates() {
	python3 - "$server" "$work/d/token" "$1" "$2" <<-'PYTHON'
	import http.client, json, ssl, sys
	server, token, first, n = sys.argv[1], open(sys.argv[2]).read().strip(), int(sys.argv[3]), int(sys.argv[4])
	c = http.client.HTTPSConnection(server.removeprefix("https://"), context=ssl._create_unverified_context(), timeout=600)
	for i in range(first, first + n):
	    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i:06}", "labels": {"app": "bench"}},
	            "data": {"text": "x" * 300}}
	    c.request("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body),
	              {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
	    answer = c.getresponse()
	    assert answer.status == 201, answer.read()
	    answer.read()
	PYTHON
}
creates 0 100
callgrind_control -z "$pid" >/dev/null 2>&1
creates 100 400
callgrind_control -d "$pid" >/dev/null 2>&1
callgrind_annotate --inclusive=yes --auto=no --threshold=100 "$work/cg.1" 2>/dev/null | awk '
	/PROGRAM TOTALS/ { gsub(",", ""); total = $1 }
	/apiserver\.c:apiserver_admit |hosts\.c:host_is_known |server_pool\.c:pool_|peers\.c:peer/ {
		gsub(",", "")
		for (i = 1; i <= NF; i++) if ($i ~ /\.c:/) { name = $i; sub(/.*:/, "", name) }
		if ($1 > of[name]) of[name] = $1
	}
	END {
		for (name in of) {
			printf "%-22s %6.3f %%\n", name, 100 * of[name] / total
			sum += of[name]; n++
		}
		printf "%-22s %6.3f %% of %d instructions a create (limit 5 %%)\n", "all of " n, 100 * sum / total, total / 400
		exit !(n >= 9 && sum / total <= 0.05)
	}'
