#!/bin/bash
# Two controllers with one folder: one acts, the other one stands by and is ready. When the first one is killed in the middle
# of upgrades the second one goes on at once, and the log is one.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - standby # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifests
cd "$dir" || exit 1
server_start
one=
two=
trap 'kill -9 $one $two 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
sed -i 's/30s/2s/' catalog.yaml
start() { # NAME PORT
	exec "$alm_bin" controller --data-dir "$data" --catalog-root "$catalog" --metrics-listen "127.0.0.1:$2" --verify-soak 4s \
		--standby >"$dir/$1.out" 2>"$dir/$1.err"
}
port1=$(free_port)
port2=$(free_port)
start one "$port1" &
one=$!
ready() { curl -s "http://127.0.0.1:$1/readyz"; }
WAIT_S=90 soon "one acts and is ready" ok ready "$port1"
start two "$port2" &
two=$!
said() { cut -c1-42 <"$dir/$1.out" | tail -1; }
standing() { grep -c "standing by, .*in use by another alm, process $one" "$dir/two.out"; }
soon "two stands by, and says whom it waits for" 1 standing
is "it is ready for its turn" ok "$(ready "$port2")"
start three "$(free_port)" &
three=$!
soon "a third one, too" 1 grep -c "standing by" "$dir/three.out"
kill "$three"
wait "$three"
is "and it ends when it is asked to" 0 "$?"
code "without --standby it is refused" 1 "is in use by another alm, process $one; stop it first" \
	alm controller --data-dir "$data" --metrics-listen off

package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
has "one installs" etcd "$(WAIT_S=90 app_is etcd "status.installedVersion = '0.9.4'" 2>&1)"
package 0.9.5 >/dev/null
moving() { k get ist -o 'jsonpath={.items[?(@.spec.version=="0.9.5")].status.phase}'; }
soon "an upgrade waits for its workloads" Verifying moving
kill -9 "$one"
wait "$one" 2>/dev/null
one=
before=$(k get apptype etcd -o 'jsonpath={.status.installedVersion}')
has "two ends it" etcd "$(WAIT_S=90 app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
is "which one had not" 0.9.4 "$before"
is "its line tells the server" 1 "$(grep -c '^alm controller: https://' "$dir/two.out")"
kill "$two"
wait "$two"
two=
code "one log, whole, of both" 0 "" alm audit verify --data-dir "$data"
twice() { alm audit query --data-dir "$data" --subject AppType/etcd --type Transition -o json | jq -r '.[].transitionSeq' | sort | uniq -d; }
is "its transitions are there" yes "$([ "$(alm audit query --data-dir "$data" --subject AppType/etcd --type Transition -o json | jq length)" -ge 4 ] && echo yes)"
none "and none of them twice" twice
finish
