#!/bin/bash
# Plugins of `alm run` (L17 of capabilities.md): actions, checks, renderers and triggers as programs of $ALM_PLUGIN_DIR; ALM does the
# writes. What hangs, floods, crashes, prints no JSON or asks for what it may not is one clear failure.
# shellcheck disable=SC2119,SC2016
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
runner=
stop_runner() {
	[ -n "$runner" ] && kill "$runner" 2>/dev/null && wait "$runner" 2>/dev/null
	runner=
}
trap 'stop_runner; up_stop; rm -rf "$dir"' EXIT
up_start
K=$KUBECONFIG
export ALM_PLUGIN_DIR=$dir/plugins
mkdir "$ALM_PLUGIN_DIR" "$dir/m"
plugin() { # NAME: the program is standard input
	cat >"$ALM_PLUGIN_DIR/$1"
	chmod 755 "$ALM_PLUGIN_DIR/$1"
}
rollout() { # ACTION [SUCCESS]
	local config=", config: {text: hi}"
	[ "$1" = CreateOrUpdate ] && config=
	cat >"$dir/rollout.yaml" <<END
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: plug}
spec:
  rollback: {onFailure: None}
  groups:
  - steps:
    - {object: one.yaml, action: $1$config, timeout: 30s${2:+, success: [$2]}}
END
}
run() { alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir="$dir/m" --renderer.file.rollout="$dir/rollout.yaml" "$@"; }
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n' >"$dir/m/one.yaml"

# An action: two calls, the first one begins and the second ends.
plugin action-Foo <<'END'
#!/usr/bin/python3
import json, sys
q = json.load(sys.stdin)
o = q["object"]
n = (q["record"] or {"n": 0})["n"] + 1
o["data"] = {"n": str(n), "text": q["config"]["text"], "had": "yes" if q["live"] else "no"}
print(json.dumps({"writes": [{"apply": o}], "state": "Finished" if n == 2 else "InProgress", "message": "call %d" % n,
    "record": {"n": n}, "pollAfter": "100ms"}))
END
rollout Foo
code "L17 action: Foo works" 0 "one.yaml: Finished" run
is "  what it wanted is there, of its second call" "2 hi yes" "$(k get configmap one -o jsonpath='{.data.n} {.data.text} {.data.had}')"
is "  with the marks of the unit" "plug" "$(k get configmap one -o jsonpath='{.metadata.labels.app\.coreos\.com/bundle}')"
has "L17 alm plugins lists it" "action Foo -" "$(alm plugins | tr -s ' ')"
is "  as data" "action Foo false" "$(alm plugins -o json | jq -r '.[] | "\(.kind) \(.name) \(.network)"')"
rollout Bar
code "an action that is none" 1 'action: "Bar" is unknown; known are CreateOrUpdate, CreateIfNotExist, DeleteIfExist, Job, Canary, Foo' run
plugin action-Gone <<<'#!/bin/sh
echo "{\"writes\": [{\"delete\": true}], \"state\": \"Finished\"}"'
rollout Gone
code "an action that deletes" 0 "one.yaml: Finished" run
none "  the object is gone" k get configmap one --ignore-not-found -o name

# A check.
plugin check-Two <<'END'
#!/usr/bin/python3
import json, sys
q = json.load(sys.stdin)
n = (q["record"] or 0) + 1
print(json.dumps({"state": "Finished" if n == 3 and q["live"]["data"]["a"] == q["config"] else "InProgress", "message": "look %d" % n, "record": n}))
END
rollout CreateOrUpdate '{plugin: Two, config: b, pollInterval: 50ms}'
code "L17 a check by a plugin" 0 "one.yaml: Finished" run
rollout CreateOrUpdate '{plugin: Two, config: c, pollInterval: 50ms, timeout: 1s}'
code "  that never says yes" 1 "CheckFailed: not so after 1s: check-Two: look" run
rollout CreateOrUpdate '{plugin: Three}'
code "  that is none" 1 'success[0].plugin: "Three" is unknown; it is the NAME of a program check-NAME in $ALM_PLUGIN_DIR, which has Two' run
rollout CreateOrUpdate
sed 's/CreateOrUpdate,/& config: {a: 1},/' "$dir/rollout.yaml" >"$dir/idle.yaml"
code "a configuration that no plugin reads" 1 "steps[0].config: CreateOrUpdate reads none; only the action of a plugin does" run --renderer.file.rollout="$dir/idle.yaml"

# A renderer, with a configuration.
plugin renderer-Mine <<'END'
#!/usr/bin/python3
import json, sys
q = json.load(sys.stdin)
print(json.dumps({"objects": {"cm": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": q["config"]}}}))
END
echo '{"from": "config"}' >"$dir/config.json"
mine() { alm run --kubeconfig "$K" --trigger=oneoff --renderer=Mine --config-file="$dir/config.json" --name mine "$@"; }
is "L17 a renderer" '{"from":"config"}' "$(mine --render-only | jq -c .objects.cm.data)"
code "  is rolled out" 0 "" mine
is "  and is there" config "$(k get configmap mine -o jsonpath='{.data.from}')"
code "  one that is none" 2 "--renderer Yours: want file, jsonnet, Mine; NAME is a program renderer-NAME" mine --renderer=Yours
code "  options of another" 2 "--renderer.file.dir says nothing to --renderer Mine" mine --renderer.file.dir=x

# A trigger: each key is a run with its own configuration; one that was there is not begun again while it runs.
plugin trigger-Keys <<'END'
#!/usr/bin/python3
import json, sys
n = (json.load(sys.stdin)["record"] or 0) + 1
print(json.dumps({"runs": [{"key": "k%d" % i, "config": {"round": str(n)}} for i in range(3)], "record": n, "pollAfter": "200ms"}))
END
plugin renderer-Key <<'END'
#!/usr/bin/python3
import json, sys
c = json.load(sys.stdin)["config"]
print(json.dumps({"objects": {"cm": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "key"}, "data": c}}}))
END
alm run --kubeconfig "$K" --trigger=Keys --renderer=Key --name keys >"$dir/keys" 2>&1 &
runner=$!
round() { [ "$(k get configmap key -o jsonpath='{.data.round}')" -ge 3 ] && echo yes; }
soon "L17 a trigger" yes round
has "  two instances do not take each other's object" "ObjectNotOwned" "$(cat "$dir/keys")"
stop_runner

# What goes wrong: one failure of the step, with the plugin's name and the remedy.
bad() { # NAME TEXT: the program is standard input
	plugin action-Bad
	rollout Bad
	code "a plugin that $1" 1 "$2" run
}
k delete configmap one >/dev/null
bad "crashes" "step group-1/one.yaml: ConfigMap default/one: PluginFailed: action-Bad: $ALM_PLUGIN_DIR/action-Bad: ended by signal 11" <<<'#!/bin/sh
kill -SEGV $$'
bad "fails" "PluginFailed: action-Bad: ended with status 4: no such luck" <<<'#!/bin/sh
echo no such luck >&2; exit 4'
bad "prints no JSON" "PluginFailed: action-Bad: printed no JSON; one JSON object and nothing else is wanted on standard output" <<<'#!/bin/sh
echo hello'
bad "prints nothing" "PluginFailed: action-Bad: printed nothing: one JSON object" <<<'#!/bin/sh'
bad "floods" "action-Bad: printed more than 8388608 bytes" <<<'#!/bin/sh
yes'
bad "wants another object" "PluginFailed: action-Bad: writes[0]: Secret default/one is not the object of this step, ConfigMap default/one" <<<'#!/bin/sh
echo "{\"writes\": [{\"apply\": {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"one\", \"namespace\": \"default\"}}}], \"state\": \"Finished\"}"'
bad "wants another namespace" "writes[0]: ConfigMap kube-system/one is not the object of this step" <<<'#!/bin/sh
echo "{\"writes\": [{\"apply\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"one\", \"namespace\": \"kube-system\"}}}]}"'
bad "says what is unknown" "PluginFailed: action-Bad: its answer" <<<'#!/bin/sh
echo "{\"status\": \"Finished\"}"'
bad "is in an unknown state" 'state: "Done" is none of Finished, InProgress, Failed' <<<'#!/bin/sh
echo "{\"state\": \"Done\"}"'
bad "says that it failed" "PluginFailed: action-Bad: out of luck" <<<'#!/bin/sh
echo "{\"state\": \"Failed\", \"message\": \"out of luck\"}"'
bad "has no interpreter" "action-Bad: no such program, or the interpreter" <<<'#!/no/such'
none "none of them wrote anything" k get configmap,secret one --ignore-not-found -o name
plugin action-Bad <<<"#!/bin/sh
sleep 1000.$$" # others sleep, too
sed -i 's/timeout: 30s/timeout: 1s/' "$dir/rollout.yaml"
code "a plugin that hangs longer than its step may" 1 "PluginFailed: action-Bad: $ALM_PLUGIN_DIR/action-Bad: has not ended within " run
soon "  is ended with the run" "" pgrep -f "^sleep 1000\\.$$\$"
plugin action-Bad <<'END'
#!/usr/bin/python3
import json, os, socket, sys
def may(f):
    try:
        f()
        return "yes"
    except OSError:
        return "no"
print(json.dumps({"state": "Failed", "message": "net %s read %s write %s env %s" % (may(socket.socket), may(lambda: open("/etc/passwd")),
    may(lambda: open(sys.argv[0] + ".x", "w")), " ".join(sorted(k for k in os.environ if k not in ("LC_CTYPE",))))}))
END
rollout Bad
code "a plugin may nothing" 1 "net no read no write no env" run
cat >"$ALM_PLUGIN_DIR/action-Bad.json" <<<'{"network": true, "env": ["SECRET", "ABSENT"], "files": ["/etc/passwd"]}'
chmod 644 "$ALM_PLUGIN_DIR/action-Bad.json"
SECRET=x code "  but what its file grants" 1 "net yes read yes write no env SECRET" run
has "  which alm plugins says" "action Bad network, 2 variables, 1 files" "$(alm plugins | tr -s ' ')"
echo '{"net": true}' >"$ALM_PLUGIN_DIR/action-Bad.json"
code "a bad grant" 1 "PluginFailed: action-Bad: $ALM_PLUGIN_DIR/action-Bad.json: " run
has "  which alm plugins says" "action Bad refused: " "$(alm plugins | tr -s ' ')"
rm "$ALM_PLUGIN_DIR/action-Bad.json"
chmod 777 "$ALM_PLUGIN_DIR/action-Bad"
code "a plugin that others may write" 1 "action-Bad may be written by others than its owner: chmod go-w" run
chmod 644 "$ALM_PLUGIN_DIR/action-Bad"
code "one that is not executable" 1 "action-Bad is not executable: chmod +x" run
chmod 777 "$ALM_PLUGIN_DIR"
code "a folder that others may write" 3 "ALM_PLUGIN_DIR: $ALM_PLUGIN_DIR may be written by others" run
chmod 755 "$ALM_PLUGIN_DIR"
ALM_PLUGIN_DIR=/no/such code "a folder that is not there" 1 "ALM_PLUGIN_DIR: /no/such" run
has "no folder at all" "no plugins: ALM_PLUGIN_DIR=DIR names a folder" "$(ALM_PLUGIN_DIR='' alm plugins 2>&1)"
finish
