#!/bin/sh
# run.sh [NAME...]: runs the tests and ends with "N passed, N failed[, N skipped]".
# A test is a program that prints TAP: "ok N - name", "not ok N - name", "ok N - name # SKIP why".
# Programs: $BUILD/tests/test_* (cmocka), tests/e2e/test_*.sh, tests/sim/*.sh, tests/mutate/*.sh; NAME picks by substring.
# A core runs three of the first two kinds at a time, as they wait for two thirds of it, the scripts first; the simulation and the
# mutants, which wait for nothing, take what the others leave.
# What ends before its plan "1..N" is done has failed, but for one that skips everything.
# RETRY=N: below.
# $BUILD/test-logs/times says what took how long (wall clock; user and system time of the processor), the longest first.
set -u
export BUILD="${BUILD:-build}"
export CMOCKA_MESSAGE_OUTPUT=tap
export LC_ALL=C TZ=UTC
export GOGC=off GOMEMLIMIT=256MiB GOMAXPROCS=1 # a kubectl lives for a tenth of a second: a third of that is its garbage collector, a tenth its threads
# A sanitizer that keeps 30 callers of each allocation takes a quarter of its time for them; a report that needs more has them when the
# program is run alone.
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=2}"
log=$BUILD/test-logs
mkdir -p "$log"

wanted() {
	[ $# -eq 1 ] && return 0
	prog=$1
	shift
	for want in "$@"; do case $prog in *"$want"*) return 0 ;; esac; done
	return 1
}

# Runs one program; prints its line, and of a failure what it said; leaves "passed failed skipped" in LOG.count.
one() {
	prog=$1
	out=$log/$(basename "$prog").log
	begun=$(date +%s)
	"$prog" >"$out" 2>"$out.err"
	code=$?
	times >"$out.times"
	printf '%5d s  %s  %s\n' $(($(date +%s) - begun)) "$(tail -n 1 "$out.times")" "$(basename "$prog")" >"$out.time"
	# skip() of cmocka is "not ok N # SKIP NAME"
	s=$(grep -c '^\(not \)\?ok .*# *SKIP' "$out")
	p=$(grep '^ok ' "$out" | grep -vc '# *SKIP')
	f=$(grep '^not ok ' "$out" | grep -vc '# *SKIP')
	if [ $code -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ $code -eq 0 ] && [ $((p + f + s)) -eq 0 ]; then
		f=1
		echo "$prog ran no test" >>"$out"
	fi
	planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\).*/\1/p' "$out" | awk '{ n += $1 } END { print n + 0 }')
	if [ "$f" -eq 0 ] && [ "$p" -gt 0 ] && [ "$planned" -ne $((p + s)) ]; then
		f=1
		echo "not ok - $prog ended after $((p + s)) tests of $planned" >>"$out"
	fi
	{
		printf '%-44s %s\n' "$(basename "$prog")" "$p passed, $f failed, $s skipped"
		grep '^\(not \)\?ok .*# *SKIP' "$out" | sed 's/^/    /'
		if [ "$f" -gt 0 ]; then
			grep -A12 '^not ok' "$out" | head -60 | sed 's/^/    /'
			tail -20 "$out.err" | sed 's/^/    /'
			echo "    exit $code; whole output: $out"
		fi
	} >"$out.told"
	cat "$out.told" # in one write: others print too
	echo "$p $f $s" >"$out.count"
}
if [ "${1:-}" = --one ]; then
	one "$2"
	exit 0
fi

# What the scripts start thousands of times is the program itself. The kubectl of Google's packages starts, asks the server for its
# version and then runs the one of that version beside it (ours says 1.33): two starts of Go a call. The python3 of pyenv is a
# script that looks for a python3: 150 ms of the processor where Debian's, which is among the packages of the tests, takes 15.
rm -rf "${log:?}/bin"
mkdir -p "$log/bin/real"
for to in real/kubectl:"$(readlink -f "$(command -v kubectl)")".1.33 real/kubectl:"$(command -v kubectl)" python3:/usr/bin/python3; do
	[ ! -x "${to#*:}" ] || [ -e "$log/bin/${to%%:*}" ] || ln -s "${to#*:}" "$log/bin/${to%%:*}"
done
[ ! -e "$log/bin/real/kubectl" ] || cp tests/lib/kubectl.sh "$log/bin/kubectl"
# The plain alm, which .ci/run has built by then: kubectl.sh.
case $BUILD in *address*) [ ! -x build/alm ] || export KUBECTL_READS="$PWD/build/alm" ;; esac
PATH=$(cd "$log/bin" && pwd):$PATH
export PATH

rm -f "$log"/*.count "$log"/*.time
list() {
	for prog in "$@"; do
		case $prog in *.sh) ;; *) [ -x "$prog" ] || continue ;; esac # a script that cannot run fails
		case $prog in *.o | *.d) continue ;; esac
		# shellcheck disable=SC2086 # names
		wanted "$prog" $names && printf '%s\n' "$prog"
	done
}
names=$*
list tests/e2e/test_*.sh "$BUILD"/tests/test_* >"$log/beside"
list tests/sim/*.sh tests/mutate/test_*.sh >"$log/behind"
xargs -r -P 2 -n 1 nice sh "$0" --one <"$log/behind" &
xargs -r -P "$(($(nproc) * 3))" -n 1 sh "$0" --one <"$log/beside"
wait
cat "$log"/*.time | sort -rn >"$log/times"
# RETRY=N: up to N programs that failed beside the others are run once more, alone. Who passes then is told as unstable, with what
# it said the first time: a fault of the test or a rare one of the product, but no reason to refuse a change that did not touch it.
# What a sanitizer finds is no chance, but for what a test that failed never came to free.
found() { # LOG
	grep -qE 'ERROR: AddressSanitizer|runtime error:' "$1" "$1.err" || { grep -q 'ERROR: LeakSanitizer' "$1" "$1.err" && ! grep -q '^not ok' "$1"; }
}
again() {
	while read -r prog; do
		name=$(basename "$prog")
		if read -r _ f _ <"$log/$name.log.count" && [ "$f" -gt 0 ] && ! found "$log/$name.log"; then printf '%s\n' "$prog"; fi
	done <"$log/beside"
}
again >"$log/again"
if [ "$(wc -l <"$log/again")" -le "${RETRY:-0}" ]; then
	while read -r prog; do
		name=$(basename "$prog")
		for part in log log.err log.told; do cp "$log/$name.$part" "$log/$name.first.$part"; done
		sh "$0" --one "$prog" </dev/null
		read -r _ f _ <"$log/$name.log.count"
		[ "$f" -gt 0 ] || { echo "UNSTABLE: of two runs the first failed:"; cat "$log/$name.first.log.told"; }
	done <"$log/again"
fi
# What failed once more, where the reader of a long output looks: at its end.
for count in "$log"/*.count; do
	[ -e "$count" ] && read -r _ f _ <"$count" && [ "$f" -gt 0 ] && cat "${count%.count}.told"
done
total=$(cat "$log/beside" "$log/behind" | wc -l)
told=$(cat "$log"/*.count 2>/dev/null | wc -l)
{
	cat "$log"/*.count 2>/dev/null
	[ "$told" -eq "$total" ] || echo "0 $((total - told)) 0" # one that was ended from outside
} | {
	passed=0 failed=0 skipped=0
	while read -r p f s; do
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	done
	tail=
	[ $skipped -gt 0 ] && tail=", $skipped skipped"
	echo "$passed passed, $failed failed$tail"
	[ $failed -eq 0 ] && [ $passed -gt 0 ]
}
