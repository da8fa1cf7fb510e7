#!/bin/sh
# A check that has never failed proves nothing: each planted bug (specs: reliability, planted bugs) must be found.
set -u
build=${BUILD:-build}
n=0
bad=0
found() {
	plant=$1
	shift
	n=$((n + 1))
	name="plant_$plant is found by $*"
	make --no-print-directory "$build/sim-PLANT_$plant" >"$build/plant.log" 2>&1
	if [ ! -x "$build/sim-PLANT_$plant" ]; then
		bad=1
		echo "not ok $n - $name"
		sed 's/^/# /' "$build/plant.log"
	elif out=$("$build/sim-PLANT_$plant" "$@" 2>&1) || [ $? -ne 1 ]; then
		bad=1
		echo "not ok $n - $name"
	else
		echo "ok $n - $name"
		echo "$out" | grep '^not ok' | head -1 | sed 's/^not ok/# found:/'
	fi
}

found 6 --scenario toy --runs 500
found 13 --scenario toy --runs 500
found 19 --scenario server --exhaustive
found 19 --scenario toy --runs 500
found 20 --disk
found 18 --scenario upgrade --runs 60
found 22 --scenario upgrade --runs 60 --together
found 25 --scenario toy --runs 500
found 25 --scenario upgrade --runs 60
found 30 --scenario upgrade --fault none --together
echo "1..$n"
exit $bad
