#!/bin/bash
# Rows of an SQLite file as a trigger of `alm run` (L36 of capabilities.md): read in the sandbox, as they are at one instant, while
# others write; a key that runs is not begun again.
# shellcheck disable=SC2119
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
db=$dir/apps.db
sql() { sqlite3 -cmd '.timeout 5000' "$db" "$1"; }
sql "PRAGMA journal_mode = WAL; CREATE TABLE apps(name TEXT, size INTEGER, note); INSERT INTO apps VALUES ('a', 1, NULL), ('b', 2, x'00ff');" >/dev/null
config() { printf '%s\n' "path: $db" "key: name" "$@" >"$dir/sql.yaml"; }
config "query: SELECT name, size, note FROM apps ORDER BY name"
cat >"$dir/main.jsonnet" <<'END'
local c = import 'alm-runtime/config';
local first = if std.objectHas(c, 'rows') then c.rows[0] else c;
{ cm: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'row-' + first.name }, data: { row: std.toString(c) } } }
END
start() {
	(cd "$dir" && exec "$alm_bin" run --kubeconfig "$K" --trigger sql --trigger.database.config sql.yaml --trigger.interval.duration 1s \
		--renderer jsonnet --renderer.jsonnet.entrypoint main.jsonnet --name rows) >"$dir/rows" 2>&1 &
	runner=$!
}
row() { k get configmap "row-$1" -o jsonpath='{.data.row}' 2>/dev/null; }
start
soon "L36 a row is a run" '{"name": "a", "note": null, "size": 1}' row a
soon "  bytes are base64" '{"name": "b", "note": "AP8=", "size": 2}' row b
sql "INSERT INTO apps VALUES ('c', 3, 'new')"
soon "L36 a new row, while the writer's journal is open" '{"name": "c", "note": "new", "size": 3}' row c
sql "UPDATE apps SET size = 7 WHERE name = 'a'"
soon "  a changed one" '{"name": "a", "note": null, "size": 7}' row a
sql "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO apps SELECT 'n' || i, i, '' FROM n"
count() { k get configmap -l app.coreos.com/bundle=rows -o name | wc -l; }
soon "  20 more" 23 count
sql "DELETE FROM apps WHERE name = 'b'"
rm -f "$db" "$db-wal" "$db-shm"
said() { grep -c "$1" "$dir/rows" | sed 's/^[1-9].*/yes/'; }
soon "a file that is deleted is told" yes said "apps.db: .*; asked again in an interval"
is "  what was made stays" 23 "$(count)"
echo 'this is no database, but it is long enough to look like one: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' >"$db"
soon "one that is none, too" yes said "not a database"
rm "$db"
sql "CREATE TABLE apps(name TEXT, size INTEGER, note); INSERT INTO apps VALUES ('d', 1, ''), ('d', 2, '')"
soon "two rows with one key" yes said "row 2: d: another row has this key; groupRows: true"
stop_runner
config "query: SELECT name, size FROM apps" "groupRows: true"
start
soon "L36 groupRows makes one run of both" '{"rows": [{"name": "d", "size": 1}, {"name": "d", "size": 2}]}' row d
stop_runner
# Connections by name; queries whose rows a program imports.
printf 'connections:\n- {name: apps, type: sqlite}\n' >"$dir/connections.yaml"
echo "sqlite://$db" >"$dir/url"
printf 'queries:\n- {name: sizes, databaseName: apps, query: "SELECT sum(size) AS total FROM apps"}\n- {name: unread, path: nowhere.db, query: SELECT 1}\n' >"$dir/source.yaml"
cat >"$dir/source.jsonnet" <<'END'
local c = import 'alm-runtime/config', sizes = import 'locutus-runtime/sizes';
{ cm: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source' }, data: { v: '%s of %s' % [c.rows[0].name, sizes[0].total] } } }
END
printf '%s\n' 'databaseName: apps' 'key: name' 'groupRows: true' 'query: SELECT name FROM apps' >"$dir/sql.yaml"
databases=(--database-connections-file "$dir/connections.yaml" --default-database-url-file "$dir/url")
program=(--renderer jsonnet --renderer.jsonnet.entrypoint "$dir/source.jsonnet")
"$alm_bin" run --kubeconfig "$K" --trigger sql --trigger.database.config "$dir/sql.yaml" --trigger.interval.duration 1s --name source \
	"${program[@]}" "${databases[@]}" --source.database.file "$dir/source.yaml" >"$dir/rows" 2>&1 &
runner=$!
from_source() { k get configmap source -o jsonpath='{.data.v}' 2>/dev/null; }
soon "L36 rows of a named connection as source" "d of 3" from_source
sql "UPDATE apps SET size = 5 WHERE size = 2"
sql "UPDATE apps SET note = 'again'"
soon "  read anew for each run" "d of 6" from_source
stop_runner
rows_of() { alm run --kubeconfig "$K" --trigger oneoff --render-only "${program[@]}" --config-from "$dir/from.yaml" "$@"; }
printf 'from:\n- {sql: {path: %s, query: SELECT name FROM apps}}\n' "$db" >"$dir/from.yaml"
code "  printed, too" 0 '"v": "d of 6"' rows_of "${databases[@]}" --source.database.file "$dir/source.yaml"
code "  without the flag there is no such import" 1 "there is no such thing" rows_of
code "  a file that is not there" 1 "import alm-runtime/sizes: nowhere" rows_of --source.database.file <(sed 's/databaseName: apps/path: nowhere/' "$dir/source.yaml")
code "  a query that is none" 1 "import alm-runtime/sizes: $db: query: near" rows_of --source.database.file <(sed "s|databaseName: apps|path: $db|; s/SELECT sum/SELEC sum/" "$dir/source.yaml")
code "  no such connection" 1 "queries[0].databaseName: apps: no such connection: --database-connections-file names them" rows_of --source.database.file "$dir/source.yaml"
mkdir "$dir/cockroach" && sed s/sqlite/cockroachdb/ "$dir/connections.yaml" >"$dir/cockroach/connections.yaml"
code "  another database is not read" 1 "connections.yaml: connections[0].type: cockroachdb: want sqlite" rows_of --source.database.file "$dir/source.yaml" --database-connections-file "$dir/cockroach/connections.yaml"
code "  connections that nobody uses" 2 "--database-connections-file says nothing without --trigger sql or --source.database.file" rows_of "${databases[@]}"
code "  nor does a manifest import anything" 2 "--source.database.file says nothing to --renderer file" alm run --trigger oneoff --source.database.file "$dir/source.yaml"
sql "DELETE FROM apps WHERE size = 5" # one row a key below
sql "INSERT INTO apps VALUES ('e', 2, '')"
wrong() { # NAME TEXT QUERY
	config "query: $3"
	start
	soon "$1" yes said "$2"
	stop_runner
}
wrong "a query that writes" "query: it writes; a SELECT is wanted" "DELETE FROM apps"
wrong "two statements" "query: one statement is wanted" "SELECT 1; SELECT 2"
wrong "a query that is none" 'query: near "SELEC": syntax error' "SELEC"
wrong "a query without an end" "processor time" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS name FROM n"
wrong "too many rows" "more than 10000 rows" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS name FROM n"
wrong "no such column" "row 1: column name: want a text or number" "SELECT size FROM apps"
wrong "a file of the machine" "no such function: readfile" "SELECT readfile('/etc/passwd') AS name"
wrong "another database" "too many attached databases\|it writes" "ATTACH '/etc/passwd' AS x"
is "the file was not written to" 2 "$(sql 'SELECT count(*) FROM apps')"
bad() { # NAME TEXT LINE...
	name=$1 text=$2
	shift 2
	printf '%s\n' "$@" >"$dir/sql.yaml"
	code "$name" 1 "$text" alm run --kubeconfig "$K" --trigger sql --trigger.database.config "$dir/sql.yaml" --renderer.file.dir "$dir"
}
# A table as feedback.
report() { printf 'path: %s\nstatement: %s\n' "$dir/runs.db" "$1" >"$dir/report.yaml"; }
reported() { sqlite3 "$dir/runs.db" "$1"; }
mkdir "$dir/m" && printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: reported}\n' >"$dir/m/cm.yaml"
reported "CREATE TABLE runs(seq INTEGER PRIMARY KEY, time, bundle, step, reason, message)"
report "INSERT OR IGNORE INTO runs VALUES (:seq, :time, :bundle, :step, :reason, :message)"
once() { alm run --kubeconfig "$K" --trigger oneoff --renderer.file.dir "$dir/m" --name report --feedback.sql "$dir/report.yaml" --audit-log "$dir/log.db"; }
code "L36 a report into a database" 0 "ConfigMap/ConfigMap: Finished" once
reasons() { reported "SELECT DISTINCT bundle, reason FROM runs WHERE seq > $1 AND message IS NULL AND time > '2026' ORDER BY seq" | paste -sd' '; }
is "  a row for each transition" "report|Running report|Succeeded" "$(reasons 0)"
seq=$(reported "SELECT max(seq) FROM runs")
mkfifo "$dir/hold" # another writer is in the way, as soon as nobody reads
(printf '.timeout 60000\nBEGIN EXCLUSIVE;\n' && cat "$dir/hold") | sqlite3 "$dir/runs.db" &
locked() { reported "SELECT count(*) FROM runs" 2>&1 | grep -c locked; }
soon "  another one writes" 1 locked
echo 'data: {v: "1"}' >>"$dir/m/cm.yaml"
once >"$dir/waits" 2>&1 &
runner=$!
soon "  what is not told yet is tried again" yes sh -c "grep -q 'runs.db: another one writes to it; tried again' '$dir/waits' && echo yes"
echo 'COMMIT;' >"$dir/hold"
wait "$runner"
is "  until it is through" "0 report|Running report|Succeeded" "$? $(reasons "$seq")"
runner=
report "INSERT INTO runs(time) VALUES (:when)"
code "  a parameter that is none" 1 "report.yaml: $dir/runs.db: statement: parameter :when: want :time" once
report "INSERT INTO runs(seq) VALUES (1), (1)"
sed -i 's/"1"/"2"/' "$dir/m/cm.yaml"
code "  what the table refuses is told, and ends nothing" 0 "UNIQUE constraint failed" once
bad "no key" "sql.yaml: key: is missing: the column that names a run" "path: x" "query: SELECT 1"
bad "no query" "sql.yaml: query: is missing" "path: x" "key: a"
bad "an unknown field" "sql.yaml: " "path: x" "key: a" "query: x" "rows: 1"
code "no file" 2 "--trigger.database.config is missing" alm run --kubeconfig "$K" --trigger sql
finish
