#!/bin/sh
# run.sh [NAME...]: runs the tests and ends with "N passed, N failed[, N skipped]".
# A test is a program that prints TAP: "ok N - name", "not ok N - name", "ok N - name # SKIP why".
# Programs: $BUILD/tests/* (cmocka), tests/golden/run_*, tests/e2e/*.sh, tests/sim/*.sh; NAME picks by substring.
set -u
export BUILD="${BUILD:-build}"
export CMOCKA_MESSAGE_OUTPUT=tap
export LC_ALL=C TZ=UTC
passed=0 failed=0 skipped=0
log=$BUILD/test-logs
mkdir -p "$log"

wanted() {
	[ $# -eq 1 ] && return 0
	prog=$1
	shift
	for want in "$@"; do case $prog in *"$want"*) return 0 ;; esac; done
	return 1
}

for prog in "$BUILD"/tests/test_* tests/sim/*.sh tests/e2e/test_*.sh; do
	[ -x "$prog" ] || continue
	case $prog in *.o | *.d) continue ;; esac
	wanted "$prog" "$@" || continue
	out=$log/$(basename "$prog").log
	"$prog" >"$out" 2>"$out.err"
	code=$?
	s=$(grep -c '^ok .*# *SKIP' "$out")
	p=$(($(grep -c '^ok ' "$out") - s))
	f=$(grep -c '^not ok ' "$out")
	if [ $code -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ $code -eq 0 ] && [ $((p + f + s)) -eq 0 ]; then
		f=1
		echo "$prog ran no test" >>"$out"
	fi
	printf '%-44s %s\n' "$(basename "$prog")" "$p passed, $f failed, $s skipped"
	grep '^ok .*# *SKIP' "$out" | sed 's/^/    /'
	if [ "$f" -gt 0 ]; then
		grep -A12 '^not ok' "$out" | head -60 | sed 's/^/    /'
		tail -20 "$out.err" | sed 's/^/    /'
		echo "    exit $code; whole output: $out"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
tail=
[ $skipped -gt 0 ] && tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
