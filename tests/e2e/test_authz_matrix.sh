#!/bin/sh
# Every verb on every kind at every path by seven identities, compared with the recorded answers of kube-apiserver 1.36
# (tests/golden/authz). With ALM_TEST_CLUSTER, the kubeconfig of a cluster of that version that may be written to, the
# recording is compared with it as well.
# shellcheck source=tests/lib/server.sh disable=SC2119
. tests/lib/server.sh
golden=tests/golden/authz

command -v python3 >/dev/null || {
	echo "ok 1 - authorization matrix # SKIP no python3"
	exit 0
}
server_start || {
	not_ok "the server starts"
	exit 1
}
timeout 120 python3 $golden/matrix.py run "$url" "$dir/data/token" --cafile "$dir/data/ca.crt" >"$dir/ours" || exit 1
server_stop
if python3 $golden/matrix.py compare $golden/kube-apiserver-1.36.txt "$dir/ours" $golden/differs.txt >"$dir/cmp"; then
	ok "authorization matrix: $(tail -1 "$dir/cmp")"
else
	not_ok "authorization matrix: $(tail -1 "$dir/cmp")" "$(cat "$dir/cmp")"
fi

live() {
	cp "$ALM_TEST_CLUSTER" "$dir/kubeconfig"
	export KUBECONFIG="$dir/kubeconfig"
	kubectl create serviceaccount authz-matrix -n kube-system >&2
	kubectl create clusterrolebinding authz-matrix --clusterrole=cluster-admin --serviceaccount=kube-system:authz-matrix >&2
	kubectl create token authz-matrix -n kube-system >"$dir/live-token" || return 1
	timeout 300 python3 $golden/matrix.py run "$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')" \
		"$dir/live-token" --kinds $golden/kube-apiserver-1.36.txt >"$dir/live" || return 1
	python3 $golden/matrix.py compare $golden/kube-apiserver-1.36.txt "$dir/live" >"$dir/cmp"
	differ=$?
	kubectl delete clusterrolebinding authz-matrix >&2
	kubectl delete serviceaccount authz-matrix -n kube-system >&2
	return $differ
}
version=
[ -n "${ALM_TEST_CLUSTER:-}" ] && command -v kubectl >/dev/null &&
	version=$(kubectl --kubeconfig "$ALM_TEST_CLUSTER" version -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["serverVersion"]["minor"])')
if [ "$version" != 36 ]; then
	tests=$((tests + 1))
	echo "ok $tests - the recording is what a real server answers # SKIP ALM_TEST_CLUSTER names no cluster of Kubernetes 1.36"
elif live; then
	ok "the recording is what a real server answers: $(tail -1 "$dir/cmp")"
else
	not_ok "the recording is what a real server answers" "$(cat "$dir/cmp")"
fi
finish
