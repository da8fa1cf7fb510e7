#!/bin/bash
# What is met off the story's path: a restart, the way back that why-not names, Pods without a kubelet, failures in a row.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - first week # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
state() { k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'; }
entries() { sqlite3 "$data/alm.db" 'SELECT max(seq) FROM audit'; }

# --- a first install that fails, with one version of the values and then with others ---
package 0.9.4 >/dev/null
sed '$a\  values: {image: {tag: x-fail}}\n  installNamespace: etcd' etcd-apptype.yaml >fails.yaml
sed -i 's/^    mode: Automatic/    mode: Automatic\n    deadlines: {verifying: 2s}/' fails.yaml
k create -f catalog.yaml -f fails.yaml >/dev/null
failed() { k get ist install.0.9.4.etcd.com.tectonic.storage -o 'jsonpath={.status.phase} {.status.failures} r{.status.revision}'; }
soon "a first install that fails" "Failed 1 r1" failed
alm retry etcd 0.9.4 >/dev/null
soon "the same again is the second in a row" "Failed 2 r2" failed
k patch apptype etcd --type=merge -p '{"spec":{"values":{"image":{"tag":"y-fail"}}}}' >/dev/null
soon "other values are the first again, whatever the revision" "Failed 1 r3" failed
k patch apptype etcd --type=merge -p '{"spec":{"values":null}}' >/dev/null
soon "and a success ends the row" "Succeeded  r4" failed

# --- the way back ---
package 0.9.5 >/dev/null
soon "an upgrade" "0.9.5" k get apptype etcd -o 'jsonpath={.status.installedVersion}'
soon "that is over" "Installed" state
has "the program's log tells each transition, with its entry" \
	"msg=transition kind=AppType name=etcd to=Installed audit=$(alm audit query --reason Installed --subject app/etcd --tail 1 -o json | jq '.[0].seq')" \
	"$(cat "$dir/err")"
code "why-not of a lower version tells the way back" 3 "alm rollback etcd --to 0.9.4 --reason TEXT" alm why-not etcd 0.9.4
run_step "and how to ask whether it is open" "$(alm why-not etcd 0.9.4 | sed -n 's/^  1\. //p')"

# --- a restart ---
before=$(entries)
up_stop
up_start
soon "after a restart it stands as before" "Installed" state
package 0.9.6 >/dev/null
soon "and goes on" "0.9.6" k get apptype etcd -o 'jsonpath={.status.installedVersion}'
is "without a word about what had not changed" "CatalogChanged" \
	"$(sqlite3 "$data/alm.db" "SELECT reason FROM audit WHERE seq > $before AND type NOT IN ('Write', 'System') ORDER BY seq LIMIT 1")"

# --- no kubelet ---
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {containers: [{name: c, image: x}]}\n' | k create -f - >/dev/null
code "kubectl logs says that nothing runs" 0 "pod p, container c: simulated, nothing runs here" k logs p
code "alm logs, too" 0 "pod p, container c: simulated, nothing runs here" alm logs p
code "what takes a kubelet is told why not" 1 "this server runs no containers, it has no kubelet" k attach p
steps_ran
finish
