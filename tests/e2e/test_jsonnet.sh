#!/bin/bash
# `alm run --renderer=jsonnet`: the command lines of the seed with Jsonnet, what Debian's jsonnet prints, and programs that mean
# no good (L8, L9, L11, L24, L25 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
root=$PWD
if alm run --trigger=oneoff --render-only --renderer=jsonnet --renderer.jsonnet.entrypoint=tests/golden/jsonnet/plain/main.jsonnet 2>&1 |
	grep -q RendererMissing; then
	echo "ok 1 - alm run with Jsonnet # SKIP no libjsonnet.so.0 (Debian: libjsonnet0)"
	exit 0
fi
render() { alm run --trigger=oneoff --render-only --renderer=jsonnet "$@"; }

# Each golden case: its expectation is what jsonnet prints today, and what alm renders.
flags() { # DIR: the options of its ext, jpath and config.json, a line each
	[ ! -f "$1/ext" ] || sed 's/^/--renderer.jsonnet.ext-str=/' "$1/ext"
	[ ! -f "$1/jpath" ] || sed 's/^/--renderer.jsonnet.jpaths=/' "$1/jpath"
	[ ! -f "$1/config.json" ] || echo "--config-file=$1/config.json"
}
mkdir "$dir/now"
if command -v jsonnet >/dev/null; then
	OUT=$dir/now tests/golden/jsonnet/expect.sh
fi
for main in tests/golden/jsonnet/*/main.jsonnet; do
	case=$(basename "${main%/*}")
	want=tests/golden/jsonnet/$case/expected.json
	if command -v jsonnet >/dev/null; then
		none "L8 $case: expected.json is what jsonnet prints" cmp "$dir/now/$case.expected.json" "$want"
	else
		ok "L8 $case: expected.json is what jsonnet prints # SKIP no jsonnet"
	fi
	[ "$case" != list ] || continue # its items become objects
	mapfile -t options < <(flags "tests/golden/jsonnet/$case")
	render "${options[@]}" --renderer.jsonnet.entrypoint="$main" >"$dir/got" 2>"$dir/said"
	is "L8 $case: alm renders the same" "$(jq -S 'if has("objects") then . else {objects: .} end' "$want")" \
		"$(jq -S 'if has("rollout") and '"$([ "$case" = rollout ] && echo false || echo true)"' then del(.rollout) else . end' "$dir/got" 2>&1)$(cat "$dir/said")"
done

# The seed's command lines.
cp -r tests/e2e/examples "$dir/example"
cd "$dir" || exit 1
render --renderer.jsonnet.entrypoint=example/jsonnet-rollout/main.jsonnet >got
is "L24 each key is an object" "dashboard/deployment dashboard/service" "$(jq -r '.objects | keys | join(" ")' got)"
is "L11 and the rollout of the program" "dashboard" "$(jq -r .rollout.metadata.name got)"
render --renderer.jsonnet.entrypoint=example/jsonnet-with-config/main.jsonnet --config-file=example/jsonnet-with-config/config.json >got
is "L25 name and namespace of the configuration" "settings default 3 warn" \
	"$(jq -r '.objects.settings | "\(.metadata.name) \(.metadata.namespace) \(.data.replicas) \(.data.level)"' got)"
printf 'name: other\nnamespace: default\nreplicas: 1\nlog: {level: info}\n' >config.yaml
render --renderer.jsonnet.entrypoint=example/jsonnet-with-config/main.jsonnet --config-file=config.yaml >got
is "L9 a configuration in YAML" "other" "$(jq -r .objects.settings.metadata.name got)"
code "L9 none is given" 1 "--config-file" render --renderer.jsonnet.entrypoint=example/jsonnet-with-config/main.jsonnet

# What goes wrong is told with the place.
program() { printf '%s\n' "$1" >bad.jsonnet; }
bad() { render --renderer.jsonnet.entrypoint=bad.jsonnet; }
program "local f(x) = x.y; { a: f({}) }"
code "a Jsonnet error has its stack" 1 "bad.jsonnet:1:24-29" bad
program "{ a: importstr '/etc/passwd' }"
code "an import that leads out is refused" 3 "bad.jsonnet:1: import: /etc/passwd leads out" bad
program "{ a: import 'alm-runtime/secrets/list' }"
KUBECONFIG=gone code "L30 a live list takes a cluster" 1 "the cluster: " bad
program "{ a: import 'locutus-runtime/cluster' }"
code "what is known of the cluster is not there" 1 "only alm-runtime/config, live lists and queries" bad
ln -s /etc/passwd link
program "{ a: importstr 'link' }"
code "a link" 1 "links are not followed" bad
program "local f(x) = f(x + 1) tailstrict; f(0)"
code "an endless loop ends" 1 "RenderLimit: bad.jsonnet" bad
program "{ a: std.foldl(function(a, b) a + b, std.range(1, 100000000), 0) }"
code "a memory bomb ends" 1 "RenderLimit: bad.jsonnet" bad
code "no such program" 1 "none.jsonnet: no such file" render --renderer.jsonnet.entrypoint=none.jsonnet
code "no program" 2 "--renderer.jsonnet.entrypoint is missing" render
code "no such library folder" 1 "nowhere" render --renderer.jsonnet.entrypoint=bad.jsonnet --renderer.jsonnet.jpaths=nowhere
code "no NAME=TEXT" 2 "want NAME=TEXT" render --renderer.jsonnet.entrypoint=bad.jsonnet --renderer.jsonnet.ext-str=name
code "what would have no effect" 2 "--config-file says nothing to --renderer file" alm run --trigger=oneoff --render-only --config-file=config.yaml
code "nor has a folder" 2 "says nothing to --renderer jsonnet" render --renderer.jsonnet.entrypoint=bad.jsonnet --renderer.file.dir=x
printf '[1]' >list.json
code "no configuration" 1 "list.json: a configuration is an object" render --renderer.jsonnet.entrypoint=bad.jsonnet --config-file=list.json
code "a configuration that is not there" 1 "gone.json" render --renderer.jsonnet.entrypoint=bad.jsonnet --config-file=gone.json

# Onto a cluster: twice, and again with another program that lost an object.
command -v kubectl >/dev/null || {
	ok "onto a cluster # SKIP no kubectl"
	finish
	exit 0
}
cd "$root" && up_start && cd "$dir" || exit 1
once() { alm run --kubeconfig "$KUBECONFIG" --trigger=oneoff --renderer=jsonnet --renderer.jsonnet.entrypoint="${1:-example/jsonnet-rollout/main.jsonnet}"; }
code "L24 applied" 0 "dashboard/service: Finished" once
is "L24 it is there" "2" "$(k get deployment dashboard -o 'jsonpath={.spec.replicas}')"
before=$(k get deployment dashboard -o 'jsonpath={.metadata.resourceVersion}')
code "L13 again" 0 "" once
is "L13 nothing was written" "$before" "$(k get deployment dashboard -o 'jsonpath={.metadata.resourceVersion}')"
cat >fewer.jsonnet <<'END'
local all = import 'example/jsonnet-rollout/main.jsonnet', key = 'dashboard/deployment';
all { objects: { [key]: all.objects[key] }, rollout+: { spec: { groups: [{ steps: [{ object: key, action: 'CreateOrUpdate' }] }] } } }
END
code "what the program does not give any more" 0 "" once fewer.jsonnet
none "is pruned" k get service dashboard -o name --ignore-not-found
finish
