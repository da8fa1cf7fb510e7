#!/bin/bash
# `make test-cluster KUBECONFIG=...`: what there is to say of a real cluster. It must have no namespace alm-system: each part
# brings ALM and takes it off again, its log included. ROUNDS: how often the leader is killed (default 20), or KILL_S: for how long;
# AWAY_S: how long its API server is away (60).
set -uo pipefail
: "${KUBECONFIG:?names the cluster}" "${ALM:?names the program}" "${ROUNDS:=20}"
export ROUNDS ALM_TEST_CLUSTER=$KUBECONFIG
if kubectl get namespace alm-system >/dev/null 2>&1; then
	echo "test-cluster: the cluster has a namespace alm-system, which would be deleted: take another cluster" >&2
	exit 2
fi
insecure=$(grep -q 'insecure-skip-tls-verify: true' "$KUBECONFIG" && echo --insecure-skip-tls-verify)
failed=0
part() { # NAME COMMAND...
	local name=$1 began=$SECONDS
	printf '\n== %s\n' "$name"
	shift
	"$@" || failed=1
	# shellcheck disable=SC2086 # nothing, or one flag
	"$ALM" uninstall --from-cluster --keep-apps --with-log $insecure >/dev/null 2>&1 || failed=1
	kubectl delete crd etcds.etcd.coreos.com --ignore-not-found --timeout=60s >/dev/null || failed=1
	kubectl delete namespace etcd etcd-com-tectonic-storage foo coreos-website --ignore-not-found --timeout=120s >/dev/null || failed=1
	kubectl wait --for=delete namespace/alm-system persistentvolume/alm-log --timeout=120s >/dev/null 2>&1 || failed=1
	echo "# $name: $((SECONDS - began)) s"
}
# shellcheck disable=SC2317 # part runs it
checks() { # no tee /dev/stderr: where the output goes to a file it would begin that anew
	local line n=0 plan='' bad=''
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in
		"ok "*) n=$((n + 1)) ;;
		"not ok "*) bad=yes ;;
		1..*) plan=${line#1..} ;;
		esac
	done < <("$@")
	[ -z "$bad" ] && [ "$plan" = "$n" ]
}
part "the story" deploy/demo/demo.sh cluster
for section in hand catalog removal; do
	part "sections of story.md: $section" checks "tests/e2e/test_story_$section.sh"
done
part "its rights" checks tests/e2e/test_rights.sh
part "the leader is killed" checks tests/e2e/test_leader_killed.sh
part "alm run" checks tests/cluster/pipelines.sh
part "replicas and certificates" checks tests/cluster/replicas.sh
part "what else goes wrong" checks tests/cluster/failures.sh
part "a newcomer's five commands" checks tests/cluster/newcomer.sh
part "ALM upgrades itself" checks tests/e2e/test_self_upgrade.sh
part "on and off" checks tests/e2e/test_uninstall.sh
[ $failed = 0 ] && echo "test-cluster: all parts passed" || echo "test-cluster: FAILED" >&2
exit $failed
