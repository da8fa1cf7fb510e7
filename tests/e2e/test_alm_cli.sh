#!/bin/sh
# The verbs of `alm` against `alm server`: output, exit codes, waits, and the audit log of it all.
set -u
# shellcheck source=tests/lib/server.sh
. tests/lib/server.sh
files=tests/e2e/kubectl
data=

# check NAME CODE TEXT ARGUMENT...: exit code and a text of the output (stdout and stderr).
check() {
	name=$1 code=$2 want=$3
	shift 3
	got=$(timeout 60 "$BUILD/alm" ${data:+--data-dir "$data"} "$@" 2>&1 </dev/null)
	is=$?
	case $got in
	*"$want"*)
		if [ "$is" -eq "$code" ]; then
			ok "$name"
		else
			not_ok "$name: exit $is, want $code" "$got"
		fi
		;;
	*) not_ok "$name: wanted $want" "exit $is
$got" ;;
	esac
}

server_start "$@" || {
	not_ok "cli: the server starts"
	exit 1
}
check "version" 0 "server v1." version
check "no command is a usage error" 2 "COMMANDS"
check "an unknown command is a usage error" 2 "unknown command" nosuch
check "an unknown flag is a usage error" 2 "unknown flag: --nosuch" get --nosuch
check "help" 0 "SYNOPSIS" wait --help
check "get without a type lists the types and exits 1" 1 "configmaps" get
check "create" 0 "customresourcedefinition.apiextensions.k8s.io/gears.kt.example.com created" create -f $files/crd.yaml
check "create again" 1 "already exists" create -f $files/crd.yaml
check "apply creates" 0 "gear.kt.example.com/a created" apply -f $files/gear4.yaml
check "apply unchanged" 0 "gear.kt.example.com/a unchanged" apply -f $files/gear4.yaml
check "apply configures" 0 "gear.kt.example.com/a configured" apply -f $files/gear5.yaml
check "apply --server-side" 0 "gear.kt.example.com/a serverside-applied" apply --server-side -f $files/gear5.yaml
check "apply --server-side names the conflict" 1 'conflict with "alm-cli"' apply --server-side --field-manager other -f $files/gear4.yaml
check "apply of no manifest" 1 "apiVersion or kind is not set" apply -f tests/e2e/kubectl/none.json
check "a missing file" 1 "nosuch.yaml" apply -f nosuch.yaml
check "get as a table" 0 "NAME   SIZE   READY
a      5" get gears
check "get by short name and name" 0 "gear.kt.example.com/a" get gr/a -o name
check "get two types" 0 "gear.kt.example.com/a" get gears,configmaps
check "get -o jsonpath" 0 "a=5;" get gears -o 'jsonpath={range .items[*]}{.metadata.name}={.spec.size};{end}'
check "get -o yaml" 0 "kind: Gear" get gear a -o yaml
check "get -A" 0 "NAMESPACE" get gears -A
check "get of an absent object" 1 'not found' get gear nosuch
check "get --ignore-not-found" 0 "" get gear nosuch --ignore-not-found
check "get of an unknown type" 1 'resource type "nosuch"' get nosuch
check "get of nothing" 0 "No resources found in other namespace." -n other get gears
check "describe" 0 "API Version:  kt.example.com/v1" describe gear a
check "wait on an expression" 0 "gear.kt.example.com/a" wait gear a "spec.size = 5" -o name
check "wait times out with the last value" 124 "timed out after 1s: spec.size = 6: last value spec.size=5" wait gear a "spec.size = 6" --timeout 1s
check "wait refuses a bad expression" 2 "column 12" wait gear a "spec.size ="
check "wait --unless" 1 "matches --unless" wait gear a "spec.size = 6" --unless "spec.size = 5"
check "wait --for=jsonpath" 0 "condition met" wait gear/a '--for=jsonpath={.spec.size}=5'
check "wait on a CRD's condition" 0 "condition met" wait crd/gears.kt.example.com --for=condition=Established
(sleep 0.5 && "$BUILD/alm" delete gear a >/dev/null 2>&1) & # sleep: the waiter is there first, most times
check "wait --for=delete sees the deletion" 0 "condition met" wait gear/a --for=delete --timeout 60s
wait $!
(sleep 0.5 && "$BUILD/alm" create -f $files/gear4.yaml >/dev/null 2>&1) & # sleep: the waiter is there first, most times
check "wait for an object that is not there yet" 0 "gear.kt.example.com/a condition met" wait gear a "spec.size = 4" --timeout 60s
wait $!
check "delete --with-crd refuses another count" 3 "has 1 objects, not 2; nothing was deleted" delete gear a --with-crd gears.kt.example.com=2
check "delete" 0 'gear.kt.example.com "a" deleted' delete -f $files/gear4.yaml
check "delete of an absent object" 1 "not found" delete gear a

check "audit over the API" 0 "Gear/default/a" audit query --type Write
data=$dir/data
check "audit timeline" 0 "delete Gear/default/a Applied by admin (authenticated, alm)" audit timeline Gear/default/a
check "audit query -o json" 0 '"reason": "LogOpened"' audit query --limit 1 -o json
check "audit of an unknown kind" 1 "no entry of a nosuch" audit why nosuch/x
"$BUILD/alm" ${data:+--data-dir "$data"} audit export >"$dir/log.jsonl"
check "audit verify of an archive" 0 "chain, tree" audit verify --file "$dir/log.jsonl"
check "queries on an archive" 0 "LogOpened" audit query --file "$dir/log.jsonl"
sed '5s/"time":\([0-9]*\)/"time":1\1/' "$dir/log.jsonl" >"$dir/bad.jsonl"
check "an altered archive exits 4 and names the row" 4 "FAIL entry 5" audit verify --file "$dir/bad.jsonl"
check "audit verify beside a running server" 0 "transitions = " audit verify
server_stop
check "audit verify of a stopped log" 0 "checkpoints" audit verify
if command -v sqlite3 >/dev/null; then
	case $(sqlite3 "$dir/data/alm.db" "update audit set reason='x' where seq=5" 2>&1) in
	*"audit is append-only"*) ok "the table refuses changes" ;;
	*) not_ok "the table refuses changes" ;;
	esac
	trigger=$(sqlite3 "$dir/data/alm.db" "select sql from sqlite_schema where name='audit_update'")
	sqlite3 "$dir/data/alm.db" "drop trigger audit_update; update audit set reason='x' where seq=5; $trigger;"
	check "an altered row exits 4 and is named" 4 "FAIL entry 5: record altered; entries 1..4 and 6.." audit verify
fi
check "completion" 0 "complete -o default -F _alm alm" completion bash
finish
