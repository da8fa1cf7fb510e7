#!/bin/sh
# lint.sh: formatting, layers, third-party headers, banned calls, shell scripts; then the analysers that are
# installed. FAST=1 leaves the analysers out. Every finding is an error.
# shellcheck disable=SC2086,SC2016 # lists of words; a script for xargs
set -u
bad=0
files=$(git ls-files '*.c' '*.h')
note() { echo "lint: $*"; }
fail() { note "$*"; bad=1; }

awk -f tests/lint/layers.awk tests/lint/layers.txt tests/lint/third-party.txt tests/lint/banned.txt $files || fail "layers, headers or banned calls"
if command -v clang-format-19 >/dev/null; then
	clang-format-19 --dry-run --Werror $files || fail "clang-format: run make format"
else
	note "clang-format-19 is not installed, skipped"
fi
if command -v shellcheck >/dev/null; then
	git ls-files '*.sh' | xargs -r shellcheck || fail shellcheck
else
	note "shellcheck is not installed, skipped"
fi
[ -n "${FAST:-}" ] && exit $bad
flags="-std=gnu17 -D_GNU_SOURCE -I. -DALM_VERSION=\"x\""
product=$(git ls-files 'alm/*.c' 'catalog/*.c' 'crds/*.c' 'installers/*.c')
if command -v cppcheck >/dev/null; then
	cppcheck -q -j2 --std=c11 --enable=warning,portability --suppress=memleak --suppress=missingIncludeSystem \
		--suppress=normalCheckLevelMaxBranches --inline-suppr --error-exitcode=1 -I. $product || fail cppcheck
else
	note "cppcheck is not installed, skipped"
fi
if command -v clang-tidy-19 >/dev/null; then
	# shellcheck disable=SC2086
	printf '%s\n' $product | xargs -P 2 -n 8 sh -c 'clang-tidy-19 --quiet "$@" -- '"$flags"' $(pkg-config --cflags json-c libevent) 2>/dev/null' tidy || fail clang-tidy
else
	note "clang-tidy-19 is not installed, skipped"
fi
exit $bad
