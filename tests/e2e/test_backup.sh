#!/bin/bash
# alm backup beside a server that writes, and alm restore: killed at any time there is a whole database, what is no backup is
# refused, an older copy stays read-only until its gap is accepted, and the record of the restore is in the log.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
command -v kubectl >/dev/null || {
	echo "ok 1 - backup and restore # SKIP no kubectl"
	exit 0
}
data=$dir/server
backup() { alm backup "$@" --data-dir "$data" 2>&1; }
restore() { alm restore "$@" --reason "INC-7 disk lost" 2>&1; }
ready() { curl -sk -o /dev/null -w '%{http_code}' "$(awk '$1 == "server:" { print $2 }' "$KUBECONFIG")/readyz"; }
# Lines of "n-1 .. n-K": K if the objects are those without a gap and the pages whole.
counted() {
	python3 - "$@" <<-'END'
		import sqlite3, sys
		for path in sys.argv[1:]:
		    db = sqlite3.connect("file:" + path + "?mode=ro&immutable=1", uri=True)
		    whole = db.execute("PRAGMA integrity_check").fetchone()[0]
		    names = {r[0].rsplit("/", 1)[1] for r in db.execute("SELECT name FROM objects WHERE name LIKE '%/n-%' AND deleted = 0")}
		    n = len(names)
		    print(n if whole == "ok" and names == {"n-%d" % i for i in range(1, n + 1)} else "%s: %s %d" % (path, whole, n))
	END
}

# --- while 1,000 writes run ---
server_start
cat >"$dir/write.py" <<-'END'
	import http.client, json, ssl, sys
	address, token, out = sys.argv[1], open(sys.argv[2]).read().strip(), open(sys.argv[3], "w")
	c = http.client.HTTPSConnection(address, context=ssl._create_unverified_context(), timeout=60)
	for i in range(1, 1001):
	    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "n-%d" % i}, "data": {"a": "b" * 300}}
	    c.request("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body), {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
	    answer = c.getresponse()
	    answer.read()
	    if answer.status == 201:
	        print("created", i, file=out, flush=True)
END
: >"$dir/acknowledged"
python3 "$dir/write.py" "$(grep -o '127.0.0.1:[0-9]*' "$dir/out" | head -1)" "$data/token" "$dir/acknowledged" &
writer=$!
n=0
wrong=
while kill -0 $writer 2>/dev/null && [ $n -lt 8 ]; do
	before=$(wc -l <"$dir/acknowledged")
	said=$(backup "$dir/b-$n.db") || wrong="$wrong $said"
	found=$(counted "$dir/b-$n.db")
	{ [ "$found" -ge "$before" ] && [ "$found" -le $(($(wc -l <"$dir/acknowledged") + 2)) ]; } 2>/dev/null ||
		wrong="$wrong $before acknowledged, in it $found;"
	n=$((n + 1))
done
wait $writer
is "each backup has what was acknowledged before it, without a gap" "yes " "$([ $n -ge 1 ] && echo yes) $wrong"
is "all 1,000 writes were taken" 1000 "$(grep -c created "$dir/acknowledged")"
code "a file that is there is not overwritten" 1 "is there already" alm backup "$dir/b-0.db" --data-dir "$data"
code "unless that is said" 0 " objects, " alm backup "$dir/b-0.db" --force --data-dir "$data"
is "with its mode" 600 "$(stat -c %a "$dir/b-0.db")"
code "not into the folder itself" 2 "lies in the data folder" alm backup "$data/b.db" --data-dir "$data"

# --- killed in the middle of a backup: at each eighth of the time that it takes ---
killed_at() { # EIGHTH MS COMMAND...
	local after
	after=$(printf '0.%03d' $((($2 * $1 / 8) % 1000)))
	shift 2
	{ timeout -s KILL "$after" "$alm_bin" "$@" >/dev/null; } 2>/dev/null
}
took() { # COMMAND...: milliseconds, below a second
	local from=${EPOCHREALTIME/./} ms
	"$@" >/dev/null
	ms=$(((${EPOCHREALTIME/./} - from) / 1000))
	echo $((ms < 999 ? ms : 999))
}
ms=$(took backup "$dir/timed.db")
wrong=
for i in 1 2 3 4 5 6 7 8; do
	killed_at "$i" "$ms" backup "$dir/killed.db" --data-dir "$data"
	[ ! -e "$dir/killed.db" ] || [ "$(counted "$dir/killed.db")" = 1000 ] || wrong="$wrong $i"
	rm -f "$dir/killed.db"
done
said=$(backup "$dir/killed.db") || wrong="$wrong $said"
is "killed at any time there is a whole file or none, and the next one is made" "" "$wrong"
none "  and nothing half made is left" find "$dir" -name '*.partial'

# --- restore: what is refused ---
k create configmap later >/dev/null
code "not below a running server" 1 "is in use by another alm" alm restore "$dir/b-0.db" --force --reason x --data-dir "$data"
up_stop
cp -a "$data" "$dir/stopped"
code "not without a reason" 2 "--reason TEXT is missing" alm restore "$dir/b-0.db" --force --data-dir "$data"
code "not over a database, unless that is said" 3 "kept beside it as alm.db.replaced-TIME" alm restore "$dir/b-0.db" --reason x --data-dir "$data"
head -c 40960 "$dir/b-0.db" >"$dir/cut.db"
echo "no database" >"$dir/text.db"
forge() { # NAME SQL
	cp "$dir/b-0.db" "$dir/$1.db"
	python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2]); d.commit()' "$dir/$1.db" "$2"
}
forge newer "PRAGMA user_version = 99"
forge altered "PRAGMA writable_schema = ON; UPDATE audit_blob SET bytes = x'00'; DELETE FROM objects WHERE name LIKE '%/n-7'"
rm -f "$dir/foreign.db" && python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("CREATE TABLE t(a)")' "$dir/foreign.db"
for wrong in "cut 1 cut.db" "text 1 want an SQLite database" "newer 1 newer alm" "altered 4 nothing was restored" "foreign 1 neither objects nor a log"; do
	read -r name exit_code text <<<"$wrong"
	code "refused: $name" "$exit_code" "$text" alm restore "$dir/$name.db" --force --reason x --data-dir "$data"
done
cp -a "$data" "$dir/bad" && cp "$dir/altered.db" "$dir/bad/alm.db"
code "a backup tells that the log was altered before" 4 "alm restore would refuse this copy" alm backup "$dir/of-altered.db" --data-dir "$dir/bad"
none "and nothing has changed" diff -r -x alm.db.lock "$data" "$dir/stopped"

# --- killed in the middle of a restore: the one database or the other ---
ms=$(took restore "$dir/b-0.db" --force --data-dir "$data")
wrong=
for i in 1 2 3 4 5 6 7 8 9; do
	rm -rf "$data" && cp -a "$dir/stopped" "$data"
	killed_at "$i" "$ms" restore "$dir/b-0.db" --force --reason x --data-dir "$data"
	found=$(counted "$data/alm.db")
	[ "$found" = 1000 ] && [ ! -s "$data/alm.db-wal" ] || wrong="$wrong $i: $found"
done
said=$(restore "$dir/b-0.db" --force --data-dir "$data") || wrong="$wrong $said"
is "killed at any time, and done again" "" "$wrong"
none "  and nothing half made is left" find "$data" -name 'alm.db.restoring*'

# --- an older copy: read-only until the printed command ---
rm -rf "$data" && cp -a "$dir/stopped" "$data"
said=$(restore "$dir/b-0.db" --force --data-dir "$data")
has "it says what is missing" "it lacks what was written after it: audit.head remembers" "$said"
is "the former one is kept" 1001 "$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM objects WHERE deleted = 0 AND (name LIKE \"%/n-%\" OR name LIKE \"%/later\")").fetchone()[0])' "$data"/alm.db.replaced-*Z)"
server_start
is "what was kept is served, read-only" "500 1000 refused" \
	"$(ready) $(k get configmaps -o name | grep -c /n-) $(k create configmap x 2>&1 | grep -q LogRolledBack && echo refused)"
up_stop
run_step "the printed command" "$(sed -n 's/^next: //p' <<<"$said")"
server_start
is "and it writes again" "200 configmap/x" "$(ready) $(k create configmap x -o name 2>&1)"
up_stop
has "its archive says why" '"reason":"Restored"' "$(cat "$data"/audit-*.jsonl)"

# --- the newest copy: nothing is missing ---
newest=$(($(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT max(id) FROM objects").fetchone()[0])' "$data/alm.db") + 7))
said=$(backup "$dir/newest.db")
rm "$data"/alm.db
has "a lost database is put back" "nothing is known that it lacks" "$(restore "$dir/newest.db" --data-dir "$data")"
server_start
is "and goes on" "200 configmap/y" "$(ready) $(k create configmap y -o name 2>&1)"
has "who watches from before is told to list anew" '"code":410' \
	"$(k get --raw "/api/v1/configmaps?watch=true&resourceVersion=$newest&timeoutSeconds=5")"
up_stop
code "its log is intact" 0 "objects as logged" alm audit verify --data-dir "$data"
has "and says who put it there, and why" '"justification":"INC-7 disk lost"' "$(alm audit query --data-dir "$data" --reason Restored -o json | jq -c .)"

# --- another machine, without the keys ---
has "a new folder is told that keys are missing" "no keys are in" "$(restore "$dir/newest.db" --data-dir "$dir/fresh")"
rm -rf "$data" && mv "$dir/fresh" "$data"
server_start
is "it serves all, and writes" "200 1000 configmap/z" "$(ready) $(k get configmaps -o name | grep -c /n-) $(k create configmap z -o name 2>&1)"
up_stop
code "with a new key in its log" 0 "KeyRotated" alm audit query --data-dir "$data" --reason KeyRotated
code "which is intact" 0 "objects as logged" alm audit verify --data-dir "$data"

exec 9>"$data/backup.lock"
flock 9
code "of two at once one is refused" 1 "another backup is under way" alm backup "$dir/two.db" --data-dir "$data"
exec 9>&-
code "then it goes" 0 "objects" alm backup "$dir/two.db" --data-dir "$data"

# --- a full disk ---
cat >"$dir/disk.sh" <<-'END'
	mkdir -p "$1/small" && mount -t tmpfs -o size=200k small "$1/small" || exit 9
	"$ALM" backup "$1/small/b.db" --data-dir "$2" 2>&1
	echo "backup $? $(ls "$1/small" | xargs)"
	"$ALM" restore "$3" --data-dir "$1/small/data" --reason x 2>&1
	echo "restore $? $(ls "$1/small/data" | grep -v lock | xargs)"
END
if unshare -rm true 2>/dev/null; then
	said=$(unshare -rm bash "$dir/disk.sh" "$dir" "$data" "$dir/newest.db")
	has "a backup onto a full disk says so" "are free: the disk is too full" "$said"
	is "and leaves nothing" "backup 1 restore 1 " "$(grep -E '^(backup|restore) [0-9]' <<<"$said" | xargs) "
else
	ok "a full disk # SKIP no mount namespaces"
fi
steps_ran
finish
