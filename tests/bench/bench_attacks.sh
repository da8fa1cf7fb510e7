#!/bin/bash
# bench_attacks.sh: how long an administrator waits while others attack the HTTP server, against alone in the same run.
set -euo pipefail
ALM=${ALM:-build/alm}
work=$(mktemp -d)
pid=
ended() {
	set +e # whatever ended, and how
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid"
	rm -rf "$work"
}
trap ended EXIT
printf 'bobtoken,bob,u-bob\n' >"$work/tokens"
chmod 600 "$work/tokens"
metrics=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$ALM" up --data-dir "$work/d" --listen 127.0.0.1:0 --metrics-listen "$metrics" --token-file "$work/tokens" >"$work/log" 2>&1 &
pid=$!
until [ -s "$work/d/kubeconfig" ] && grep -q 'https://' "$work/log"; do sleep 0.05; done
server=$(sed -n 's/ *server: //p' "$work/d/kubeconfig")
curl -sk -o /dev/null -H "Authorization: Bearer $(cat "$work/d/token")" -H 'Content-Type: application/json' \
	-d '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"bob"},
	"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},
	"subjects":[{"kind":"User","name":"bob","apiGroup":"rbac.authorization.k8s.io"}]}' \
	"$server/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
python3 "$(dirname "$0")/attacks.py" "$pid" "$server" "$metrics" "$work/d"
