#!/bin/sh
# Every input in tests/fuzz/corpus through its harness, under the sanitizers of the build if it has any: what a fuzzer has
# found once stays found. `make fuzz` mutates them; with clang and LIBFUZZER=1 coverage drives it.
set -u
build=${BUILD:-build}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
n=0
bad=0
for seeds in tests/fuzz/corpus/*; do
	name=${seeds##*/}
	n=$((n + 1))
	if timeout 120 "$build/fuzz/fuzz_$name" "$seeds"/* >"$log" 2>&1; then
		echo "ok $n - $name: $(tail -1 "$log")"
	else
		bad=1
		echo "not ok $n - $name"
		tail -20 "$log" | sed 's/^/# /'
	fi
done
for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	[ -d "tests/fuzz/corpus/${name%.c}" ] && continue
	n=$((n + 1)) bad=1
	echo "not ok $n - ${name%.c} has no seeds"
done
echo "1..$n"
exit $bad
