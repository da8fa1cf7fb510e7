#!/bin/sh
# alm template beside the real helm (HELM=/path/to/helm, or in PATH, or among the oracles; skipped without):
# what `helm create` makes, the demo charts, an umbrella, and a short differential fuzz.
set -u
BUILD=${BUILD:-build}
alm=$(pwd)/$BUILD/alm
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; shift; printf '%s\n' "$@" | head -20 | sed 's/^/# /'; }
if [ ! -x "$helm" ] || ! "$helm" version --short 2>/dev/null | grep -q '^v4\.1'; then
	echo "ok 1 - charts beside helm # SKIP no helm 4.1 (set HELM)"
	echo "1..1"
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# same NAME ARGUMENT...: equal standard output and exit status
same() {
	name=$1
	shift
	"$helm" template "$@" >"$tmp/h" 2>"$tmp/he"
	hs=$?
	"$alm" template "$@" >"$tmp/a" 2>"$tmp/ae"
	as=$?
	if cmp -s "$tmp/h" "$tmp/a" && [ $hs -eq $as ]; then ok "$name"; else
		not_ok "$name ($as, helm $hs)" "$(diff "$tmp/h" "$tmp/a" | head -10)" "$(head -3 "$tmp/ae")"
	fi
}

"$helm" create "$tmp/scaffold" >/dev/null 2>&1
same "scaffold" r "$tmp/scaffold"
same "scaffold with ingress and autoscaling" r "$tmp/scaffold" --set ingress.enabled=true,autoscaling.enabled=true
same "scaffold for an old server" r "$tmp/scaffold" --set ingress.enabled=true --kube-version 1.18.0
same "scaffold, one template" r "$tmp/scaffold" -s templates/deployment.yaml
same "scaffold without hooks" r "$tmp/scaffold" --no-hooks
same "scaffold, a template that is not there" r "$tmp/scaffold" -s templates/none.yaml

mkdir -p "$tmp/umbrella/charts"
printf 'apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n' >"$tmp/umbrella/Chart.yaml"
for i in 1 2 3 4 5; do
	(cd "$tmp/umbrella/charts" && "$helm" create "sub$i" >/dev/null 2>&1)
	printf '  - {name: sub%s, version: 0.1.0, condition: sub%s.enabled}\n' $i $i >>"$tmp/umbrella/Chart.yaml"
done
same "umbrella" r "$tmp/umbrella"
same "umbrella with one chart off" r "$tmp/umbrella" --set sub3.enabled=false --set global.x=1

for v in plain:1.0.0 0.9.4 0.9.5 0.9.6 1.0.0; do
	if ! ALM=$alm deploy/demo/package.sh "$v" "$tmp/catalog" >"$tmp/out" 2>&1; then
		not_ok "package $v" "$(cat "$tmp/out")"
		continue
	fi
	cut -d' ' -f1 "$tmp/out" >"$tmp/path"
	same "demo chart $v" etcd "$(cat "$tmp/path")" -n etcd --include-crds
	cp "$(cat "$tmp/path")" "$tmp/first.tgz"
	ALM=$alm deploy/demo/package.sh "$v" "$tmp/catalog" >/dev/null 2>&1
	if cmp -s "$tmp/first.tgz" "$(cat "$tmp/path")"; then ok "demo chart $v packs to the same bytes"; else not_ok "demo chart $v packs to the same bytes"; fi
done

if out=$(timeout 300 python3 tests/fuzz/diff.py --seed "${SEED:-1}" --runs "${RUNS:-5}" "$alm" "$helm" 2>&1); then
	ok "differential fuzz: $(printf '%s' "$out" | tail -1)"
else
	not_ok "differential fuzz" "$out"
fi
echo "1..$n"
