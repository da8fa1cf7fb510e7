#!/bin/bash
# The audit log over the API (audit.md 10): get, list in pages, watch, field selectors, Table, 405, denial; alm audit --follow on it.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit records # SKIP no kubectl"
	exit 0
}
api=/apis/audit.app.coreos.com/v1alpha1/auditrecords
up_start
config=$KUBECONFIG
cd "$dir" || exit 1
for i in $(seq 1 12); do echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c$i\",\"namespace\":\"default\"}}"; done | k create -f - >/dev/null
k delete configmap c3 >/dev/null

is "a record by its number" "1 1 LogOpened System" "$(k get auditrecords 1 -o jsonpath='{.metadata.name} {.metadata.resourceVersion} {.reason} {.type}')"
code "none of a number that there is not" 1 "NotFound" k get auditrecords 999999
is "the columns of a table" "NAME TYPE REASON SUBJECT" "$(k get auditrecords 1 | head -1 | awk '{print $1, $2, $3, $4}')"
all=$(k get auditrecords -o name | wc -l)
is "pages make the whole" "same" "$([ "$(k get auditrecords -o name --chunk-size=5 | wc -l)" -ge "$all" ] && echo same)"
page=$(k get --raw "$api?limit=3")
is "a page has its limit and goes on" "3 yes" "$(jq -r '"\(.items | length) \(if .metadata.continue != "" then "yes" else "no" end)"' <<<"$page")"
next=$(k get --raw "$api?limit=3&continue=$(jq -r .metadata.continue <<<"$page")")
is "where the next one begins" "4" "$(jq -r '.items[0].seq' <<<"$next")"
fields() { k get auditrecords --field-selector "$1" -o jsonpath='{range .items[*]}{.subject.name} {.reason}{"\n"}{end}' 2>&1; }
is "by the name of the subject" "c3 Created
c3 Deleted" "$(fields subject.name=c3)"
is "and kind, namespace, reason" "c3 Deleted" "$(fields subject.kind=ConfigMap,subject.namespace==default,reason=Deleted)"
is "and not that one" "c3 Created" "$(fields subject.name=c3,reason!=Deleted)"
uid=$(k get configmap c4 -o jsonpath='{.metadata.uid}')
is "by uid" "c4 Created" "$(fields "subject.uid=$uid")"
is "by actor, type, cluster" "12" "$(fields 'actor=admin,type=Write,subject.cluster=,subject.kind=ConfigMap,reason=Created' | wc -l)"
is "by name" "LogOpened" "$(fields metadata.name=1 | awk '{print $2}')"
has "another field is refused" "field label not supported" "$(fields body.verb=create)"
none "labels they have none" k get auditrecords -l app=x -o name
is "but without one of them are all" "yes" "$([ "$(k get auditrecords -l '!app' -o name | wc -l)" -ge "$all" ] && echo yes)"

echo '{"apiVersion":"audit.app.coreos.com/v1alpha1","kind":"AuditRecord","metadata":{"name":"1"}}' >r.json
refused() { has "405: $1" "MethodNotAllowed" "$(k "$@" 2>&1)"; }
refused create -f r.json
refused delete auditrecords 1
refused delete auditrecords --all
refused patch auditrecords 1 --type=merge -p '{"reason":"x"}'

# Only who has the role reads it.
has "denied to others" "Forbidden" "$(k get auditrecords --as bob 2>&1)"
k create clusterrolebinding bob --clusterrole=alm-audit-reader --user=bob >/dev/null
is "given by alm-audit-reader" "LogOpened" "$(k get auditrecords 1 --as bob -o jsonpath='{.reason}')"
has "but not changed" "orbidden" "$(k delete auditrecords 1 --as bob 2>&1)"
has "and nothing else" "Forbidden" "$(k get configmaps --as bob 2>&1)"

# A write that changes nothing has its entry, and is counted when it is repeated.
for i in 1 2 3 4 5; do k patch configmap c5 --type=merge -p '{"data":{"a":"b"}}' >/dev/null; done
is "a write that changes nothing" "Unchanged Unchanged patch admin same" "$(k get auditrecords --field-selector subject.name=c5,type=Write,reason=Unchanged -o json |
	jq -r '.items[] | "\(.reason) \(.body.outcome) \(.body.verb) \(.actor) \(if .body.before == .body.after and .body.rvBefore and (.body.rvAfter | not) then "same" else "other" end)"')"
k patch configmap c6 --type=merge --dry-run=server -p '{"metadata":{"labels":null}}' >/dev/null
none "none of a dry run" k get auditrecords --field-selector subject.name=c6,reason=Unchanged -o name

# Watch, and the commands that follow.
rv=$(k get --raw "$api?limit=1" | jq -r .metadata.resourceVersion)
timeout 60 kubectl get --raw "$api?watch=true&resourceVersion=$rv&fieldSelector=subject.kind%3DConfigMap" >watched 2>/dev/null &
watcher=$!
# --foreground: one signal; else a second one, to the group, may come when it has ended its loop already.
timeout --foreground 60 "$alm_bin" audit query --follow --type Write --kubeconfig "$config" >queried 2>query.err &
query=$!
timeout --foreground 60 "$alm_bin" audit export --follow --format csv --kubeconfig "$config" >exported 2>export.err &
export_=$!
timeout 60 sh -c 'until grep -q c12 queried && grep -q c12 exported; do sleep 0.1; done'
k create configmap later >/dev/null
soon "a watch gives what comes" "later" bash -c 'jq -r .object.subject.name watched 2>/dev/null | grep later'
soon "alm audit query --follow over the API" 1 grep -c "later" queried
soon "alm audit export --follow over the API" 1 grep -c ',later,' exported
has "which the log says" "as csv, from entry 1 on" "$(k get auditrecords --field-selector reason=Exported -o jsonpath='{.items[*].body.message}')"
kill -TERM $watcher $query $export_
wait $query
is "a signal ends it well" 0 $?
wait $export_
is "this one, too" 0 $?
is "each row once" "$(sort -u exported | wc -l)" "$(sort exported | wc -l)"
: >x.jsonl
code "an archive cannot be followed" 2 "without --file" alm audit query --follow --file x.jsonl
up_stop
finish
