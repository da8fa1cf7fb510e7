#!/bin/sh
# shellcheck disable=SC2016,SC2013 # backticks of Markdown; lists of words
# specs.sh: what the code cites of tests/specs is there, and what tests/specs names of the program is in it: every flag,
# metric, annotation, field and CamelCase word outside of "Not built" (kube-api.md and charts.md name those of others), and every
# folder of ROOMS.md.
set -u
files=$(git ls-files '*.c' '*.h' '*.sh' '*.py' '*.awk' '*.txt' '*.yaml' '*.patch' '*.test' Makefile '*.md' |
	grep -vE '^tests/(fuzz/corpus|golden/(charts|kube-api)|operators)/|^tests/lint/specs')
bad=0
# shellcheck disable=SC2086
awk -f tests/lint/specs.awk tests/specs/*.md tests/PROGRAMME.md pass=2 $files || bad=1

words=$(mktemp)
trap 'rm -f "$words"' EXIT
git ls-files alm catalog installers crds deploy Makefile tests/bench tests/e2e tests/sim | xargs cat |
	grep -aoE '[A-Za-z0-9_-]+' | sed 's/^-*//' | sort -u >"$words"
for page in lifecycle fleet audit reliability jsonql story capabilities; do
	sed '/^## Not built/,$d' tests/specs/$page.md |
		grep -oE -e '--[a-z][a-z-]+|alm_[a-z_]+|coreos\.com/[a-z-]+|\b[A-Za-z]*[a-z][A-Z][a-z][A-Za-z]*\b' |
		sed -E 's|^--||; s|^coreos\.com/||; s|-$||' | sort -u | grep -vx resourceVersions | comm -23 - "$words" |
		sed "s|.*|tests/specs/$page.md: & is nowhere in the program; correct the sentence, or put it under \"Not built\"|"
done >"$words.missing"
[ ! -s "$words.missing" ] || bad=1
cat "$words.missing"
rm -f "$words.missing"

# ROOMS.md: each answer is a folder, each room of the layers is an answer.
answers=$(sed -n 's/^|.*| `\([a-z/0-9]*\)` |$/\1/p' tests/specs/ROOMS.md)
for room in $answers; do
	[ -d "$room" ] || { echo "tests/specs/ROOMS.md: $room is no folder"; bad=1; }
done
for room in $(sed 's/#.*//; /^never/d; /^unnamed/d' tests/lint/layers.txt); do
	echo "$answers" | grep -qx -e "$room" -e "$room/.*" || { echo "tests/specs/ROOMS.md: $room is no answer"; bad=1; }
done
exit $bad
