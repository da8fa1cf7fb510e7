#!/bin/sh
# lint.sh: formatting, layers, third-party headers, banned calls, predicates that act, sizes, planted bugs,
# shell scripts. Every finding is an error. The analysers, which take minutes, are rules of the Makefile. `make lint-deps` installs the tools.
# shellcheck disable=SC2086 # lists of words
set -u
bad=0
files=$(git ls-files '*.c' '*.h')
fail() {
	echo "lint: $*"
	bad=1
}

# passed NAME COMMAND... <FILES: the command of the files that it has not passed yet as they are, where all are as these: $salt.
seen=${BUILD:-build}/lint/passed
mkdir -p "$seen"
touch "$seen/clang-format" "$seen/shellcheck"
passed() {
	name=$1
	shift
	xargs sha256sum | sed "s/$/ $salt/" | sort >"$seen/$name.now"
	sort "$seen/$name" | comm -23 "$seen/$name.now" - | sed 's/^[^ ]*  //; s/ [^ ]*$//' >"$seen/$name.files"
	xargs -r -P "$(nproc)" -n 25 "$@" <"$seen/$name.files" && mv "$seen/$name.now" "$seen/$name"
}

awk -f tests/lint/layers.awk tests/lint/layers.txt tests/lint/third-party.txt tests/lint/banned.txt $files || fail "layers, headers or banned calls"
sh tests/lint/specs.sh || fail "citations or words of tests/specs"
# shellcheck disable=SC2046 # lists of words
awk -f tests/lint/tags.awk $(git ls-files 'alm/*.h' 'catalog/*.h' 'crds/*.h' 'installers/*.h') || fail "a tag is defined twice"
python3 tests/lint/capabilities.py || fail "a test that tests/CAPABILITIES.md names"
python3 tests/lint/untested.py || fail 'a module without a test of its own: tests/lint/untested.txt'
git ls-files 'alm/*.c' alm/engine/plan.h | xargs python3 tests/lint/predicates.py || fail 'a predicate plans: see alm/engine/plan.h'
git ls-files 'alm/*.c' 'catalog/*.c' 'crds/*.c' 'installers/*.c' | xargs python3 tests/lint/messages.py || fail 'a decision by the words of a message: give the error a reason, the object a field'
python3 tests/lint/sizes.py $files || fail 'a file or a function that is too long: tests/lint/sizes.txt'
git ls-files 'tests/unit/*.c' 'tests/lib/*.c' | xargs grep -nE '"[[:alnum:]][^"/]*XXXXXX"' && fail 'a temporary file below the working directory, where git finds what a killed test leaves: /tmp'
python3 tests/lint/parameters.py $files || fail 'a dead parameter'
salt=$(sha256sum <.clang-format)
salt=${salt%% *}
echo $files | passed clang-format clang-format-19 --dry-run --Werror || fail "clang-format: run make format"
git ls-files 'tests/e2e/*.sh' 'tests/sim/*.sh' 'tests/mutate/*.sh' 'tests/cluster/*.sh' 'tests/lib/*.sh' 'tests/bench/*.sh' | xargs python3 tests/lint/scripts.py || fail 'a script of the tests that cannot fail, or waits blindly'
git ls-files 'tests/sim/plants/*.patch' | xargs sh tests/lint/plants.sh || fail 'a planted bug that cannot be built'
salt=$(cat tests/lib/*.sh tests/e2e/lib.sh tests/e2e/controllers.sh tests/e2e/deputy.sh .shellcheckrc | sha256sum) # which others source
salt=${salt%% *}
git ls-files '*.sh' .ci/run | passed shellcheck shellcheck || fail shellcheck
exit $bad
