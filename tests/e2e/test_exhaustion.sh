#!/bin/bash
# The machine runs out (reliability.md rows 17, 19): of descriptors, and of room on the disk. Requests are refused, what can be
# served is, and nothing that was acknowledged is lost. A full disk ends the writing until the next start, and says so.
# shellcheck source=tests/e2e/lib.sh disable=SC2119
. "$(dirname "$0")/lib.sh"
make_map() { k create configmap "$1" "--from-literal=a=${2:-b}" -o name 2>&1; }
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

# --- disk: a file system of its own, filled up while the server runs ---
cat >"$dir/disk.sh" <<-'END'
	. tests/e2e/lib.sh
	make_map() { k create configmap "$1" "--from-literal=a=${2:-b}" -o name 2>&1; }
	mkdir "$dir/small" && mount -t tmpfs -o size=12m small "$dir/small" || exit 9
	data=$dir/small/data
	up_start
	is "a write before" configmap/before "$(make_map before)"
	cat /dev/zero >"$dir/small/filler" 2>/dev/null
	text=$(head -c 100000 /dev/zero | tr '\0' x) said=
	for i in $(seq 100); do # some room is left in the pages that there are
	    said=$(make_map "full-$i" "$text")
	    [ "$said" = "configmap/full-$i" ] || break
	    last=$i
	done
	has "a write to a full disk is refused" "failed" "$said"
	has "and then all are, with the remedy" "make room, then start alm again" "$(make_map next 2>&1)"
	has "readiness tells it" "[-]store failed" "$(k get --raw '/readyz?verbose' 2>&1)"
	is "what was acknowledged is read" configmap/before "$(k get configmap before -o name 2>&1)"
	[ -z "${last:-}" ] || is "up to the last" "configmap/full-$last" "$(k get configmap "full-$last" -o name 2>&1)"
	rm "$dir/small/filler"
	up_stop
	code "the log is whole" 0 "" alm audit verify --data-dir "$data"
	up_start
	is "with room it writes after the next start" configmap/after "$(make_map after)"
	is "and all is there" "configmap/after configmap/before" "$(k get configmap after before -o name 2>&1 | xargs)"
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
	has "disk: to the end" "and all is there" "$told"
else
	ok "a full disk # SKIP no mount namespaces"
fi
finish
