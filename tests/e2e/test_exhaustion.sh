#!/bin/bash
# The machine runs out (PROGRAMME.md rows 17, 19, 24): of descriptors, and of room on the disk. Requests are refused, what can be
# served is, and nothing that was acknowledged is lost. On a full disk nothing is written until there is room again; the log has entries of both.
# shellcheck source=tests/e2e/lib.sh disable=SC2119
. "$(dirname "$0")/lib.sh"
make_map() { k create configmap "$1" "--from-literal=a=${2:-b}" -o name 2>&1; }
ask() { # PATH [OPTION...]; kubectl would ask ten times
	local path=$1
	shift
	curl -ks -H "Authorization: Bearer $(cat "$data/token")" "$@" "$(awk '$1 == "server:" { print $2 }' "$KUBECONFIG")$path"
}
export -f ask
names() { k get configmaps -o name 2>&1 | grep -c "/$1"; }

# --- descriptors: 200 idle clients for a process that may have 64 ---
alm_few=$dir/alm-few
printf '#!/bin/sh\nulimit -n 64\nexec "%s" "$@"\n' "$alm_bin" >"$alm_few" && chmod +x "$alm_few"
alm_real=$alm_bin
alm_bin=$alm_few up_start
alm_bin=$alm_real
cat >"$dir/sit.py" <<-'END'
	import socket, sys
	host, port = sys.argv[1].split(":")
	held = []
	for _ in range(200):
	    try:
	        held.append(socket.create_connection((host, int(port)), timeout=5))
	    except OSError:
	        pass
	print(len(held), flush=True)
	sys.stdin.read()
END
mkfifo "$dir/go"
python3 "$dir/sit.py" "$(grep -o '127.0.0.1:[0-9]*' "$dir/out" | head -1)" <"$dir/go" >"$dir/held" &
sitter=$!
exec 3>"$dir/go"
soon "200 clients sit" yes sh -c "[ -s '$dir/held' ] && echo yes"
is "it has few descriptors" 64 "$(awk '/^Max open files/ { print $4 }' "/proc/$pid/limits")"
soon "a write is answered" "configmap/few" make_map few
exec 3>&-
wait $sitter
soon "and when they have gone" 1 names few
is "it never ended" yes "$(kill -0 "$pid" 2>/dev/null && echo yes)"
up_stop

# --- a reader that stays open: the log of SQLite grows, until it ends ---
cat >"$dir/sit.py" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
	db.execute("BEGIN")
	print(db.execute("SELECT count(*) FROM objects").fetchone()[0], flush=True)
	sys.stdin.read()
END
wal_mib() { echo $(($(stat -c %s "$data/alm.db-wal") >> 20)); }
wal_is_long() { [ "$(wal_mib)" -gt "$1" ] && echo yes || echo no; }
told() { ask '/readyz?verbose' | grep -o 'open for reading'; }
wal_metric() { curl -s "http://$metrics/metrics" | awk '$1 == "alm_db_wal_bytes" { print ($2 > 64 * 1048576) ? "long" : "short" }'; }
up_start
rm -f "$dir/held"
python3 "$dir/sit.py" "$data/alm.db" <"$dir/go" >"$dir/held" &
sitter=$!
exec 3>"$dir/go"
soon "a reader has begun" yes sh -c "[ -s '$dir/held' ] && echo yes"
head -c 1000000 /dev/zero | tr '\0' x >"$dir/text"
printf '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"big"},"data":{"a":"%s"}}' "$(cat "$dir/text")" >"$dir/big"
for i in $(seq 75); do
	sed "s/\"a\":\"x/\"a\":\"$i/" "$dir/big" >"$dir/body"
	ask "/api/v1/namespaces/default/configmaps$([ "$i" = 1 ] || echo /big)" -X "$([ "$i" = 1 ] && echo POST || echo PUT)" \
		-H "Content-Type: application/json" -d "@$dir/body" -o "$dir/answer" || break
done
is "75 MB are written meanwhile" "75 yes" "$i $(wal_is_long 64)"
soon "readiness says why the log of SQLite is long" "open for reading" told
is "a metric, too" long "$(wal_metric)"
has "and a line on stderr" "the database cannot be checkpointed" "$(cat "$dir/err")"
exec 3>&-
wait $sitter
soon "when the reader has gone, the file is cut down" no wal_is_long 16
soon "and the metric" short wal_metric
up_stop
code "the log is whole" 0 "" alm audit verify --data-dir "$data"

# --- disk: a file system of its own, filled up while the server runs, at once or but for a few MiB ---
cat >"$dir/disk.sh" <<-'END'
	. tests/e2e/lib.sh
	make_map() { k create configmap "$1" "--from-literal=a=${2:-b}" -o name 2>&1; }
	entries() { alm audit query --data-dir "$data" --type System | grep -o 'DiskFull[A-Za-z]*' | xargs; }
	ready() { ask '/readyz?verbose' | grep disk; }
	full() { curl -s "http://$metrics/metrics" | grep -E '^alm_disk_full '; }
	mkdir "$dir/small" && mount -t tmpfs -o size=64m small "$dir/small" || exit 9
	data=$dir/small/data
	up_start
	for name in before doomed; do is "a write before" "configmap/$name" "$(make_map $name)"; done
	free=$(($(stat -f -c '%a * %S' "$dir/small")))
	head -c $((free - 10 * 1048576)) /dev/zero >"$dir/small/filler" # 10 MiB are left: the reserve is touched
	said=$(make_map full)
	has "with less than the reserve a write is refused" "failed to create configmap: the disk of the data folder is full:" "$said"
	has "and the remedy told" "make room on that file system, and writing goes on by itself" "$said"
	is "what was acknowledged is read" configmap/before "$(k get configmap before -o name 2>&1)"
	is "deletes are taken" configmap/doomed "$(k delete configmap doomed -o name 2>&1)"
	has "readiness tells it" "[-]disk failed" "$(ready)"
	soon "a metric, too" "alm_disk_full 1" full
	has "alm status, too" "server: its disk is full" "$(alm status)"
	soon "the log has its entry" DiskFull entries
	cat /dev/zero >"$dir/small/filler2" 2>/dev/null # nothing is left
	has "on a disk without any room a delete is refused as well" "is full: 0 MiB are free" "$(ask /api/v1/namespaces/default/configmaps/before -X DELETE -i)"
	has "to be tried again" "Retry-After: 1" "$(ask /api/v1/namespaces/default/configmaps/before -X DELETE -i)"
	rm "$dir/small/filler2"
	rm "$dir/small/filler"
	soon "with room it writes again, without a start" "configmap/after" make_map after
	soon "and the log has the end" "DiskFull DiskFullEnded" entries
	has "readiness, too" "[+]disk ok" "$(ready)"
	soon "and the metric" "alm_disk_full 0" full
	up_stop
	code "the log is whole" 0 "" alm audit verify --data-dir "$data"
	up_start
	is "all is there after the next start" "configmap/after configmap/before" "$(k get configmap after before -o name 2>&1 | xargs)"
	up_stop
	umount "$dir/small"
END
if unshare -rm true 2>/dev/null; then
	told=$(BUILD=$BUILD unshare -rm bash "$dir/disk.sh" 2>&1)
	while read -r line; do
		case $line in
		'ok '*) ok "disk: ${line#ok * - }" ;;
		'not ok '*) not_ok "disk: ${line#not ok * - }" "$told" ;;
		esac
	done <<<"$told"
	has "disk: to the end" "all is there after the next start" "$told"
else
	ok "a full disk # SKIP no mount namespaces"
fi
finish
