#!/bin/bash
# A log that somebody with the database but without its key has rewritten, re-signed, cut off or put back to an older
# copy is found without trusting the database, by verify and at the start; the gap is accepted or the copy put back.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit anchors # SKIP no kubectl"
	exit 0
}
tlog() { python3 "$OLDPWD/tests/e2e/tlog.py" "$@"; }
verify() { alm audit verify --data-dir "$data" 2>&1; }
status_of() { curl -sk -o /dev/null -w '%{http_code}' "$(k config view -o 'jsonpath={.clusters[0].cluster.server}')$1"; }
more() { for i in $(seq "$1"); do k create configmap "c$1-$i" >/dev/null; done; }
volume=$dir/volume
mkdir -p "$volume"
cd "$dir" || exit 1
anchor=file:$volume/anchor

up_start --audit-anchor "$anchor"
k create configmap victim >/dev/null
more 3
code "the anchor beside a running server" 0 "anchor file $volume/anchor" alm audit verify --data-dir "$data"
up_stop
code "an untouched log" 0 "transitions = " alm audit verify --data-dir "$data"
has "its anchor is named, and that it is on the same volume" "anchor file $volume/anchor $(sed -n 2p "$volume/anchor") ok (weak)" "$(verify)"
cp -a "$data" "$dir/first"

# As S-09 of the findings: each of these was exit 0 and went unnoticed at the next start.
n=0
for how in rewritten rewritten-late resigned truncated emptied checkpoints one-checkpoint appended; do
	rm -rf "$data"
	cp -a "$dir/first" "$data"
	tlog forge "$data/alm.db" "$how" || not_ok "forge $how"
	mv "$volume/anchor" "$volume/hidden" # audit.head alone finds it
	code "found by audit.head: $how" 4 "FAIL" alm audit verify --data-dir "$data"
	mv "$volume/hidden" "$volume/anchor"
	mv "$data/audit.head" "$dir/hidden"
	case $how in checkpoints | one-checkpoint | appended) ;; *)
		code "found by the anchor: $how" 4 "FAIL" alm audit verify --data-dir "$data" --audit-anchor "$anchor"
		;;
	esac
	mv "$dir/hidden" "$data/audit.head"
	[ "$how" = one-checkpoint ] && continue # the start looks at the last one alone
	n=$((n + 1))
	up_start --audit-anchor "$anchor"
	is "read-only after the start: $how" "500 503" "$(status_of /readyz) $(k create configmap after 2>&1 | grep -o LogRolledBack | head -1 | sed 's/.*/503/')"
	is "and it can be read: $how" "configmap/victim" "$(k get configmap victim -o name 2>&1)"
	up_stop
	cmp -s "$volume/anchor" "$dir/anchor.before" || [ $n -eq 1 ] || not_ok "the anchor was changed: $how"
	cp "$volume/anchor" "$dir/anchor.before"
done

# An older copy of the whole folder, its own head included
rm -rf "$data"
cp -a "$dir/first" "$data"
up_start --audit-anchor "$anchor"
is "the true copy is taken again" "200" "$(status_of /readyz)"
more 4
up_stop
code "and is intact" 0 "" alm audit verify --data-dir "$data"
cp -a "$data" "$dir/second"
rm -rf "$data"
cp -a "$dir/first" "$data"
code "an older copy: found by the anchor alone" 4 "missing: anchor file" alm audit verify --data-dir "$data" --audit-anchor "$anchor"
up_start --audit-anchor "$anchor"
is "and at the start" "500" "$(status_of /readyz)"
up_stop

# The gap is accepted
code "not without a reason" 2 "--reason TEXT is missing" alm audit accept-gap --data-dir "$data"
code "accepted" 0 "begins anew as alm.local/" alm audit accept-gap --data-dir "$data" --audit-anchor "$anchor" --reason "INC-7 disk lost"
code "the new log is intact" 0 "objects as logged" alm audit verify --data-dir "$data"
archive=$(ls "$data"/audit-*.jsonl)
code "the old one is an archive" 0 "chain, tree" alm audit verify --file "$archive"
first=$(alm audit query --data-dir "$data" -o json --limit 1)
is "its first record says what was known, what was there, and why" "true INC-7 disk lost true /2" "$(printf '%s' "$first" |
	jq -r '.[0] | "\(.body.gap.size > .body.gap.had.size) \(.body.justification) \(.body.gap.archive == "sha256:'"$(sha256sum <"$archive" | cut -d' ' -f1)"'") \(.subject.name[-2:])"')"
up_start --audit-anchor "$anchor"
is "the server writes again" "200 configmap/later" "$(status_of /readyz) $(k create configmap later -o name 2>&1)"
up_stop
code "and the anchor has moved on to the new log" 0 "anchor file $volume/anchor" alm audit verify --data-dir "$data"
code "there is no second gap" 3 "there is no gap" alm audit accept-gap --data-dir "$data" --reason again

# A database that is gone is the largest gap
rm -f "$data"/alm.db*
code "alm up does not begin a new log where one was" 4 "LogRolledBack" timeout 60 "$alm_bin" up --data-dir "$data" --listen 127.0.0.1:0 --metrics-listen off
code "that is accepted, too" 0 "begins anew as" alm audit accept-gap --data-dir "$data" --reason "lost"
up_start --audit-anchor "$anchor"
is "and the server starts" "200" "$(status_of /readyz)"

# Proofs, checked by other code
k create configmap proved >/dev/null
row=$(k get auditrecords --field-selector subject.name=proved -o 'jsonpath={.items[0].seq}')
key=$(alm audit key --data-dir "$data")
prove() { alm audit proof "$row" --with-record --data-dir "$data" >"$dir/proof" 2>&1 && tlog check-proof "$key" "$dir/proof" 2>&1 | grep -o '"name":"proved"'; }
soon "a proof of a row" '"name":"proved"' prove

# The whole log as tiles, read by other code
for i in $(seq 280); do printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%s}\n---\n' "$i"; done | k create --validate=false -f - >/dev/null
monitor() { tlog monitor "$key" 2>&1 | tail -1; }
soon "a monitor reads it as tiles" "tiles of more than 256 rows lead to the root" monitor
has "no tile beyond the checkpoint" "could not find" "$(k get --raw /audit/tile/0/001.p/255 2>&1)"
has "a number is written in one way" "could not find" "$(k get --raw /audit/tile/0/x000/000 2>&1)"
has "nothing is for everybody" "forbidden" "$(k get --raw /audit/checkpoint --as nobody 2>&1)"
up_stop

# A witness
python3 "$OLDPWD/tests/e2e/tlog.py" witness "$dir" "$key" "$dir/port" &
witness=$!
trap 'kill "$witness" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
read -r port wkey <<<"$(written "$dir/port")"
place="witness:http://127.0.0.1:$port#$wkey"
up_start --audit-anchor "$place"
cosigned() { verify | grep -o "anchor witness http://127.0.0.1:$port [0-9]* ok" | sed 's/ [0-9]* / N /'; }
soon "the witness cosigns" "anchor witness http://127.0.0.1:$port N ok" cosigned
has "a proof carries its cosignature" "witness.example/w1" "$(alm audit proof 1 --data-dir "$data")"
up_stop
rm -rf "$dir/third"
cp -a "$data" "$dir/third"
up_start --audit-anchor "$place"
more 5
up_stop
up_start --audit-anchor "$place" # at a start it is told at once, later once a minute
told() { [ "$(cut -d' ' -f1 "$dir/state")" -gt "$(sqlite3 "$dir/third/alm.db" 'SELECT max(seq) FROM audit')" ] && echo more; }
soon "and is told more" more told
up_stop
rm -rf "$data"
cp -a "$dir/third" "$data"
up_start --audit-anchor "$place"
readyz() { status_of /readyz; }
soon "it knows of more than an older copy: read-only" 500 readyz
up_stop
kill "$witness"
wait "$witness" 2>/dev/null
code "configmap is not for the embedded server" 2 "is for alm controller" timeout 60 "$alm_bin" up --data-dir "$data" --audit-anchor configmap
code "nor is a path that means another place elsewhere" 2 "want an absolute path" timeout 60 "$alm_bin" up --data-dir "$data" --audit-anchor file:anchor

# The default is remembered as a file of the log's own folder, wherever that is and from wherever it is looked at.
data=relative
up_start
up_stop
mv relative moved
cd / || exit 1
is "a folder that was moved has its anchor" "file $dir/moved/audit.anchor ok" \
	"$(alm audit verify --data-dir "$dir/moved" 2>&1 | grep -oE 'NOT CHECKED|file [^ ]* [0-9]+ ok' | sed 's/ [0-9]* ok/ ok/')"
finish
