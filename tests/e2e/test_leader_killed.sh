#!/bin/bash
# Two controllers on one log; the one that acts is killed at a random moment of each upgrade, ROUNDS times (default 3) or for KILL_S
# seconds. Every upgrade comes to its end, and each transition is in the log once; whoever acts serves the audit records, with the same CA. On alm
# server, or the cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - leader killed # SKIP no kubectl"
	echo 1..1
	exit 0
}
: "${ROUNDS:=3}" "${SEED:=$$}"
RANDOM=$SEED
pids=()
trap 'watch_ends
	kill -9 "${pids[@]}" 2>/dev/null
	k delete clusterrolebinding,clusterrole alm-records-reader --ignore-not-found >/dev/null 2>&1
	k delete serviceaccount reader -n default --ignore-not-found >/dev/null 2>&1
	up_stop; rm -rf "$dir"' EXIT
manifests
cd "$dir" || exit 1
if [ -n "${ALM_TEST_CLUSTER:-}" ]; then
	(umask 077 && cp "$ALM_TEST_CLUSTER" "$dir/kubeconfig")
	export KUBECONFIG=$dir/kubeconfig
else
	server_start
fi
insecure=$(grep -q 'insecure-skip-tls-verify: true' "$KUBECONFIG" && echo --insecure-skip-tls-verify)
records=$(free_port)
start() {
	# shellcheck disable=SC2086 # nothing, or one flag
	"$alm_bin" controller --data-dir "$data" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s --standby $insecure \
		--records-listen "127.0.0.1:$records" \
		>>"$dir/controllers.out" 2>>"$dir/controllers.err" &
	pids+=($!)
}
start
start
WAIT_S=90 soon "one acts, and brings its definitions" served definitions
first_version
k create serviceaccount reader -n default >/dev/null
k apply -f - >/dev/null <<'END'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: alm-records-reader}
rules: [{apiGroups: [audit.app.coreos.com], resources: [auditrecords], verbs: [list]}]
END
k create clusterrolebinding alm-records-reader --clusterrole=alm-records-reader --serviceaccount=default:reader >/dev/null
token=$(k create token reader -n default)
cp "$data/records-ca.crt" ca.crt
served() { # the transitions of the app that the records have
	curl -s --noproxy '*' --cacert ca.crt --resolve "alm-records.alm-system.svc:$records:127.0.0.1" -H "Authorization: Bearer $token" \
		"https://alm-records.alm-system.svc:$records/apis/audit.app.coreos.com/v1alpha1/auditrecords?fieldSelector=subject.name=etcd" |
		jq -r '.items[] | select(.type == "Transition" and .subject.kind == "AppType") | .transitionSeq' | sort -n
}
are_served() { served | head -"$1" | tail -1; }
kill_in_upgrades 3
soon "who acts now serves the records, as the first one did" "$last" are_served "$last"
is "each transition is in them once" "$(seq "$last")" "$(served | head -"$last")"
for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
for p in "${pids[@]}"; do wait "$p" 2>/dev/null; done
pids=()
watch_ends
is "there were transitions" yes "$([ "${last:-0}" -ge "$ROUNDS" ] && echo yes)"
transitions_are_once "$data"
is "nothing is left of a former version" 1 "$(k get deployments -n etcd -o name | wc -l)"
finish
