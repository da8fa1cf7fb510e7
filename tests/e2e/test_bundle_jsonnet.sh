#!/bin/bash
# spec.renderer of a Bundle: its objects are the value of a program in its branch (L8, L9, L25, L30 of capabilities.md), and of
# one that fails nothing is applied and nothing pruned.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null || ! ldconfig -p | grep -q 'libjsonnet\.so\.0'; then
	echo "ok 1 - Jsonnet of bundles # SKIP no kubectl, git or libjsonnet.so.0"
	exit 0
fi
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot

push() { # MESSAGE
	git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
bundle() { # LINES below spec
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec:\n  source: {git: {url: "file://%s/ssot.git", path: apps}}\n  trigger: {interval: 1s}\n%s\n' "$catalog" "$1" >web.yaml
}
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
rendered() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="Rendered")].reason}'; }
message() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="Rendered")].message}'; }
tells() { message | grep -cF "$1"; }
there() { k get configmap -l app.coreos.com/bundle=web -o 'jsonpath={range .items[*]}{.metadata.name}={.data.v} {end}'; }
offline() { env -u KUBECONFIG HOME="$dir/nowhere" "$alm_bin" "$@"; }

mkdir -p ssot/apps/lib
cat >ssot/apps/lib/map.libsonnet <<'EOF'
function(name, v) { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name }, data: { v: v } }
EOF
cat >ssot/apps/main.jsonnet <<'EOF'
local map = import 'map.libsonnet';
local config = import 'generic-operator/config';
{
  region: map('region', std.extVar('region')),
  motd: map('motd', std.stripChars(importstr 'motd.txt', '\n')),
  cluster: map('cluster', (import 'alm-runtime/cluster').name),
} + { [n]: map(n, 'of the configuration') for n in config.names }
EOF
echo hello >ssot/apps/motd.txt
printf 'not: [yaml\n' >ssot/apps/none.yaml # no manifest: the program is all there is
ln -s /etc/passwd ssot/apps/passwd
push 'a program'
jsonnet='  renderer: {type: jsonnet, entrypoint: main.jsonnet, jpath: [lib], extStr: {region: eu}}'
bundle "$jsonnet"'
  config: {values: {names: [a, b]}}'
code "L8 it is built without a cluster" 0 "# Source: motd" offline bundle build -f ssot --bundle web.yaml
k apply -f web.yaml >/dev/null
soon "L8 L9 a program with libraries and a configuration is applied" "Synced $head" state
all='a=of the configuration b=of the configuration cluster=default motd=hello region=eu '
is "as it is built" "$all" "$(there)"
# A commit that changes nothing below spec.source.git.path.
echo 'for people' >ssot/README.md
push 'no object'
same() { alm audit query --data-dir "$data" --reason RevisionRead -o json | jq -r '.[-1].body.source | "\(.commit) is as \(.sameAs)"'; }
soon "another commit of the same tree is told" "Synced $head" state
soon "  and is not rendered again" "$head is as $(git -C ssot rev-parse HEAD~1)" same
is "  what is there is as it was" "$all" "$(there)"
sed -i 's/names: \[a, b\]/names: [a]/; s/region: eu/region: us/' web.yaml
k apply -f web.yaml >/dev/null
all='a=of the configuration cluster=default motd=hello region=us '
soon "another configuration is another revision, which prunes" "$all" there

# fails NAME REASON TEXT: what was pushed is told so, by vet, too, and changes nothing
fails() {
	soon "$1 is told, with its place" 1 tells "$3"
	is "  in a word" "$2" "$(rendered)"
	is "  the source is there" "True Fetched" "$(k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="SourceReady")].status} {.status.conditions[?(@.type=="SourceReady")].reason}')"
	code "  by vet, too" 1 "$3" offline bundle vet -f ssot --bundle web.yaml
	is "  nothing is applied, nothing pruned" "$all" "$(there)"
}
cp ssot/apps/main.jsonnet main.jsonnet
sed -i 's/^{/local x = error "no good"; { motd: map(x, ""), /; s/^  motd.*//' ssot/apps/main.jsonnet
push 'an error'
fails "an error" RenderFailed "RUNTIME ERROR: no good; main.jsonnet:3:"
run_step "  alm status has a step" "$(next_steps)"
git -C ssot rm -q --cached apps/main.jsonnet
rm ssot/apps/main.jsonnet
push 'it is gone'
fails "an entrypoint that is gone" RenderFailed "RenderFailed: main.jsonnet: no such file"
echo "{ a: importstr 'passwd' }" >ssot/apps/main.jsonnet
push 'a link'
fails "a symbolic link that is imported" RenderFailed "passwd is a symbolic link"
echo "{}" >ssot/apps/main.jsonnet
push 'nothing'
soon "a program without an object is no reason to delete all" "SourceEmpty" k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="SourceReady")].reason}'
echo "{ [std.toString(i)]: std.repeat('x', 1000000) for i in std.range(1, 50) }" >ssot/apps/main.jsonnet
push '50 MB'
fails "50 MB of output" RenderLimit "RenderLimit: main.jsonnet: "
kill -9 "$pid"
wait "$pid" 2>/dev/null
up_start
soon "after a restart, still" "RenderLimit" rendered
is "  nothing is pruned" "$all" "$(there)"

# A rollout of the tree is that of the unit.
cp main.jsonnet ssot/apps/objects.jsonnet
cat >ssot/apps/main.jsonnet <<'EOF'
{
  objects: import 'objects.jsonnet',
  rollout: {
    apiVersion: 'app.coreos.com/v1alpha1', kind: 'Rollout', metadata: { name: 'r' },
    spec: { groups: [{ name: 'first', steps: [{ object: 'motd', action: 'CreateOrUpdate' }] }, { name: 'second', steps: [{ object: 'region', action: 'CreateOrUpdate' }] }] },
  },
}
EOF
push 'a rollout'
soon "L25 a rollout that the program gives" "Synced $head" state
has "  is the one that is run" "first second" "$(k get bundle web -o 'jsonpath={.status.groups[*].name}')"

# More configuration, of a Secret and a ConfigMap, as the Bundle's account (L30).
cat >ssot/apps/main.jsonnet <<'EOF'
local map = import 'map.libsonnet';
local c = import 'alm-runtime/config';
{ a: map('a', c.a), b: map('b', if c.password == 'bad-hunter2' then error 'no ' + c.password else std.toString(std.length(c.password))) }
EOF
push 'more of it'
k create configmap more --from-literal=doc='{a: of the map}' >/dev/null
k create secret generic more --from-literal=password=hunter2 >/dev/null
k create serviceaccount deployer >/dev/null
k create clusterrolebinding deployer --clusterrole=admin --serviceaccount=default:deployer >/dev/null
bundle "$jsonnet"'
  serviceAccountName: default/deployer
  config:
    values: {a: of the spec}
    from:
    - {configMap: {name: more, key: doc}}
    - {secret: {name: more}}'
k apply -f web.yaml >/dev/null
all='a=of the map b=7 '
soon "L30 L9 configuration of several resources, later ones win" "$all" there
k create secret generic more --from-literal=password=longer-hunter2 --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1
all='a=of the map b=14 '
soon "  a change of one is rolled out" "$all" there
code "  offline it is given" 1 "give what it brings with --config-file" offline bundle vet -f ssot --bundle web.yaml
echo 'password: abc' >config.yaml
code "  by a file" 0 'v: "3"' offline bundle build -f ssot --bundle web.yaml --config-file config.yaml
k create secret generic more --from-literal=password=bad-hunter2 --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1
soon "a program that tells a value of a Secret" 1 tells "RenderFailed: the words of its error are not shown, as they may have values of the Secrets and lists that it is given; main.jsonnet:3:"
secretly() { # TEXT PROGRAM: whose error would tell the value
	printf '%s\n' "local c = import 'alm-runtime/config'; $2" >ssot/apps/main.jsonnet
	push "$1"
	soon "  nor is $1" 1 tells "$1"
}
said='the words of its error are not shown, as they may have values of the Secrets and lists that it is given'
secretly "RenderFailed: main.jsonnet: Invalid: $said" "{ [c.password]: 'x' }"
secretly "RenderFailed: $said; main.jsonnet:1:" "error '\n\tmain.jsonnet:7' + c.password + '\n\t' + c.password + ':1'"
secretly "RenderFailed: main.jsonnet: Invalid: $said" "{ objects: { m: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } } }, rollout: { apiVersion: 'app.coreos.com/v1alpha1', kind: 'Rollout', metadata: { name: 'r' }, spec: { groups: [{ name: 'g', steps: [{ object: 'm', action: c.password }] }] } } }"
printf '%s\n' "local c = import 'alm-runtime/config'; { s: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { type: c.password, ports: [{ port: 1 }] } } }" >ssot/apps/main.jsonnet
push 'a value in an object'
refusal() { k get bundle web -o json | jq '[.status.conditions[].message | select(contains("value: \"(hidden)\": supported values"))] | length'; }
soon "  nor by the words of a server that refuses it" 1 refusal
lacks "  is not told" k get bundle web -o json -- hunter2
lacks "  nor by the log" alm audit query --data-dir "$data" -o json -- hunter2
lacks "  nor by ALM's own" cat "$dir/err" -- hunter2
k delete secret more >/dev/null
soon "one that is gone" 1 tells "ValueMissing: spec.config.from: Secret default/more: "
is "  nothing is applied, nothing pruned" "$all" "$(there)"
source() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="SourceReady")].status} {.status.conditions[?(@.type=="SourceReady")].reason}'; }
mv "$catalog/ssot.git" "$catalog/away.git"
soon "  whether git can be read is told all the same" "False SourceUnreachable" source
mv "$catalog/away.git" "$catalog/ssot.git"
soon "  and when it can again" "True Fetched" source
k create secret generic more --from-literal=password=x >/dev/null
k delete clusterrolebinding deployer >/dev/null
soon "L30 it is read with the rights of the account" 1 tells "cannot get resource"
is "  nothing is applied, nothing pruned" "$all" "$(there)"

# Live lists, too, anew at each interval (L30); which these are the tree says.
lists() { # MESSAGE PROGRAM
	printf '%s\n' "local map = import 'map.libsonnet'; $2" >ssot/apps/main.jsonnet
	push "$1"
}
k create clusterrolebinding deployer --clusterrole=admin --serviceaccount=default:deployer >/dev/null
k create configmap listed-1 >/dev/null
bundle "$jsonnet"'
  serviceAccountName: default/deployer'
k apply -f web.yaml >/dev/null
lists 'a list' "{ a: map('a', std.join(' ', [m.metadata.name for m in (import 'alm-runtime/configmaps/list') if std.startsWith(m.metadata.name, 'listed-')])) }"
all='a=listed-1 '
soon "L30 a live list" "$all" there
k create configmap listed-2 >/dev/null
all='a=listed-1 listed-2 '
soon "  what comes to it is rolled out" "$all" there
k create configmap listed-3 >/dev/null
echo 'for people, again' >ssot/README.md
push 'another list, the same tree'
all='a=listed-1 listed-2 listed-3 '
soon "  with another commit of the same tree, too" "$all" there
soon "  which is told" "Synced $head" state
code "  offline there is none" 1 "live lists are read by the controller of the Bundle" offline bundle vet -f ssot --bundle web.yaml
lists 'a value of a Secret' "{ a: map('a', error std.toString(import 'alm-runtime/secrets/list')) }"
soon "  no value of one of Secrets is told" 1 tells "RenderFailed: the words of its error are not shown"
k create secret generic listed --from-literal=password=list-hunter3 >/dev/null
lists 'a value of one of Secrets in an object' "local s = [s for s in import 'alm-runtime/secrets/list' if s.metadata.name == 'listed'][0]; { s: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { type: std.base64Decode(s.data.password), ports: [{ port: 1 }] } } }"
soon "  nor by the words of a server that refuses it" 1 refusal
lacks "  is not told" k get bundle web -o json -- hunter3
lacks "  nor by the log" alm audit query --data-dir "$data" -o json -- hunter3
lacks "  nor by ALM's own" cat "$dir/err" -- hunter3
lists 'words of a list' "{ a: map('a', error 'no ' + std.toString(import 'alm-runtime/configmaps/list')) }"
soon "  nor anything of another list" 1 tells "RenderFailed: $said; main.jsonnet:1:"
lists 'more than it may' "{ a: map('a', std.toString(import 'alm-runtime/customresourcedefinitions/list')) }"
soon "  one that the account may not read" 1 tells "ValueMissing: import alm-runtime/customresourcedefinitions/list: "
lists 'no such kind' "{ a: map('a', std.toString(import 'alm-runtime/gizmos/list')) }"
soon "  one of no kind" 1 tells "import alm-runtime/gizmos/list: "
is "  nothing is applied, nothing pruned" "$all" "$(there)"
lists 'none' "{ a: map('a', 'no list') }"
all='a=no list '
soon "  the next push is read all the same" "$all" there
sed -i '/serviceAccountName/d' web.yaml
k apply -f web.yaml >/dev/null
lists 'a list without an account' "{ a: map('a', std.toString(import 'alm-runtime/configmaps/list')) }"
soon "  none is read with the rights of ALM" 1 tells "live lists are read with the rights of spec.serviceAccountName, and none is set"
finish
