#!/bin/bash
# The lease is taken away in the middle of everything, again and again: the controller acts no more, comes back by itself, and
# what it had begun is finished.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - a lost lease # SKIP no kubectl"
	echo 1..1
	exit 0
}
apps=24
server_start
one=
trap '[ -z "$one" ] || kill -9 "$one" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
"$alm_bin" controller --data-dir "$dir/one" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s \
	>"$dir/one.out" 2>"$dir/one.err" &
one=$!
for i in $(seq $apps); do
	mkdir -p "$dir/web$i/templates"
	printf 'apiVersion: v2\nname: web%s\nversion: 1.0.0\n' "$i" >"$dir/web$i/Chart.yaml"
	for k in 1 2 3 4; do
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web%s-%s}\n' "$i" "$k" >"$dir/web$i/templates/$k.yaml"
	done
	alm package build "$dir/web$i" -o "$catalog" >/dev/null
	printf -- '---\napiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: web%s}\nspec: {type: e.io}\n' "$i"
done >"$dir/apps.yaml"
timeout 60 sh -c 'until kubectl get apptypes; do sleep 0.2; done' >/dev/null 2>&1
k create -f "$dir/apps.yaml" >/dev/null
alm catalog add bench "dir://$catalog" --interval 1h >/dev/null
lost() { grep -c 'lease is lost' "$dir/one.err"; }
holder() { k get lease alm-controller -n alm-system -o 'jsonpath={.spec.holderIdentity}' | grep -v '^somebody$'; }
for n in 1 2; do
	for _ in $(seq 300); do
		[ -n "$(holder)" ] && break
		sleep 0.2
	done
	# begun, and not yet at its end
	timeout 60 sh -c "until [ \$(kubectl get ist -o name | wc -l) -ge $((n * 5)) ]; do sleep 0.1; done"
	for _ in $(seq 60); do
		[ "$(lost)" -lt "$n" ] || break
		k patch lease alm-controller -n alm-system --type merge -p \
			"{\"spec\":{\"holderIdentity\":\"somebody\",\"leaseDurationSeconds\":3,\"renewTime\":\"$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)\"}}" \
			>/dev/null
		sleep 1
		kill -0 "$one" 2>/dev/null || break
	done
done
is "it was taken away twice" yes "$([ "$(lost)" -ge 2 ] && echo yes)"
installed() { k get apptypes -o 'jsonpath={range .items[*]}{.status.installedVersion}{"\n"}{end}' | grep -c 1.0.0; }
WAIT_S=240 soon "all is installed at last" "$apps" installed
is "by the same process" alive "$(kill -0 "$one" 2>/dev/null && echo alive)"
kill "$one"
wait "$one"
is "which ends well" 0 $?
one=
code "its log is whole" 0 "" alm audit verify --data-dir "$dir/one"
finish
