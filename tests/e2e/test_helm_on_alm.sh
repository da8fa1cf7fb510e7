#!/bin/sh
# The real helm (HELM, PATH or the oracles; skipped without) against `alm server`: install, upgrade, rollback,
# uninstall of the demo chart, whose archives `alm package build` made.
set -u
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
if [ ! -x "$helm" ] || ! "$helm" version --short 2>/dev/null | grep -q '^v[34]\.'; then
	echo "ok 1 - helm on alm # SKIP no helm (set HELM)"
	echo "1..1"
	exit 0
fi
# shellcheck source=tests/lib/server.sh
. tests/lib/server.sh
server_start "$@" || {
	not_ok "the server starts"
	echo "1..1"
	exit 1
}

# check NAME TEXT ARGUMENT...: status 0 and a text of the output
check() {
	name=$1 want=$2
	shift 2
	out=$(timeout 60 "$helm" "$@" 2>&1)
	status=$?
	case $out in *"$want"*) [ $status -eq 0 ] && ok "$name" && return ;; esac
	not_ok "$name (exit $status, wanted $want)" "$out"
}

for v in 0.9.4 0.9.5; do
	ALM=$BUILD/alm deploy/demo/package.sh $v "$dir/catalog" >/dev/null || not_ok "package $v"
done
check "install" "STATUS: deployed" install etcd "$dir/catalog/etcd-operator-0.9.4.tgz" -n etcd --create-namespace
check "list" "etcd-operator-0.9.4" list -A
check "upgrade" "REVISION: 2" upgrade etcd "$dir/catalog/etcd-operator-0.9.5.tgz" -n etcd
check "history" "superseded" history etcd -n etcd
check "get manifest" "quay.io/coreos/etcd-operator:0.9.5" get manifest etcd -n etcd
check "rollback" "Rollback was a success" rollback etcd 1 -n etcd
check "the rolled back release" "Rollback to 1" history etcd -n etcd
check "uninstall" 'release "etcd" uninstalled' uninstall etcd -n etcd
if timeout 60 "$helm" list -A 2>/dev/null | grep -q etcd; then not_ok "nothing is left"; else ok "nothing is left"; fi
finish
