#!/bin/sh
# tidy.sh STAMPS [--checks=...] FILE...: clang-tidy reads the files; if it finds nothing, STAMPS/FILE.ok says so of each.
# TIDY_FLAGS has what they are compiled with, as a shell reads it.
set -u
stamps=$1
shift
echo "  TIDY $*"
out=$(eval "clang-tidy-19 --quiet \"\$@\" -- $TIDY_FLAGS" 2>&1) || {
	echo "$out"
	exit 1
}
for f in "$@"; do
	case $f in *.c) touch "$stamps/${f%.c}.ok" ;; esac
done
