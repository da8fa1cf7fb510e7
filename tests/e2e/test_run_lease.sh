#!/bin/bash
# Several `alm run` of one name at once: one acts, the others say who does, and wait (R11 of capabilities.md; fleet.md 2.6). Two real
# processes, with two folders that want two values of one object.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - two alm run at once # SKIP no kubectl"
	exit 0
}
one=
two=
watcher=
stop() { # [SIGNAL] VARIABLE...
	local signal=TERM name
	case $1 in KILL | TERM) signal=$1 && shift ;; esac
	for name in "$@"; do
		[ -n "${!name}" ] && kill "-$signal" "${!name}" 2>/dev/null && wait "${!name}" 2>/dev/null
		printf -v "$name" ''
	done
}
trap 'stop KILL one two watcher; up_stop; rm -rf "$dir"' EXIT
up_start
cd "$dir" || exit 1
want() { # FOLDER VALUE
	mkdir -p "$1" && printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: both}\ndata: {v: "%s"}\n' "$2" >"$1/.new" && mv "$1/.new" "$1/both.yaml"
}
run() { alm run --kubeconfig "$KUBECONFIG" --name web --renderer.file.dir "$@"; }
start() { # VARIABLE FOLDER OPTION...: one that goes on; what it says is in FILE.VARIABLE
	"$alm_bin" run --kubeconfig "$KUBECONFIG" --name web --renderer.file.dir "${@:2}" >"$dir/said.$1" 2>&1 &
	printf -v "$1" '%s' $!
}
interval=(--trigger interval --trigger.interval.duration 200ms)
value() { k get configmap both -o 'jsonpath={.data.v}' 2>/dev/null; }
holder() { k get lease -n alm-system alm.web -o 'jsonpath={.spec.holderIdentity}'; }
holds() { holder | grep -c "_${!1}_"; }
says() { grep -c "$2" "$dir/said.$1" | sed 's/^[1-9].*/yes/'; }
looks() { curl -s "http://$metrics/metrics" | awk '/^alm_api_requests_total/ && /verb="get",resource="leases"/ {n += $NF} END {print n + 0}'; }
looked() { [ "$(looks)" -gt "$1" ] && echo yes; }
expire() { k patch lease -n alm-system alm.web --type=merge -p '{"spec": {"leaseDurationSeconds": 1}}' >/dev/null; }

want a 1
want b 2
code "a one-off" 0 "ConfigMap/ConfigMap: Finished" run a --trigger oneoff
none "gives the Lease up at its end" holder
start one a "${interval[@]}"
soon "an interval holds it" 1 holds one
start two b "${interval[@]}"
soon "R11 the other says who acts" yes says two "_${one}_.* holds Lease alm-system/alm.web, and runs what has this name"
soon "  the server is at rest" settled settled
before=$(writes)
n=$(looks)
soon "  it looks" yes looked "$((n + 2))"
is "R11 and writes nothing" "$before 1" "$(writes) $(value)"
code "R11 a one-off that is not to wait is refused" 3 "holds Lease alm-system/alm.web, and runs what has this name; nothing was written" run b --trigger oneoff --lease-timeout 0
code "  nor for longer than it is told" 3 "LeaseHeld" run b --trigger oneoff --lease-timeout 1s
is "  they wrote nothing" "$before 1" "$(writes) $(value)"
code "  a time that is none" 2 "--lease-timeout" run b --trigger oneoff --lease-timeout=-1s
stop one
soon "R11 the first has ended: the other acts" 2 value
start one a --trigger oneoff
soon "  a one-off waits" yes says one "waiting: .*_${two}_"
at=$SECONDS
stop KILL two
wait "$one"
is "R11 its holder killed, on this machine, the one-off goes on" "0 1" "$? $(value)"
is "  at once, not when its Lease has run out" 0 "$((SECONDS - at >= 30))"
one=
elsewhere="{\"spec\": {\"holderIdentity\": \"elsewhere_1_1_0123456789ab_00000000\", \"leaseDurationSeconds\": 60}}"
k patch lease -n alm-system alm.web --type=merge -p "$elsewhere" >/dev/null
code "R11 of a holder on another machine nobody knows" 3 "elsewhere_1_1_0123456789ab_00000000 holds Lease" run a --trigger oneoff --lease-timeout 2s
start one a --trigger oneoff
soon "  a one-off waits for it" yes says one "if that process is dead: kubectl"
want a 5
expire
wait "$one"
is "  its Lease runs out, and the one-off goes on, with what is there by then" "0 5" "$? $(value)"
one=

# Killed in the middle of a rollout.
cat >never.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: web}
spec: {groups: [{steps: [{object: both.yaml, action: CreateOrUpdate, success: [{fieldComparisons: {expectedValues: [{name: v, path: "{.data.v}", value: {static: "never"}}]}}]}]}]}
END
want a 3
start one a --trigger oneoff --renderer.file.rollout never.yaml
soon "a one-off in the middle" 3 value
start two b --trigger oneoff
soon "  the next waits" yes says two "if that process is dead: kubectl"
kill -STOP "$one"
k patch lease -n alm-system alm.web --type=merge -p "$elsewhere" >/dev/null
stop KILL one
run_step "  the step that it prints" "$(sed -n 's/^alm: if that process is dead: //p' said.two)"
wait "$two"
is "  lets it act" "0 2" "$? $(value)"
two=

# Two on one folder, which changes a hundred times; the one that acts is killed on the way.
k get configmap both -w -o 'jsonpath={.data.v}{"\n"}' >seen 2>/dev/null &
# shellcheck disable=SC2034 # stop() has it by its name
watcher=$!
start one a "${interval[@]}"
soon "R11 two on one folder" 1 holds one
start two a "${interval[@]}"
soon "  one acts" yes says two "waiting"
for i in $(seq 101 200); do
	want a "$i"
	[ "$i" -eq 150 ] && soon "  the half of it" 150 value && stop KILL one
done
soon "R11 100 revisions end on the last one" 200 value
soon "  by the other process" 1 holds two
stop watcher
went_back() { awk '$1 > 100 && $1 < max {print $1 " after " max} $1 > max {max = $1}' seen; }
none "R11 and none went back" went_back
stop two
none "ended in good order it holds nothing" holder
# Without a right to Leases nothing is written, and the message names what is missing.
k create serviceaccount poor >/dev/null
k create clusterrole reader --verb=get,list,watch --resource='*.*' >/dev/null
k create clusterrolebinding poor --clusterrole=reader --serviceaccount=default:poor >/dev/null
umask 077 && k config view --raw -o json | jq --arg t "$(k create token poor)" '.users[0].user = {token: $t}' >poor.kubeconfig
mkdir p && sed 's/both/poor/' a/both.yaml >p/poor.yaml
poor() { alm run --kubeconfig poor.kubeconfig --name poor --renderer.file.dir p --trigger oneoff; }
code "no right to create a Lease" 1 'cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "alm-system"' poor
code "  all that it takes is named" 1 "a run takes get, create and update of leases.coordination.k8s.io in namespace alm-system" poor
"$alm_bin" run --kubeconfig poor.kubeconfig --name poor --renderer.file.dir p "${interval[@]}" >said.one 2>&1 &
one=$!
soon "  one that goes on says so, and tries again" yes says one "takes get, create and update of leases.*; tried again"
k create role lease -n alm-system --verb=get,create,update --resource=leases.coordination.k8s.io >/dev/null
k create rolebinding lease -n alm-system --role=lease --serviceaccount=default:poor >/dev/null
soon "  with them it acts, as far as its other rights go" yes says one 'cannot create resource "configmaps"'
stop one
is "  and wrote nothing else" "lease.coordination.k8s.io/alm.poor" "$(k get configmap,lease -A -o name | grep poor)"
steps_ran
finish
