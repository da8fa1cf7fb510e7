#!/bin/sh
# plants.sh PATCH...: each planted bug (tests/sim/test_plants.sh) still applies, as the Makefile applies it, and names a test that there is:
# code that moved takes the lines away that a patch looks for, and the test that builds them all takes minutes to say so.
set -u
bad=0
say() {
	echo "$1: $2"
	bad=1
}
for p; do
	out=$(patch -f -p1 --dry-run <"$p" 2>&1) || say "$p" "does not apply any more: make it anew by git diff
$out"
	by=$(sed -n 's/^Found by: *//p' "$p")
	case $by in
	*' --scenario '*)
		name=$(echo "$by" | sed 's/.* --scenario \([a-z]*\).*/\1/')
		grep -qF ".name = \"$name\"," tests/sim/scenario_*.c || say "$p" "is found by scenario $name, which there is not"
		;;
	'sim '*) ;;
	test_*) git ls-files --error-unmatch "tests/unit/**/$by.c" >/dev/null 2>&1 || say "$p" "is found by $by, which there is not" ;;
	*) say "$p" 'has no "Found by: test_X" nor "Found by: sim ARGUMENTS"' ;;
	esac
done
exit $bad
