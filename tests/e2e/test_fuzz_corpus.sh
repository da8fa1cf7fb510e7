#!/bin/sh
# Every input in tests/fuzz/corpus through its harness, under the sanitizers of the build if it has any: what a fuzzer has
# found once stays found. `make fuzz` mutates them; with clang and LIBFUZZER=1 coverage drives it.
# Without sanitizers 10,000 mutations of them, too (1,000 of what takes its time): what became of all is compared with tests/fuzz/recorded.txt, which
# `make check RUN=test_fuzz_corpus.sh FUZZ_RECORD=1` records anew (tests/lib/digests.h).
set -u
build=${BUILD:-build}
recorded=tests/fuzz/recorded.txt
log=$(mktemp)
new=$(mktemp)
trap 'rm -f "$log" "$new"' EXIT
n=0
bad=0
others=
compares=yes
case $build in *address*) compares= ;; esac
[ -z "${FUZZ_RECORD:-}" ] || [ -z "$compares" ] || export DIGESTS_RECORD="$new"
for seeds in tests/fuzz/corpus/*; do
	name=${seeds##*/}
	case $name in api | apiseq | archive | audit | prov | token) runs=1000 ;; *) runs=10000 ;; esac
	key="-recorded=fuzz_$name"
	[ -n "$compares" ] || runs=0 key=
	n=$((n + 1))
	if timeout 300 "$build/fuzz/fuzz_$name" -runs=$runs ${key:+"$key"} "$seeds"/* >"$log" 2>&1; then
		echo "ok $n - $name: $(grep ' mutations$' "$log")"
		others=${others:-$(grep '^not compared: ' "$log")}
	else
		bad=1
		echo "not ok $n - $name"
		tail -20 "$log" | sed 's/^/# /'
		! grep -q 'digest ' "$log" || echo "# what became of an input is not what was recorded; if that is meant: make check RUN=test_fuzz_corpus.sh FUZZ_RECORD=1"
	fi
done
for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	[ -d "tests/fuzz/corpus/${name%.c}" ] && continue
	n=$((n + 1)) bad=1
	echo "not ok $n - ${name%.c} has no seeds"
done
n=$((n + 1))
if [ -z "$compares" ]; then
	echo "ok $n - all_is_as_recorded # SKIP asked of a build without sanitizers"
elif [ -n "${FUZZ_RECORD:-}" ] && [ $bad -eq 0 ]; then
	{
		echo "# libraries: $("$build/fuzz/fuzz_json" -libraries)"
		sort -k 2 "$new"
	} >"$recorded"
	echo "ok $n - all_is_recorded"
elif [ -n "$others" ]; then
	echo "ok $n - all_is_as_recorded # SKIP $others"
elif [ $bad -ne 0 ]; then
	echo "not ok $n - all_is_as_recorded"
else
	echo "ok $n - all_is_as_recorded"
fi
echo "1..$n"
exit $bad
