#!/bin/bash
# alm up --audit-retain: old entries go into an archive that an anchor vouches for; killed in the middle of it, nothing is lost and the next start ends it.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit prune # SKIP no kubectl"
	exit 0
}
log=$data
crash() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
}
sql() { python3 -c 'import sqlite3,sys; print(*sqlite3.connect("file:"+sys.argv[1]+"?mode=ro",uri=True).execute(sys.argv[2]).fetchone())' "$log/alm.db" "$1"; }
first() { sql 'SELECT min(seq) FROM audit'; }
intact() {
	local out
	if out=$(alm audit verify --replay --data-dir "$log" 2>&1); then ok "intact: $1"; else not_ok "intact: $1, exit $?" "$out"; fi
}

has "under 365d needs --force" "under 365d" "$(alm up --data-dir "$dir/x" --audit-retain 30d 2>&1)"
has "and --force needs --audit-retain" "--audit-retain, which is not given" "$(alm up --data-dir "$dir/x" --force 2>&1)"
has "and a log" "--no-audit keeps none" "$(alm server --data-dir "$dir/x" --no-audit --audit-retain 400d 2>&1)"
has "a policy of what is logged is refused" "every write has its entry" "$(alm up --data-dir "$dir/x" --audit-policy p.yaml 2>&1)"

up_start
manifests
cd "$dir" || exit 1
k create -f catalog.yaml >/dev/null
package 0.9.4 >/dev/null
k create -f etcd-apptype.yaml >/dev/null
alm wait apptype etcd "status.installedVersion = '0.9.4'" --timeout 60s -o name >/dev/null
# Without --validate=false kubectl reads the whole schema for each of them, 20 ms of the processor.
for i in $(seq 1 700); do
	printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n  namespace: default\n' "$i"
done >many.yaml
k create --validate=false -f many.yaml >/dev/null 2>&1
before=$(alm audit state --all --data-dir "$log" --no-headers | sort)
old=$(sql 'SELECT max(seq) FROM audit')
up_stop
intact "before"

# Killed after a while that is longer each time: somewhere in each of its steps.
UP=(--audit-retain 1s --force)
for ms in 1010 1060 1150 1350; do
	up_start "${UP[@]}"
	sleep_ms=$ms python3 -c 'import os,time; time.sleep(int(os.environ["sleep_ms"])/1000)'
	crash
	alm audit verify --data-dir "$log" >out 2>&1 || not_ok "killed after $ms ms, exit $?" "$(cat out)"
done
ok "killed in the middle, verified each time"
up_start "${UP[@]}"
soon "old entries are pruned" "yes" bash -c "[ \"\$(python3 -c 'import sqlite3; print(sqlite3.connect(\"file:$log/alm.db?mode=ro\",uri=True).execute(\"SELECT min(seq) FROM audit\").fetchone()[0])')\" -gt 512 ] && echo yes"
intact "pruned, running"
has "verify says what it cannot see" "were pruned" "$(alm audit verify --data-dir "$log" 2>&1)"
has "and who vouches for it" "audit.anchor" "$(alm audit verify --data-dir "$log" 2>&1 | grep pruned)"
is "the state is what it was" "$before" "$(alm audit state --all --data-dir "$log" --no-headers | sort)"
has "an entry that was pruned is told so" "was pruned: the log begins at" "$(alm audit proof 5 --data-dir "$log" 2>&1)"
has "a time before it is told so" "was pruned" "$(alm audit state --at-seq 5 --data-dir "$log" 2>&1)"
has "why ends there and says so" "pruned" "$(alm audit why apptype/etcd --data-dir "$log" 2>&1)"
has "so does a timeline" "pruned" "$(alm audit timeline apptype/etcd --data-dir "$log" 2>&1)"
has "so does an export" "pruned" "$(alm audit export --format csv --data-dir "$log" 2>&1 >/dev/null)"
kept=$(first)
is "an entry that is kept has a proof" "c2sp.org/tlog-proof@v1" "$(alm audit proof "$kept" --data-dir "$log" 2>&1 | head -1)"
is "its archive is intact" "0" "$(
	alm audit verify --file "$(find "$log" -name 'audit-*-1-*.jsonl' | head -1)" >/dev/null 2>&1
	echo $?
)"
cat "$log"/audit-*-*-*.jsonl >all.jsonl
alm audit export --data-dir "$log" >>all.jsonl 2>/dev/null
is "archives and export make the whole" "0" "$(
	alm audit verify --file all.jsonl >out 2>&1
	echo $?
)"
has "the first entry is in it" "LogOpened" "$(alm audit query --file all.jsonl --limit 1 2>&1)"
has "get of a pruned record" "was pruned" "$(k get auditrecords 5 2>&1)"
has "a watch from there is told to list" "too old" "$(k get --raw '/apis/audit.app.coreos.com/v1alpha1/auditrecords?watch=1&resourceVersion=5&timeoutSeconds=1' 2>&1)"
is "a list begins with the first that is kept" "$kept" "$(k get --raw '/apis/audit.app.coreos.com/v1alpha1/auditrecords?limit=1' | jq -r '.items[0].metadata.name')"
# The app goes on.
package 0.9.5 >/dev/null
alm wait apptype etcd "status.installedVersion = '0.9.5'" --timeout 60s -o name >/dev/null
intact "an upgrade after it"
[ "$old" -gt "$kept" ] || not_ok "something old was kept"
up_stop
alm audit export --data-dir "$log" >left.jsonl 2>/dev/null
is "what is left alone is not all checked" "1" "$(
	alm audit verify --file left.jsonl >out 2>&1
	echo $?
)"
python3 - "$log/alm.db" <<'PY'
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
triggers = d.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
for name, _ in triggers:
    d.execute("DROP TRIGGER " + name)
low = d.execute("SELECT min(seq) FROM audit").fetchone()[0]
d.execute("DELETE FROM audit WHERE seq < ?", (low + 20,))
d.execute("DELETE FROM audit_ref WHERE seq < ?", (low + 20,))
for _, sql in triggers:
    d.execute(sql)
d.commit()
PY
alm audit verify --data-dir "$log" >out 2>&1
is "cut without an anchored entry: altered" "4" "$?"
has "and named" "missing" "$(cat out)"
finish
