#!/bin/bash
# Two controllers on one server: the one that acts is stopped in the middle of an upgrade (SIGSTOP), the other takes the
# Lease over and ends the upgrade; woken up (SIGCONT), the former one finds out and spoils nothing.
# It takes longer than a Lease lasts: LONG=1.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
[ -n "${LONG:-}" ] || {
	echo "ok 1 - two controllers, one paused # SKIP takes two minutes: LONG=1"
	echo 1..1
	exit 0
}
command -v kubectl >/dev/null || {
	echo "ok 1 - two controllers, one paused # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifests
cd "$dir" || exit 1
"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 --simulate-workloads >"$dir/out" 2>"$dir/err" &
pid=$!
one='' two=''
trap '[ -z "$one" ] || kill -CONT "$one"; kill -9 $one $two 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
timeout 60 sh -c "until [ -s '$dir/out' ]; do sleep 0.1; done"
export KUBECONFIG=$dir/server/kubeconfig
start() { # NAME
	"$alm_bin" controller --data-dir "$dir/$1" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s \
		--audit-origin "test.local/$1" >"$dir/$1.out" 2>"$dir/$1.err" &
}
holder() { k get lease alm-controller -n alm-system -o 'jsonpath={.spec.holderIdentity}'; }
strategy() { k get ist -o 'jsonpath={.items[*].spec.version}'; }
start one
one=$!
soon "one has the Lease" test.local/one holder
timeout 60 sh -c 'until kubectl wait --for=condition=Established crd/apps.app.coreos.com; do sleep 0.2; done' >/dev/null 2>&1
start two
two=$!
soon "two waits" "alm controller: waiting, test.local/one holds the lease alm-system/alm-controller" \
	grep -o 'alm controller: waiting, .*' "$dir/two.out"
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
uid() { k get deployment etcd-operator -n etcd -o 'jsonpath={.metadata.uid}'; }
before=$(uid)
package 0.9.5 >/dev/null
WAIT_S=90 soon "an upgrade begins" "0.9.4 0.9.5" strategy
kill -STOP "$one"
WAIT_S=150 soon "one is stopped: two has the Lease" test.local/two holder
WAIT_S=90 has "and ends the upgrade" etcd "$(WAIT_S=90 app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
kill -CONT "$one"
soon "one wakes up, and knows that it has lost it" 1 grep -c 'msg="the lease is lost' "$dir/one.err"
is "what it had under way is written by nobody twice" "0.9.4 0.9.5" "$(strategy)"
is "the objects are those of before" "$before" "$(uid)"
is "two still has it" test.local/two "$(holder)"
is "the app runs" "0.9.5 Installed" \
	"$(k get apptype etcd -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}')"
code "the log of one is whole" 0 "" alm audit verify --data-dir "$dir/one"
code "the log of two is whole" 0 "" alm audit verify --data-dir "$dir/two"
code "the log of the server is whole" 0 "" alm audit verify --data-dir "$dir/server"
finish
