#!/bin/sh
# exports.sh OBJECT...: fails on an external symbol that is defined in one object file of the product and used by none
# of the others, unless exports.txt says why: make it static, or delete it with what tests it.
set -u
names=$(sed -n 's/^\([a-zA-Z_0-9]*\): .*/\1/p' tests/lint/exports.txt)
unused=$(nm -go "$@" | awk '
	{ sub(/:/, " ") }
	$2 == "U" { used[$3] = 1; next }
	{ where[$4] = $1 }
	END { for (s in where) if (!(s in used)) print s, where[s] }')
[ -n "$unused" ] || { echo "exports: nm says nothing"; exit 1; }
bad=$(
	echo "$unused" | while read -r name object; do
		echo "$names" | grep -qx "$name" ||
			echo "$object: $name is used by no other object of the product: make it static, or delete it (tests/lint/exports.txt)"
	done
	for name in $names; do
		echo "$unused" | grep -q "^$name " || echo "tests/lint/exports.txt: $name is gone, or used by the product: remove the line"
		[ "$name" = main ] || grep -rqw --include='*.[ch]' "$name" tests || case $name in strategy_* | run_host_* | sqlite3*) ;; *)
			echo "tests/lint/exports.txt: $name is used by no test: make it static" ;; esac
	done
)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
echo "lint: $(echo "$unused" | grep -c .) external symbols that one object alone uses, all with a reason"
