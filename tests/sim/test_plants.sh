#!/bin/sh
# A check that has never failed proves nothing: each planted bug (specs: reliability, planted bugs) must be found, by
# what it breaks, and the same arguments find nothing in the program itself. A row is: number | what the violation
# says | arguments. All runs of --exhaustive without the bug are in test_sim.sh.
set -u
build=${BUILD:-build}
table='
1|not status.installedVersion=0.9.4 after an hour.*"Installing"|--scenario install --exhaustive --only crash-after
5|two InstallStrategies of one version|--scenario install --exhaustive --only duplicate --keep-going
6|b-two is .absent., want foreign|--scenario toy --seed 8
9|objects were created twice|--scenario install --fault none
11|approved was sha256:.*, installed is sha256:|--scenario race --fault none
12|AwaitingApproval.*approved plan sha256:|--scenario again --fault none
13|cached .* is not on the server|--scenario toy --seed 53
18|is shown with 0 rows|--scenario install --exhaustive --only crash-after --keep-going
19|no record created this object|--scenario server --exhaustive
20||--disk
21|not status.installedVersion=0.9.4|--scenario install --exhaustive --only crash-before
22|status is .*, its row says|--scenario upgrade --fault crash-before@w51
25|not status.installedVersion=0.9.4|--scenario install --fault none
26|writes and no end|--scenario install --fault none
27|approved was sha256:.*, installed is sha256:|--scenario race --fault none --together
29|apps/etcd is still there|--scenario remove --fault none
30|[0-9] writes [aw]|--scenario upgrade --fault none --together
33|cached /namespaces//.* is not as the server has it|--scenario install --fault none
34|is an app.s, and was written as ALM|--scenario install --fault none
'

# One row: its verdict and what it printed become a file.
check_row() {
	plant=${1%%|*}
	rest=${1#*|}
	text=${rest%%|*}
	args=${rest#*|}
	bad=
	# shellcheck disable=SC2086 # words
	out=$(timeout 200 "$build/sim-PLANT_$plant" $args 2>&1)
	[ $? -eq 1 ] || bad='it is not found'
	echo "$out" | grep -q "^not ok.*$text" || bad=${bad:-'it fails for another reason'}
	case $args in
	*--exhaustive* | --disk) ;;
	*)
		# shellcheck disable=SC2086 # words
		timeout 200 "$build/sim" $args >/dev/null 2>&1 || bad='it is found where it is not'
		;;
	esac
	echo "${bad:+not }ok # - plant_$plant is found by $args"
	[ -z "$bad" ] || echo "# $bad"
	echo "$out" | grep "^not ok.*$text" | head -1 | cut -c1-300 | sed 's/^not ok/# found:/'
}

if [ $# -eq 2 ]; then
	check_row "$2" >"$build/plant_$1.out"
	exit 0
fi
case $build in *address*)
	echo 'ok 1 - plants # SKIP the normal build shows them'
	echo 1..1
	exit 0
	;;
esac

rows=$(echo "$table" | sed '/^$/d')
targets=$(echo "$rows" | sed "s#|.*##; s#^#$build/sim-PLANT_#" | sort -u)
# shellcheck disable=SC2086 # words
if ! MAKEFLAGS="" make --no-print-directory -k -j "$(nproc)" $targets >"$build/plants.log" 2>&1; then
	echo 'not ok 1 - the planted bugs compile'
	sed 's/^/# /' "$build/plants.log"
	echo 1..1
	exit 1
fi
n=$(echo "$rows" | wc -l)
echo "$rows" | awk '{ printf "%d\n%s\n", NR, $0 }' | xargs -d '\n' -n 2 -P "$(nproc)" sh "$0"
code=0
for i in $(seq "$n"); do
	sed "1s/ # - / $i - /" "$build/plant_$i.out"
	grep -q '^ok' "$build/plant_$i.out" || code=1
done
echo "1..$n"
exit $code
