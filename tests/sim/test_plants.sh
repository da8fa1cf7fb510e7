#!/bin/sh
# A check that has never failed proves nothing. Each patch in plants puts a bug into a copy of the files that it names;
# the program of its header must find it, by what the bug breaks, and the same program without the patch finds nothing
# (unit tests and --exhaustive are run without it by the others). The lines of a header:
#	Class:    which rule of the controllers it breaks
#	Bug:      what is wrong
#	Found by: sim and its arguments, or the name of a unit test
#	Says:     what the "not ok" line has, a basic regular expression; empty: anything
# PLANT=NAME: only the patches whose name has it.
set -u
build=${BUILD:-build}
plants=$(dirname "$0")/plants

field() {
	sed -n "s/^$1: *//p" "$2"
}

# By the processor's time: behind the other tests the clock says nothing.
bounded() {
	timeout 3000 prlimit --cpu=200: "$@"
}

# What must pass without the bug: one run for all plants that share it.
clean_file() {
	echo "$build/plants/clean-$(echo "$1" | tr -c 'a-z0-9\n' _)"
}
check_clean() {
	# shellcheck disable=SC2086 # words
	bounded "$build"/$1 >/dev/null 2>&1
	echo $? >"$(clean_file "$1")"
}

# One plant: its verdict and what it printed become a file.
check_plant() {
	name=$(basename "$1" .patch)
	says=$(field Says "$1")
	by=$(field 'Found by' "$1")
	run=$build/plants/$name/run
	bad=
	if [ -x "$run" ]; then
		# shellcheck disable=SC2046 # words
		out=$(CMOCKA_MESSAGE_OUTPUT=tap bounded "$run" $(expr "$by" : 'sim \(.*\)') 2>&1)
		code=$?
		{ [ $code -ge 1 ] && [ $code -lt 124 ]; } || bad="it is not found (exit $code)"
		echo "$out" | grep -q "^not ok.*$says" || bad=${bad:-'it fails for another reason'}
	else
		bad='the patch does not apply any more, or what it makes does not compile or link'
		out=$(cat "$build/plants/$name.log")
	fi
	echo "${bad:+not }ok # - plant $name is found by $by"
	[ -z "$bad" ] || echo "# $bad"
	echo "$out" | grep "^not ok.*$says" | head -1 | cut -c1-300 | sed 's/^not ok/# found:/'
	[ -z "$bad" ] || echo "$out" | grep -v "^not ok.*$says" | tail -40 | cut -c1-300 | sed 's/^/# /'
}

case ${1:-} in
--plant)
	check_plant "$2" >"$build/plants/$(basename "$2" .patch).out"
	exit 0
	;;
--clean)
	check_clean "$2"
	exit 0
	;;
esac
case $build in *address*)
	echo 'ok 1 - plants # SKIP the normal build shows them'
	echo 1..1
	exit 0
	;;
esac

patches=$(ls "$plants"/*"${PLANT:-}"*.patch)
by=$(for p in $patches; do field 'Found by' "$p"; done | sort -u)
targets=$(for p in $patches; do echo "$build/plants/$(basename "$p" .patch)/run"; done)
mkdir -p "$build/plants"
rm -f "$build"/plants/*.out "$build"/plants/clean-*
# shellcheck disable=SC2086 # words
MAKEFLAGS="" make --no-print-directory -k -j "$(nproc)" "$build/sim" $targets >"$build/plants.log" 2>&1
{
	echo "$by" | grep '^sim ' | grep -v -e --exhaustive -e --disk | sed 's/^/--clean\n/'
	echo "$patches" | sed 's/^/--plant\n/'
} | xargs -d '\n' -n 2 -P "$(nproc)" sh "$0"
code=0
n=0
for p in $patches; do
	n=$((n + 1))
	out=$build/plants/$(basename "$p" .patch).out
	clean=$(clean_file "$(field 'Found by' "$p")")
	if [ -f "$clean" ] && [ "$(cat "$clean")" -ne 0 ] && grep -q '^ok' "$out"; then
		sed -i 's/^ok/not ok/; 1a # it is found where it is not' "$out"
	fi
	sed "1s/ # - / $n - /" "$out"
	grep -q '^ok' "$out" || code=1
done
echo "1..$n"
exit $code
