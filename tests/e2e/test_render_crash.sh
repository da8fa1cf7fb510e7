#!/bin/bash
# The controller's renderer dies: of a crash, of the processor's time, of memory. The app says so, the others go on, and
# once the chart is better it is installed.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - render crash # SKIP no kubectl"
	echo "1..1"
	exit 0
}
# sanitizers make rendering several times slower: there the budget must not run out before the memory does
budget=3s
grep -q __asan_init "$alm_bin" && budget=60s
up_start --render-cpu "$budget"
manifests
cd "$dir" || exit 1

# chart NAME VERSION TEMPLATE
chart() {
	mkdir -p "$1/templates"
	printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$1/Chart.yaml"
	printf '%s\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {version: "%s"}\n' "$3" "$1" "$2" >"$1/templates/a.yaml"
	alm package build "$1" -o "$catalog" >/dev/null
}
# app NAME
app() {
	cat <<-END
		apiVersion: app.coreos.com/v1beta1
		kind: AppType
		metadata: {name: $1}
		spec: {type: com.example, package: $1, upgrade: {mode: Automatic}}
	END
}
said() { # APP VERSION FIELD
	k get ist "install.$2.$1.com.example" -o "jsonpath={.status.conditions[?(@.type=='PlanReady')].$3}" 2>/dev/null
}
# the process that renders: a child of the sandbox's, which is a child of alm; others end before they have computed a second
renderer() {
	local keeper
	for keeper in $(ps -o pid= --ppid "$pid"); do
		ps -o pid=,times= --ppid "$keeper" | awk '$2 >= 1 {print $1; exit}'
	done
}

# shellcheck disable=SC2016 # template text
slow='{{ $s := repeat 1000000 "0123456789" }}{{ range until 5000 }}{{ $x := sha512sum $s }}{{ end }}'
# shellcheck disable=SC2016 # template text
huge='{{ $l := list }}{{ range until 100000 }}{{ $l = append $l (repeat 100000 "a") }}{{ end }}'
chart crash 1.0.0 "$slow"
app crash | k create -f catalog.yaml -f - >/dev/null
child=
for _ in $(seq 1200); do
	child=$(renderer | head -n 1)
	[ -n "$child" ] && break
	sleep 0.05
done
if [ -z "$child" ]; then
	ok "a crash of the renderer is told # SKIP no child was seen (ps is missing?)"
else
	kill -SEGV "$child"
	soon "a crash of the renderer is told" RenderFailed said crash 1.0.0 reason
	has "with its cause" "crashed with signal 11" "$(said crash 1.0.0 message)"
fi
none "the controller lives" kill -0 "$pid"
chart good 1.0.0 ""
app good | k create -f - >/dev/null
is "another app is installed" "apptype.app.coreos.com/good" "$(app_is good "status.installedVersion = '1.0.0'" 2>&1)"
if grep -q __asan_init "$alm_bin"; then
	ok "processor time # SKIP the sandbox is open in sanitizer builds"
else
	chart cpu 1.0.0 "$slow"
	app cpu | k create -f - >/dev/null
	WAIT_S=120 soon "processor time that is used up is told" RenderLimit said cpu 1.0.0 reason
	has "with the budget" "used more than 3 s of processor time" "$(said cpu 1.0.0 message)"
fi
chart memory 1.0.0 "$huge"
app memory | k create -f - >/dev/null
soon "memory that is used up is told" RenderLimit said memory 1.0.0 reason
has "with the budget" "RenderLimit: more than 268435456 bytes of values and strings at memory/templates/a.yaml:1:" "$(said memory 1.0.0 message)"
OR_EMPTY=1 lacks "nothing of it was applied" k get configmaps -A -o name -- -e /crash -e /cpu -e /memory
for name in crash memory; do chart $name 1.1.0 ""; done
for name in crash memory; do
	is "$name: a better chart is installed" "apptype.app.coreos.com/$name" "$(app_is $name "status.installedVersion = '1.1.0'" 2>&1)"
done
finish
