#!/bin/bash
# What a change of one app costs the controller, in JSON documents that it reads, is the same beside 3 apps and beside 30.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - the cost of one app # SKIP no kubectl"
	echo 1..1
	exit 0
}
server_start
controller=
trap '[ -z "$controller" ] || kill "$controller" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
metrics=127.0.0.1:$(free_port)
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen "$metrics" --verify-soak 1s \
	>"$dir/controller.out" 2>"$dir/controller.err" &
controller=$!
for i in $(seq 31); do
	mkdir -p "$dir/web$i/templates"
	printf 'apiVersion: v2\nname: web%s\nversion: 1.0.0\n' "$i" >"$dir/web$i/Chart.yaml"
	for n in 1 2 3; do
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web%s-%s}\n' "$i" "$n" >"$dir/web$i/templates/$n.yaml"
	done
	alm package build "$dir/web$i" -o "$catalog" >/dev/null
done
apps() { # FROM TO
	for i in $(seq "$1" "$2"); do
		printf -- '---\napiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: web%s}\nspec: {type: e.io}\n' "$i"
	done | k create -f - >/dev/null
}
installed() { k get apptypes -o 'jsonpath={range .items[*]}{.status.installedVersion}{"\n"}{end}' | grep -c 1.0.0; }
parses() { curl -sf "http://$metrics/metrics" | sed -n 's/^alm_json_parses_total //p'; }
# The Lease is renewed meanwhile: two reads in a second are rest.
at_rest() {
	local before now
	before=$(parses)
	for _ in $(seq 120); do
		sleep 1
		now=$(parses)
		[ $((now - before)) -le 2 ] && break
		before=$now
	done
	echo "$now"
}
cost() { # three changes of an app
	local before now sum=0
	for mode in Manual Automatic Manual; do
		before=$(at_rest)
		k patch apptype web1 --type merge -p "{\"spec\":{\"upgrade\":{\"mode\":\"$mode\"}}}" >/dev/null
		now=$(at_rest)
		sum=$((sum + now - before))
	done
	k patch apptype web1 --type merge -p '{"spec":{"upgrade":{"mode":"Automatic"}}}' >/dev/null
	echo "$sum"
}
timeout 60 sh -c 'until kubectl get apptypes; do sleep 0.2; done' >/dev/null 2>&1
apps 1 4
alm catalog add bench "dir://$catalog" --interval 1h >/dev/null
WAIT_S=240 soon "four are installed" 4 installed
few=$(cost)
apps 5 31
WAIT_S=240 soon "and twenty-seven more" 31 installed
many=$(cost)
echo "# three changes: $few parses beside 3 apps, $many beside 30"
is "it is worth a count" yes "$([ "$few" -ge 20 ] && echo yes)"
is "each costs the same beside 30 apps" yes "$([ $((many * 5)) -le $((few * 6 + 60)) ] && echo yes || echo "$few, then $many")"
kill "$controller"
wait "$controller"
controller=
finish
