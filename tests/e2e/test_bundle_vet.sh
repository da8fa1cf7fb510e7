#!/bin/bash
# `alm bundle vet` and `build` judge what is pushed: a revision of git, all that is wrong with it (R1, R7, R12 of capabilities.md).
# No server runs here.
# TREES=1000 for the long run of random trees.
# shellcheck disable=SC2119
set -u
random_trees=$PWD/tests/e2e/random_trees.py
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v git >/dev/null; then
	echo "ok 1 - vet # SKIP no git"
	exit 0
fi
cd "$dir" || exit 1
repository "$dir/ssot.git" ssot
repository "$dir/lib.git" lib
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n' "$1"; }
commit() { git -C "${2:-ssot}" add -A && git -C "${2:-ssot}" commit -q -m "$1"; }
offline() { env -u KUBECONFIG "$alm_bin" "$@"; }
cat >bundle.yaml <<END
apiVersion: app.coreos.com/v1alpha1
kind: Bundle
metadata: {name: web}
spec:
  source: {git: {url: "file://$dir/ssot.git", path: apps}}
  prune: {namespaces: [default]}
END

mkdir -p ssot/apps
configmap a >ssot/apps/a.yaml
code "nothing is committed yet" 1 "ssot has no commit yet" offline bundle vet -f ssot --bundle bundle.yaml
code "the files on disk are judged when asked for" 0 "ssot/apps: 1 object that fit Bundle web" offline bundle vet -f ssot --worktree --bundle bundle.yaml
commit one
first=$(git -C ssot rev-parse --short=12 HEAD)
code "R1 a commit is judged" 0 "ssot/apps at $first: 1 object that fit" offline bundle vet -f ssot --bundle bundle.yaml
printf 'x: [\n' >ssot/apps/untracked.yaml
configmap b >ssot/apps/a.yaml
echo text >ssot/apps/README
code "what is not committed is not judged, and named" 0 \
	"not judged, as it is on disk and not so in $first: apps/a.yaml, apps/untracked.yaml (--worktree" \
	offline bundle vet -f ssot --bundle bundle.yaml
has "build prints the commit" "name: a" "$(offline bundle build -f ssot/apps 2>&1)"
code "and the disk when asked for" 1 "untracked.yaml: yaml: line" offline bundle build -f ssot --worktree --bundle bundle.yaml
chown -R 12345 ssot/.git ssot 2>/dev/null &&
	code "git is heard where it refuses to read" 1 "git rev-parse: detected dubious ownership" offline bundle vet -f ssot
chown -R "$(id -u)" ssot
code "not both" 2 "exclude each other" offline bundle vet -f ssot --worktree --rev HEAD

# All that is wrong, at once. The filter of the clone would mend the one file: a push has the pointer.
git -C ssot checkout -q apps/a.yaml
configmap x >lib/x.yaml
commit lib lib
git -C lib push -q origin main
git -C ssot -c protocol.file.allow=always submodule --quiet add "$dir/lib.git" apps/sub
ln -s /etc/passwd ssot/apps/link.yaml
configmap a >ssot/apps/twice.yaml
configmap y >ssot/apps/y.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o, namespace: other}\n' >ssot/apps/other.yaml
printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n' >ssot/apps/thing.yaml
git -C ssot config filter.lfs.clean "sed 's,.*,version https://git-lfs.github.com/spec/v1,'"
git -C ssot config filter.lfs.smudge "sed 's,.*,{},'"
printf 'large.yaml filter=lfs\n' >ssot/apps/.gitattributes
configmap large | head -1 >ssot/apps/large.yaml
commit two
head=$(git -C ssot rev-parse HEAD)
cat >want <<'END'
alm: warning: thing.yaml: Thing t names no namespace, and only a cluster knows
alm: link.yaml is a symbolic link
alm: sub is a submodule
alm: large.yaml is a pointer of Git LFS
alm: untracked.yaml: yaml: line 1
alm: y.yaml (line 1): metadata.name is of type boolean and not text: YAML 1.1 reads y,
alm: DuplicateObject: ConfigMap default/a is in a.yaml (line 1) and in twice.yaml
alm: NamespaceNotAllowed: other.yaml: ConfigMap o is outside of spec.prune
alm: 7 faults: nothing of it would be applied
END
told() { # each line as far as the wanted one goes
	offline bundle "$@" 2>&1 >/dev/null | python3 -c '
import sys
want = open("want").read().splitlines()
for i, line in enumerate(sys.stdin.read().splitlines()):
    print(line[:len(want[i])] if i < len(want) else line)'
}
is "R7 all faults of a run are told" "$(cat want)" "$(told vet -f ssot --bundle bundle.yaml)"
is "build finds the same" "$(cat want)" "$(told build -f ssot --bundle bundle.yaml)"
EXIT=1 none "and prints nothing" offline bundle build -f ssot --bundle bundle.yaml
code "the disk has the file itself" 1 "large.yaml (line 1): apiVersion or kind" offline bundle vet -f ssot --worktree --bundle bundle.yaml
offline bundle vet -f ssot --bundle bundle.yaml -o json >vet.json 2>/dev/null
is "as one document" "1 7 1 $head" "$? $(jq -r '[(.faults | length), (.warnings | length), .commit] | map(tostring) | join(" ")' vet.json)"
code "the commit before was right" 0 "at $first: 1 object" offline bundle vet -f ssot --rev HEAD~1 --bundle bundle.yaml
code "a revision that is none" 1 "--rev v9: ssot has no such revision" offline bundle vet -f ssot --rev v9
code "and no option of git" 1 "--rev --all: ssot has no such revision" offline bundle vet -f ssot --rev=--all
code "a folder that the commit has not" 1 "SourceEmpty: " offline bundle vet -f ssot --rev "$first" --bundle <(sed 's/path: apps/path: none/' bundle.yaml)
mkdir ssot/made plain
code "of a folder that is made the disk is offered" 1 "--worktree judges what is on disk" offline bundle vet -f ssot/made
configmap p >plain/p.yaml
code "outside of a repository it is the disk" 0 "plain: 1 object" offline bundle vet -f plain
code "where there are no revisions" 1 "--rev HEAD: plain is in no repository of git" offline bundle vet -f plain --rev HEAD
code "nor where there is no folder" 1 "nowhere: there is no such folder" offline bundle vet -f nowhere

# In which order it would go. Names are written by others, and stand in quotes.
mkdir drawn
printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: site}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: site}\n' >'drawn/a"b\c.yaml'
configmap m >drawn/m.yaml
is "R15 a folder is drawn, group by group" 'digraph "bundle" {
	rankdir=LR; compound=true; node [shape=box];
	subgraph cluster_1 {
		label="1. Namespace";
		o0 [label="Namespace site\na\"b\\c.yaml!1"];
	}
	subgraph cluster_2 {
		label="2. ConfigMap";
		o1 [label="ConfigMap m\nm.yaml"];
	}
	o0 -> o1 [ltail=cluster_1, lhead=cluster_2];
	subgraph cluster_3 {
		label="3. Service";
		o2 [label="Service site/s\na\"b\\c.yaml!0"];
	}
	o1 -> o2 [ltail=cluster_2, lhead=cluster_3];
}' "$(offline bundle graph -f drawn)"
is "  or listed" "Namespace: Namespace site, ConfigMap: ConfigMap m, Service: Service site/s" \
	"$(offline bundle graph -f drawn -o json | jq -r '[.groups[] | .name + ": " + .objects[0].object] | join(", ")')"
if command -v dot >/dev/null; then
	is "Graphviz takes it" 3 "$(offline bundle graph -f drawn | dot -Tplain | grep -c '^node')"
else
	skip "Graphviz takes it" "no dot"
fi
code "what has a fault is not drawn" 1 "7 faults" offline bundle graph -f ssot --bundle bundle.yaml
code "in no other form" 2 "-o dot, json or yaml: " offline bundle graph -f drawn -o svg

# The server refuses what no Bundle would take: in a hook the objects of the push lie elsewhere.
cat >ssot.git/hooks/pre-receive <<END
#!/bin/sh
while read -r old new ref; do "$alm_bin" bundle vet -f . --rev "\$new" --bundle "$dir/bundle.yaml" || exit 1; done
END
chmod +x ssot.git/hooks/pre-receive
code "a hook before the push refuses it" 1 "7 faults" git -C ssot push -q origin main
git -C ssot reset -q --hard "$first"
code "and takes what is right" 0 "ssot.git" sh -c 'git -C ssot push origin main 2>&1'
# The flat map of random trees is what git archive has of them.
python3 "$random_trees" "$alm_bin" "$dir" "${TREES:-20}" >trees 2>differ
is "random trees are as git archive has them" "${TREES:-20} trees, N objects, 0 differ" "$(sed 's/[1-9][0-9]* objects/N objects/' trees)$(head -3 differ)"
finish
