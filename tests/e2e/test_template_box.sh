#!/bin/sh
# alm template renders in a sandboxed child: what that child may not do, and what is said when it dies.
set -u
BUILD=${BUILD:-build}
alm=$(pwd)/$BUILD/alm
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; shift; printf '%s\n' "$@" | head -20 | sed 's/^/# /'; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/c/templates"
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$tmp/c/Chart.yaml"

# fails NAME TEXT ARGUMENT...: exit 1, and TEXT in the message
fails() {
	name=$1 text=$2
	shift 2
	"$alm" template "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ $code -eq 1 ] && grep -qF -- "$text" "$tmp/err" && ! [ -s "$tmp/out" ]; then ok "$name"; else
		not_ok "$name (exit $code)" "$(cat "$tmp/err")"
	fi
}

# The child of a render that takes its time is killed as a crash would.
# shellcheck disable=SC2016 # template text
printf '{{ range until 1000000 }}{{ range until 30 }}{{ $x := sha256sum "x" }}{{ end }}{{ end }}' >"$tmp/c/templates/t.yaml"
"$alm" template "$tmp/c" >"$tmp/out" 2>"$tmp/err" &
pid=$!
child=
for _ in $(seq 1200); do
	child=$(ps -o pid= --ppid $pid 2>/dev/null | tr -d ' ')
	[ -n "$child" ] && break
	sleep 0.05
done
if [ -z "$child" ]; then
	wait $pid
	ok "a crash of the renderer is told # SKIP no child was seen (ps is missing?)"
else
	kill -SEGV "$child"
	wait $pid
	code=$?
	if [ $code -eq 1 ] && grep -q "Error: rendering .*/c: crashed with signal 11" "$tmp/err" && ! [ -s "$tmp/out" ]; then
		ok "a crash of the renderer is told"
	else not_ok "a crash of the renderer is told (exit $code)" "$(cat "$tmp/err")"; fi
fi

if grep -q __asan_init "$alm"; then ok "processor time # SKIP the sandbox is open in sanitizer builds"; else
	# shellcheck disable=SC2016 # template text
	printf '{{ $s := repeat 1000000 "0123456789" }}{{ range until 5000 }}{{ $x := sha512sum $s }}{{ end }}' >"$tmp/c/templates/t.yaml"
	fails "processor time" "used more than 2 s of processor time" --render-cpu 2s "$tmp/c"
fi

# Documents of 70 KB: the child hands each on; what is blank at the end of all goes.
# shellcheck disable=SC2016 # template text
printf '{{ range $i := until 6 }}---\na: {{ $i }}\nb: {{ repeat 70000 "x" }}\n{{ end }}\n\n' >"$tmp/c/templates/t.yaml"
"$alm" template "$tmp/c" >"$tmp/out" 2>"$tmp/err"
x=$(printf '%070000d' 0 | tr 0 x)
for i in 0 1 2 3 4 5; do printf -- '---\n# Source: c/templates/t.yaml\na: %d\nb: %s\n' "$i" "$x"; done >"$tmp/want"
if cmp -s "$tmp/want" "$tmp/out" && ! [ -s "$tmp/err" ]; then ok "a long output is whole"; else not_ok "a long output is whole" "$(cmp "$tmp/want" "$tmp/out" 2>&1)"; fi

# full NAME: neither a long output nor a short one is lost in silence
full() {
	if ! "$alm" template "$tmp/c" >/dev/full 2>"$tmp/err" && grep -q "^Error: the output cannot be written: No space left" "$tmp/err"; then
		ok "$1"
	else not_ok "$1" "$(cat "$tmp/err")"; fi
}
full "a long output to a full disk"

printf 'a: {{ .Values.f }}\n' >"$tmp/c/templates/t.yaml"
full "a short output to a full disk"
printf 'text' >"$tmp/f"
if [ "$("$alm" template "$tmp/c" --set-file "f=$tmp/f" 2>&1 | tail -1)" = "a: text" ]; then ok "a named file is read"; else not_ok "a named file is read"; fi
fails "a file that is not there" "no such file" "$tmp/c" --set-file "f=$tmp/none"
printf 'a: {{ dateInZone "15:04 MST" (toDate "2006-01-02" "2024-07-01") "Europe/Berlin" | quote }}\n' >"$tmp/c/templates/t.yaml"
if [ -f /usr/share/zoneinfo/Europe/Berlin ]; then
	if "$alm" template "$tmp/c" 2>&1 | grep -q '02:00 CEST'; then ok "a time zone is asked for"; else not_ok "a time zone is asked for"; fi
else ok "a time zone is asked for # SKIP no zoneinfo"; fi
printf 'a: {{ (genSelfSignedCert "x" nil nil 1).Cert | len | lt 100 }} {{ htpasswd "a" "b" | len }}\n' >"$tmp/c/templates/t.yaml"
if "$alm" template "$tmp/c" 2>&1 | grep -q '^a: true 62'; then ok "keys are made"; else not_ok "keys are made" "$("$alm" template "$tmp/c" 2>&1)"; fi
if "$alm" template "$tmp/c" --output-dir "$tmp/o" | grep -q "wrote $tmp/o/c/templates/t.yaml" && grep -q '^a: true' "$tmp/o/c/templates/t.yaml"; then
	ok "files are written"
else not_ok "files are written"; fi
echo "1..$n"
