#!/bin/bash
# Folders of archives: `alm package build`, the commands of `alm catalog`, lint with file and line; a catalog that
# shrinks, two of equal priority, 100 changes in a few seconds, a catalog of OLM.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - catalog folders # SKIP no kubectl"
	exit 0
}

# chart NAME VERSION OUT [ALM.YAML]: a chart of one ConfigMap
chart() {
	mkdir -p "$dir/src/$1/templates"
	printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$dir/src/$1/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' "$1" >"$dir/src/$1/templates/c.yaml"
	rm -f "$dir/src/$1/alm.yaml"
	[ $# -lt 4 ] || printf '%b' "$4" >"$dir/src/$1/alm.yaml"
	alm package build "$dir/src/$1" -o "$3"
}

# --- alm package build ---
one=$dir/one two=$dir/two
has "what was built" "$one/a-1.0.0.tgz  sha256:" "$(chart a 1.0.0 "$one" 'channels: [stable]\n')"
touch -d 2001-01-01 "$dir/src/a/Chart.yaml"
alm package build "$dir/src/a" -o "$two" >/dev/null
none "the same input gives the same bytes" cmp "$one/a-1.0.0.tgz" "$two/a-1.0.0.tgz"
has "the descriptor stands in Chart.yaml" "app.coreos.com/package" "$(tar xOf "$one/a-1.0.0.tgz" a/Chart.yaml)"
mkdir -p "$dir/mismatch"
(cd "$dir/mismatch" && tar xf "$one/a-1.0.0.tgz" && echo 'channels: [other]' >a/alm.yaml && tar czf a-1.0.0.tgz a && rm -r a)
code "descriptor and annotation that differ" 1 "DescriptorMismatch" alm catalog lint "$dir/mismatch"

# --- commands ---
for sub in add list show lint index verify pull push; do
	code "alm catalog $sub --help" 0 "alm catalog $sub" alm catalog $sub --help
done
chart a 1.1.0 "$one" 'channels: [stable]\nreplaces: 1.0.0\nskips: [1.0.5]\nimages: [q.io/a:1]\n' >/dev/null
has "show" "    skips     1.0.5" "$(alm catalog show "$one" a)"
code "show of what is not there" 1 "has no package b" alm catalog show "$one" b
code "index" 0 "index.yaml: 2 versions" alm catalog index "$one" --url https://charts.example/stable
has "has addresses" "https://charts.example/stable/a-1.1.0.tgz" "$(cat "$one/index.yaml")"
before=$(sha256sum "$one/index.yaml")
none "an index says no time by itself: the same archives, the same bytes" seek generated "$one/index.yaml"
alm catalog index "$one" --generated 2026-05-01T10:00:00Z >/dev/null 2>&1
has "--generated writes it" 'generated: "2026-05-01T10:00:00Z"' "$(cat "$one/index.yaml")"
SOURCE_DATE_EPOCH=1700000000 "$alm_bin" catalog index "$one" --generated now >/dev/null 2>&1
has "now is SOURCE_DATE_EPOCH, if there is one" 'generated: "2023-11-14T22:13:20Z"' "$(cat "$one/index.yaml")"
code "a time that is none" 2 "--generated: soon: want now, or a time" alm catalog index "$one" --generated soon
alm catalog index "$one" --url https://charts.example/stable >/dev/null
is "and the same bytes again" "$before" "$(sha256sum "$one/index.yaml")"
code "pull into one file" 0 "2 versions" alm catalog pull "$one" "$dir/one.tgz"
code "and from it into a folder" 0 "2 versions" alm catalog pull "$dir/one.tgz" "$dir/again"
none "are the same archives" cmp "$one/a-1.1.0.tgz" "$dir/again/a-1.1.0.tgz"
code "push goes to a registry" 2 "push goes to oci://" alm catalog push "$one" "$two"
alm catalog pull "$one" "$dir/plain" 2>"$dir/progress" >/dev/null
none "no terminal: nothing of it" cat "$dir/progress"

# --- lint: file, line, remedy ---
bad=$dir/bad
chart b 1.0.0 "$bad" 'channels: [stable]\nprovides: [things.x.io/v1, others.x.io/v1]\n' >/dev/null
chart b 1.1.0 "$bad" 'channels: [stable]\nrequires:\n- {resource: absent.x.io/v1}\nprovides: [things.x.io/v1]\n' >/dev/null
cp "$bad/b-1.1.0.tgz" "$dir/b.tgz"
out=$(alm catalog lint "$bad" 2>/dev/null)
has "a dropped resource" "b-1.1.0.tgz:alm.yaml:4: error drop-in-minor: b 1.1.0 drops others.x.io/v1 of 1.0.0
    remedy: keep it, or publish as 2.0.0" "$out"
has "a requirement" "b-1.1.0.tgz:alm.yaml:2: warning requires-nobody: b 1.1.0 requires absent.x.io/v1" "$out"
code "errors: exit status 1" 1 "1 error" alm catalog lint "$bad" --quick
for v in 0.9.4 0.9.5; do package $v "$dir/etcd" >/dev/null; done
code "the demo's catalog has none" 0 "0 errors" alm catalog lint "$dir/etcd"

# --- controllers ---
manifests
many=$dir/many
mkdir -p "$many"
for i in $(seq 24); do chart "p$i" 1.0.0 "$many" >/dev/null; done
for v in 0.9.4 0.9.5; do package $v "$many" >/dev/null; done
up_start --catalog-root "$many" --catalog-root "$dir/etcd" --catalog-root "$dir/olm"
cd "$dir" || exit 1
add() { alm catalog add "$1" "dir://$2" --interval 60s >/dev/null; }
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason} {.status.versions}'; }
add first "$many"
add second "$dir/etcd"
soon "26 versions" "Synced 26" synced first
soon "two versions" "Synced 2" synced second
k create -f etcd-apptype.yaml >/dev/null
resolved() { k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Resolved")].reason}'; }
soon "two catalogs of equal priority have the package" AmbiguousSource resolved
has "both are named" "first and second" "$(k get apptype etcd -o yaml)"
k patch catalog first --type=merge -p '{"spec":{"priority":5}}' >/dev/null
is "the higher priority wins" etcd "$(app_is etcd "status.installedVersion = '0.9.5'" | sed 's/.*\///')"
is "and is named" first "$(k get apptype etcd -o 'jsonpath={.status.source.catalog}')"

cp "$dir/b.tgz" "$many/b-1.1.0.tgz"
cp "$bad/b-1.0.0.tgz" "$many/"
soon "what lint finds wrong is left out" "b-1.1.0.tgz: drop-in-minor: others.x.io/v1 of 1.0.0 is gone; publish it as 2.0.0" \
	k get catalog first -o 'jsonpath={.status.rejected[0]}'

mkdir "$dir/aside"
mv "$many"/p*.tgz "$dir/aside/"
soon "most of it gone: not believed" "SuspiciousShrink 27" synced first
digest=$(k get catalog first -o 'jsonpath={.status.quarantined.digest}')
is "its apps go on" "Resolved 0.9.5" "$(resolved) $(k get apptype etcd -o 'jsonpath={.status.installedVersion}')"
k annotate catalog first "app.coreos.com/accept-digest=$digest" >/dev/null
soon "until somebody accepts it" "Synced 3" synced first
none "and nothing is quarantined" k get catalog first -o 'jsonpath={.status.quarantined}'
is "both are decisions" "Quarantined deny SuspiciousShrink,QuarantineEnded allow Accepted," \
	"$(alm audit query --type Decision -o json | jq -r '.[] | select(.subject.name == "first") | "\(.reason) \(.body.verdict) \(.body.rules[0].id)"' | tail -2 | tr '\n' ,)"
mv "$dir/aside"/p*.tgz "$many/"
soon "it comes back" "Synced 27" synced first

timeout 60 kubectl get catalog first -w -o 'jsonpath={.status.digest}{"\n"}' >"$dir/digests" 2>/dev/null &
watch=$!
soon "the watch began" yes sh -c "[ -s '$dir/digests' ] && echo yes"
began=$EPOCHSECONDS
for i in $(seq 100); do
	echo "deprecations: [{package: p1, message: number $i}]" >"$many/.new"
	mv "$many/.new" "$many/catalog.yaml"
	sleep 0.04
done
took=$((EPOCHSECONDS - began))
quiet_for 3
kill $watch 2>/dev/null
n=$(sort -u "$dir/digests" | wc -l)
# Notices are merged for two seconds at most (SOURCE_LATE_NS); the changes take five where the machine is not busy.
most=$((took > 5 ? 7 + (took - 5) / 2 : 7))
is "100 changes are few revisions ($n in $took s)" yes "$([ "$n" -ge 2 ] && [ "$n" -le $most ] && echo yes)"

# --- a catalog of OLM ---
olm=$dir/olm
mkdir -p "$olm/etcd-operator"
cp "$many/etcd-operator-0.9.4.tgz" "$olm/"
cat >"$olm/etcd-operator/catalog.yaml" <<'END'
---
{schema: olm.package, name: etcd-operator, defaultChannel: stable}
---
schema: olm.channel
package: etcd-operator
name: stable
entries:
- {name: etcdoperator.v0.9.4}
- {name: etcdoperator.v0.9.5, replaces: etcdoperator.v0.9.4}
---
schema: olm.bundle
name: etcdoperator.v0.9.4
package: etcd-operator
image: quay.io/coreos/bundle:0.9.4
properties: [{type: olm.package, value: {packageName: etcd-operator, version: 0.9.4}}]
---
schema: olm.bundle
name: etcdoperator.v0.9.5
package: etcd-operator
image: quay.io/coreos/bundle:0.9.5
properties: [{type: olm.package, value: {packageName: etcd-operator, version: 0.9.5}}]
END
out=$(alm catalog show "$olm" etcd-operator)
has "OLM: channels and edges" "    channels  stable
    replaces  0.9.4" "$out"
has "OLM: what is no chart, and what helps" "NotAChart: bundle etcdoperator.v0.9.5 (quay.io/coreos/bundle:0.9.5) is none; put the chart" "$out"
add olm "$olm"
soon "OLM: a Catalog of it" "Synced 2" synced olm
finish
