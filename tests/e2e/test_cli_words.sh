#!/bin/bash
# What people read of `alm`: warnings of a kubeconfig, "did you mean", one answer in JSON for every table, the way back
# of `get -o yaml`.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
metrics=off
manifests
up_start
timeout 60 sh -c 'until kubectl get apps >/dev/null 2>&1; do sleep 0.2; done' # it answers before it has them

# --- kubeconfigs that kubectl takes ---
cp "$KUBECONFIG" "$dir/open"
chmod 644 "$dir/open"
said=$(alm --kubeconfig "$dir/open" get apps 2>&1)
is "a kubeconfig that others may read: exit status" 0 $?
has "  is taken with a warning" "Warning: $dir/open holds credentials and can be read by others: chmod 600 it" "$said"
none "  on standard error alone" alm --kubeconfig "$dir/open" get apps
(umask 077 && sed 's/certificate-authority-data: .*/insecure-skip-tls-verify: true/' "$KUBECONFIG" >"$dir/insecure")
said=$(alm --kubeconfig "$dir/insecure" get apps 2>&1)
is "a kubeconfig that does not verify: exit status" 0 $?
has "  is taken with a warning" "Warning: insecure-skip-tls-verify: anybody on the way to https://127.0.0.1:" "$said"
is "  and without one if the flag says so" "No resources found" \
	"$(alm --kubeconfig "$dir/insecure" --insecure-skip-tls-verify get apps 2>&1)"

# --- commands inside of sentences ---
none "each is one that alm has, with its flags" python3 tests/lint/prose.py "$alm_bin"
cat >"$dir/bad.c" <<'END'
x("see `alm audit ley`"); y("more: alm statsu %s"); z("it waits for: alm approve %s --bogus");
END
is "and one that it has not is found" "3" "$(python3 tests/lint/prose.py "$alm_bin" "$dir/bad.c" | grep -c bad.c:1)"

# --- did you mean ---
k create -f "$dir/catalog.yaml" -f "$dir/etcd-apptype.yaml" >/dev/null
code "a command" 2 "unknown command alm statsu (did you mean status?); see alm --help" alm statsu
code "a command of a command" 2 "unknown command alm audit verfy (did you mean verify?)" alm audit verfy
code "the beginning of one" 2 "unknown command alm comp (did you mean completion?)" alm comp
code "nothing like it" 2 "unknown command alm zzzzzz; see alm --help" alm zzzzzz
code "an option" 2 "unknown flag: --ouput (did you mean --output?)" alm get apps --ouput json
code "an option of all commands" 2 "unknown flag: --contxt (did you mean --context?)" alm get apps --contxt c
code "an option of helm" 1 "unknown flag: --name-templat (did you mean --name-template?)" alm template --name-templat x
code "a type" 1 "resource type \"appz\" (did you mean apps?)" alm get appz
for command in status why "why-not etdc 0.9.4" "approve etdc 0.9.4 --reason x" "upgrade etdc --to 0.9.4" "diff" "rbac"; do
	# shellcheck disable=SC2086
	set -- $command
	[ $# -gt 1 ] || set -- "$1" etdc
	code "an app: alm $1" 1 "there is no app etdc (did you mean etcd?); \`alm status\` lists them all" alm "$@"
done

# --- an answer in JSON for every table ---
field() { python3 -c 'import json,sys
o = json.load(sys.stdin)
for k in sys.argv[1].split("."): o = o[int(k) if k.isdigit() else k]
print(json.dumps(o))' "$1"; }
package 0.9.4 >/dev/null
package 0.9.5 >/dev/null
is "alm catalog list" '"0.9.5"' "$(alm catalog list "$catalog" -o json | field versions.0.version)"
is "alm catalog show" '["etcds.etcd.coreos.com/v1"]' "$(alm catalog show "$catalog" etcd-operator -o json | field versions.1.provides)"
is "alm version" '"complete"' "$(alm version --client -o json | field sandbox | sed 's/without [a-z, ]*/complete/')"
code "another format" 2 "-o toml: want json or yaml" alm version -o toml
has "yaml has the same" "version: " "$(alm version --client -o yaml)"
is "alm catalog lint" "1 2 0" "$(alm catalog lint "$catalog" -o json 2>/dev/null | jq -r '"\(.packages) \(.versions) \(.errors)"')"
is "  a finding" "warning unsafe-object string string" "$(alm catalog lint "$catalog" -o json 2>/dev/null | jq -r '.findings[0] | "\(.level) \(.rule) \(.message | type) \(.remedy | type)"')"
is "alm lint" "0 array" "$(alm lint "$demo/charts/etcd-operator" -o json | jq -r '"\(.errors) \(.findings | type)"')"
code "  another format" 2 "want json or yaml" alm lint "$demo/charts/etcd-operator" -o toml
sed 's/size:/height:/' "$dir/etcd-crd.yaml" >"$dir/other-crd.yaml"
is "alm crd diff" "etcds.etcd.coreos.com/v1" "$(alm crd diff "$dir/etcd-crd.yaml" "$dir/other-crd.yaml" -o json | jq -r '.changes[0].resource')"
is "  nothing" '{"changes":[]}' "$(alm crd diff "$dir/etcd-crd.yaml" "$dir/etcd-crd.yaml" -o json | jq -c .)"
is "  as yaml" "changes: []" "$(alm crd diff "$dir/etcd-crd.yaml" "$dir/etcd-crd.yaml" -o yaml)"
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null

# --- what get prints can be applied; the upgrade that follows shows that no harm is done ---
ours="apps,installstrategies,catalogs"
for get in k alm; do
	for set in k alm; do
		$get get $ours -o yaml >"$dir/objects"
		code "$get get -o yaml | $set apply -f -" 0 "catalog.app.coreos.com/community" $set apply -f "$dir/objects"
	done
done
for o in apptype/etcd ist/install.0.9.5.etcd.com.tectonic.storage catalog/community; do
	alm get $o -o json >"$dir/objects"
	code "alm get $o -o json | alm apply -f -" 0 "${o#*/} " alm apply -f "$dir/objects"
done
has "alm get --show-managed-fields" "managedFields" "$(alm get apptype etcd -o yaml --show-managed-fields)"
alm get catalog community -o yaml --show-managed-fields >"$dir/objects"
code "  can be applied, too" 0 "catalog.app.coreos.com/community" alm apply -f "$dir/objects"
k delete catalog community >/dev/null
code "  and what was deleted created again" 0 "catalog.app.coreos.com/community created" alm apply -f "$dir/objects"
k delete catalog community >/dev/null
code "  by alm create" 0 "catalog.app.coreos.com/community created" alm create -f "$dir/objects"
package 0.9.6 >/dev/null
soon "a version waits for approval" AwaitingApproval k get ist install.0.9.6.etcd.com.tectonic.storage -o 'jsonpath={.status.phase}'
alm diff etcd --to 0.9.6 -o json >"$dir/diff"
is "alm diff" '"update" 2 0 10' "$(for f in changes.0.action update create unchanged; do field $f <"$dir/diff"; done | xargs echo | sed 's/^update/"update"/')"
is "  with whole values" 'true false' "$(for f in changes.0.before changes.0.after; do field $f <"$dir/diff"; done | xargs echo)"
for table in "get apps" "status" "top" "why etcd" "why-not etcd 0.9.6" "audit query --limit 3" "audit timeline apptype/etcd"; do
	# shellcheck disable=SC2086
	is "alm $table" yes "$(alm $table -o json 2>/dev/null | python3 -c 'import json,sys
json.load(sys.stdin); print("yes")' 2>&1 | tail -1)"
done
has "kubectl get ist -o wide has the reason" " AwaitingApproval   ApprovalRequired " "$(k get ist -o wide)"
alm approve etcd 0.9.6 --reason x -o json >"$dir/approved"
is "alm approve" "etcd 0.9.6 Approved install.0.9.6.etcd.com.tectonic.storage true" \
	"$(jq -r '"\(.app) \(.version) \(.outcome) \(.strategy) \(.plan | startswith("sha256:"))"' "$dir/approved")"
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
is "alm rollback --dry-run" "Possible" "$(alm rollback etcd --to 0.9.5 --dry-run -o json | jq -r .outcome)"
is "alm rollback" "Begun 0.9.5" "$(alm rollback etcd --to 0.9.5 --reason x -o json | jq -r '"\(.outcome) \(.version)"')"
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"to":null}}}' >/dev/null
package 1.0.0 >/dev/null
soon "a version that drops one" ResourceDropped eval "alm why-not etcd 1.0.0 -o json | jq -r .reason"
alm upgrade etcd --to 1.0.0 -o json >"$dir/refused"
is "alm upgrade that is refused" "3 Refused ResourceDropped 1" "$? $(jq -r '"\(.outcome) \(.reason) \(.steps | length)"' "$dir/refused")"
is "alm retry" "Asked" "$(alm retry etcd 0.9.6 -o json | jq -r .outcome)"
is "alm crd migrate" "etcds.etcd.coreos.com v2 true 0" \
	"$(alm crd migrate etcds.etcd.coreos.com --to v2 --dry-run -o json | jq -r '"\(.crd) \(.to) \(.dryRun) \(.objects)"')"
is "alm audit verify" "Intact 0" "$(alm audit verify --data-dir "$data" -o json | jq -r '"\(.outcome) \(.findings | length)"')"
without_output() {
	local c
	for c in status version diff approve upgrade retry "crd diff" "crd migrate" "catalog lint" "catalog list" "audit verify"; do
		# shellcheck disable=SC2086
		alm $c --help >"$dir/page" || return
		grep -q "json or yaml" "$dir/page" || echo "$c"
	done
}
none "every option -o of help is taken" without_output
has "kubectl get catalogs, too" " Synced " "$(k get catalogs -o wide)"

finish
