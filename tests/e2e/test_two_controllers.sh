#!/bin/bash
# A second controller on one cluster, with a folder and a log of its own: it says why it cannot work and ends, and the
# first one notices nothing.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - two controllers # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifests
cd "$dir" || exit 1
server_start
one=
trap '[ -z "$one" ] || kill -9 "$one" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
controller() { # NAME; in a shell of its own, which becomes it
	exec "$alm_bin" controller --data-dir "$dir/$1" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s \
		--audit-origin "test.local/$1"
}
controller one >"$dir/one.out" 2>"$dir/one.err" &
one=$!
anchor() { k get configmap alm-audit-anchor -n alm-system -o 'jsonpath={.data.checkpoint}' | head -1; }
WAIT_S=90 soon "the cluster remembers the log of one" test.local/one anchor
leader() { k get lease alm-controller -n alm-system -o 'jsonpath={.spec.holderIdentity}'; }
WAIT_S=90 soon "and it leads" test.local/one leader
timeout 60 "$alm_bin" controller --data-dir "$dir/two" --metrics-listen off --audit-origin test.local/two >two.out 2>two.err
status=$?
is "two ends by itself" yes "$([ $status -ne 0 ] && [ $status -ne 124 ] && echo yes)"
has "and says why" "of the log test.local/one, and this is test.local/two (where an ALM still works with that one, end this one" "$(cat two.err)"
is "it was never the leader" test.local/one "$(leader)"
is "the cluster remembers the log of one as before" test.local/one "$(anchor)"
package 0.9.4 >/dev/null
WAIT_S=90 soon "one has brought its definitions" served definitions
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
WAIT_S=90 has "one goes on" etcd "$(WAIT_S=90 app_is etcd "status.installedVersion = '0.9.4'" 2>&1)"
kill "$one"
wait "$one" 2>/dev/null
one=
code "the log of one is whole" 0 "" alm audit verify --data-dir "$dir/one"
finish
