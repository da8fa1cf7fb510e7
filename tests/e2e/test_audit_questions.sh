#!/bin/bash
# The log as people read it: tables with headers, the last rows, rows as they come, RFC 3339 times, what changed by field; and
# each of them off its path.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit questions # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
package 0.9.5 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
last() { alm audit query --tail 1 --data-dir "$data" -o 'jsonpath={[0].seq}'; }
ask() { alm audit "$@" --data-dir "$data"; }

# tables
is "headers" "SEQ TIME TYPE REASON SUBJECT DETAIL" "$(ask query --limit 1 | head -1 | xargs)"
is "-o wide has cause and actor" "SEQ TIME TYPE REASON SUBJECT CAUSE ACTOR DETAIL" "$(ask query --limit 1 -o wide | head -1 | xargs)"
is "of a timeline" "SEQ TIME TYPE REASON DETAIL" "$(ask timeline app/etcd | head -1 | xargs)"
is "of a state" "KIND NAME STATE VERSION REVISION SINCE SEQ" "$(ask state | head -1 | xargs)"
is "--no-headers" "AppType etcd Installed 0.9.5" "$(ask state --no-headers | awk '{print $1, $2, $3, $4}')"
time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}'
lacks "every time is RFC 3339" ask query --no-headers -- -vE "^[0-9]+ +${time}Z "
lacks "and with microseconds in wide" ask query --no-headers -o wide -- -vE "^[0-9]+ +$time\.[0-9]{6}Z "
is "columns are aligned" "1" "$(ask query | awk '{print index($0, $3)}' | sort -u | wc -l)"
is "a write names its object once" "1" "$(ask query --type Write --reason Created --subject apptype/etcd --no-headers | grep -o 'AppType/etcd' | wc -l)"

# what set it off
without_cause() {
	ask query -o json | jq -r '.[] | select(.type == "Plan" and .reason == "Planned" and (.body.key // "" | startswith("install."))) | select(.cause == null) | .seq'
}
none "no write of a plan is without a cause" without_cause
is "the first cause of the install is the app's spec, or the catalog" "true" "$(ask query -o json | jq '
	(INDEX(.seq | tostring)) as $all | [.[] | select(.body.root)] | length > 20 and all(.[]; $all[.body.root | tostring].cause == null)')"
is "what began the reconciles" "Catalog Resource Spec" "$(ask query -o json | jq -r '[.[].body.trigger | select(. == "Spec" or . == "Catalog" or . == "Resource")] | unique | join(" ")')"
triggers() { ask query -o json | jq -r '.[].body.trigger // empty'; }
lacks "there is no other word" triggers -- -vxE 'Spec|Catalog|Git|Resource|Interval|Timer|Retry|Approval|Drift|Startup|Operator'

# the last ones
seq=$(last)
is "--tail" "$((seq - 2)) $((seq - 1)) $seq" "$(ask query --tail 3 --no-headers | awk '{print $1}' | xargs)"
is "--tail of some" "Installed" "$(ask timeline app/etcd --type Transition --tail 1 --no-headers | awk '{print $4}')"
is "--tail of JSON is in order" "true" "$(ask query --tail 5 -o json | jq '[.[].seq] | . == sort')"
code "--tail of nothing" 2 "from 1 to" ask query --tail -1
code "--tail of none" 2 "from 1 to" ask query --tail 0
code "--tail and --limit" 2 "choose one" ask query --tail 1 --limit 1

# as it comes
"$alm_bin" audit query --tail 1 --type Approval --follow --data-dir "$data" >followed &
follower=$!
k patch apptype etcd --type=merge -p '{"spec":{"paused":true}}' >/dev/null
soon "--follow gives what comes" 1 grep -c ' Paused ' followed
kill -TERM $follower
wait $follower
is "a signal ends it well" 0 $?
is "with one line of headers at most" "1" "$(grep -c '^SEQ' followed)"
code "--follow of an end" 2 "without --file" ask query --follow --until 1h
code "--follow for programs" 2 "audit export --follow" ask query --follow -o json

# what changed
from=$(last)
k patch apptype etcd --type=merge -p '{"spec":{"paused":null,"upgrade":{"mode":"Manual"}}}' >/dev/null
k -n etcd create configmap kept --from-literal=size=1 >/dev/null
k -n etcd create configmap gone --from-literal=size=1 >/dev/null
k -n etcd delete configmap gone >/dev/null
middle=$(last)
k -n etcd patch configmap kept --type=merge -p '{"data":{"size":"3"}}' >/dev/null
k -n etcd create secret generic pass --from-literal=password=canary-7f3a >/dev/null
made=$(last)
k -n etcd patch secret pass --type=merge -p '{"stringData":{"password":"canary-9b1c"}}' >/dev/null
diff_of() { ask diff --no-headers "$@" 2>/dev/null | sed -E 's/  +/ /g'; }
has "a field, from and to, and who" "admin (authenticated, kubectl) spec.upgrade.mode: Automatic -> Manual" "$(diff_of --from-at-seq "$from")"
has "a value" "data.size: 1 -> 3" "$(diff_of --from-at-seq "$middle")"
is "what is new is new" "+ ConfigMap etcd/kept" "$(diff_of --from-at-seq "$from" | grep kept | cut -d' ' -f1-3)"
lacks "what came and went is no change" diff_of --from-at-seq "$from" -- gone
has "secrets stay so" "data.password: (secret)" "$(diff_of --from-at-seq "$made")"
for o in wide json yaml; do lacks "nowhere, as $o" both ask diff --from-at-seq "$from" -o $o -- canary; done
is "-o json" '{"path":"data.size","from":"1","to":"3"}' \
	"$(ask diff --from-at-seq "$middle" --subject configmap/etcd/kept -o json 2>/dev/null | jq -c '.[0].fields[0] | {path, from, to}')"
code "backwards" 2 "before it begins" ask diff --from-at-seq "$made" --to-at-seq "$from"
code "without a beginning" 2 "--from TIME" ask diff
code "of a time that is none" 2 "neither RFC 3339" ask diff --from yesterday
code "of a row below the first" 2 "from 1 on" ask diff --from-at-seq -7
code "a type that is none" 2 "there are Transition" ask query --type Nosuch
code "a time that ends before it begins" 2 "is before --since" ask query --since 2h --until 3h
code "nothing is told as nothing" 0 "nothing in the log fits" ask state --at 2001-01-01T00:00:00Z
code "a row that is not there yet" 1 "the log has" ask state --at-seq 999999
code "an unknown format" 2 "table, wide, json, yaml" ask query -o name
code "to a full disk" 1 "standard output" sh -c "'$alm_bin' audit query --data-dir '$data' >/dev/full"
# an entry by its number; what is asked wrongly
seq=$(alm audit query --type Transition --reason Installed --limit 1 --data-dir "$data" -o 'jsonpath={[0].seq}')
is "why of an entry" "#$seq Transition Installed" "$(ask why "#$seq" | head -1 | awk '{print $1, $3, $4}')"
is "  without the mark" "$(ask why "#$seq")" "$(ask why "$seq")"
is "  as of its subject" "$(ask why app/etcd --version 0.9.5 | awk '{print $1}' | tail -1)" "$(ask why "$seq" | awk '{print $1}' | tail -1)"
is "a subject by its short name" "$(ask timeline configmap/etcd/kept | md5sum)" "$(ask timeline cm/etcd/kept | md5sum)"
code "  that there is none of" 1 "no audit entry 99999" ask why 99999
code "  with a version" 2 "--version is of a KIND/NAME" ask why "$seq" --version 0.9.5
code "a state before the first entry" 2 "--at-seq is a number from 1 on" ask state --at-seq 0
code "a folder without a log" 1 "nowhere/alm.db is not there: --data-dir is the folder of" alm audit query --data-dir nowhere
mkdir empty && : >empty/alm.db
code "a database without one" 1 "empty/alm.db has no audit log" alm audit verify --data-dir empty
code "an origin that is no name" 2 "the origin of an audit log is a name" alm up --data-dir elsewhere --listen 127.0.0.1:0 --audit-origin 'my log'
finish
