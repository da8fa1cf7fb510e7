#!/bin/bash
# `alm bundle set-version`: pull, change, commit, push as one command, that others may be faster than (R9 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v git >/dev/null; then
	echo "ok 1 - versions in a repository # SKIP no git"
	exit 0
fi
cd "$dir" || exit 1
repository ssot.git ssot
mkdir ssot/apps
cat >ssot/apps/web.yaml <<'YAML'
# what customers see
apiVersion: v1
kind: Service
metadata: {name: my-app, labels: {was: "example.com/web:1.4.1"}}
spec: {ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-app}   # not that one: example.com/web:1.4.1
spec:
  selector: {matchLabels: {app: w}}
  template:
    metadata: {labels: {app: w}}
    spec:
      containers:
        - name: sidecar
          image: example.com/web:1.4.1
        - name: my-app
          image: "example.com/web:1.4.1" # pinned
YAML
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: etcd}\nspec: {type: t.example.com, version: 0.9.6}\n' >ssot/etcd.yaml
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: pinned}\nspec: {containers: [{name: c, image: "a@sha256:00"}]}\n' >ssot/pinned.yaml
git -C ssot add -A && git -C ssot commit -q -m first && git -C ssot push -q -u origin main 2>/dev/null
set_version() { alm bundle set-version "$@"; }
at_server() { git -C "$dir/ssot.git" show "main:$1"; }
cp ssot/apps/web.yaml want.yaml
sed -i 's/image: "example.com\/web:1.4.1"/image: "example.com\/web:1.4.2"/' want.yaml

cd ssot || exit 1
echo dirty >>etcd.yaml
before=$(git status --porcelain; git rev-parse HEAD; git write-tree)
code "R9 a version is changed, committed and pushed" 0 "my-app: 1.4.1 -> 1.4.2 (apps/web.yaml!1)" alm bundle set-version my-app 1.4.2 --push
is "R9 it and nothing else of the file" "$(cat ../want.yaml)" "$(at_server apps/web.yaml 2>&1)"
is "the clone is as it was" "$before" "$(git status --porcelain; git rev-parse HEAD; git write-tree)"
is "the commit says it, and who made it" "alice my-app 1.4.2" "$(git -C ../ssot.git log -1 --format='%an %s' main)"
code "again: nothing is to be done" 0 "my-app is 1.4.2 already" alm bundle set-version my-app 1.4.2 --push
is "and no commit made" "my-app 1.4.2" "$(git -C ../ssot.git log -1 --format=%s main)"
git checkout -q etcd.yaml && git pull -q --ff-only 2>/dev/null

# Somebody is faster: each push of ours meets a push of his, as often as the hook says.
cat >../ssot.git/hooks/pre-receive <<'HOOK'
#!/bin/sh
read -r old new ref
n=$(cat faster 2>/dev/null || echo 0)
[ "$n" -gt 0 ] || exit 0
echo $((n - 1)) >faster
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
git update-ref "$ref" "$(git commit-tree -p "$old" -m "faster $n" "$old^{tree}")"
HOOK
chmod +x ../ssot.git/hooks/pre-receive
echo 3 >../ssot.git/faster
code "R9 others that push meanwhile are no reason to fail" 0 "etcd: 0.9.6 -> >=1.0 <2 (etcd.yaml)" alm bundle set-version etcd '>=1.0 <2' --push -f .
is "R9 what they pushed stays below it" "etcd >=1.0 <2|faster 1|faster 2|faster 3|my-app 1.4.2" "$(git -C ../ssot.git log -5 --format=%s main | paste -sd'|')"
is "a version that YAML would read otherwise is quoted" 'spec: {type: t.example.com, version: ">=1.0 <2"}' "$(at_server etcd.yaml | tail -1)"
echo 9 >../ssot.git/faster
code "but it ends" 1 "others have pushed to origin refs/heads/main 5 times meanwhile: nothing is changed" alm bundle set-version etcd 1.4 --push
echo 0 >../ssot.git/faster
code "a number is quoted" 0 "etcd: >=1.0 <2 -> 1.4" alm bundle set-version etcd 1.4 --push
has "so that it stays a text" 'version: "1.4"' "$(at_server etcd.yaml)"
printf '#!/bin/sh\necho the answer is no >&2\nexit 1\n' >../ssot.git/hooks/pre-receive
code "a push that is refused for another reason is not tried again" 3 "pre-receive hook declined" alm bundle set-version etcd 1.5 --push
rm ../ssot.git/hooks/pre-receive

# On the branch that is checked out.
git pull -q --ff-only 2>/dev/null
code "without --push it is a commit" 0 "git push sends it" alm bundle set-version etcd 1.6 -m 'etcd: the new one'
is "  of that file" "etcd: the new one etcd.yaml" "$(git log -1 --format=%s --name-only | paste -sd' ' | tr -s ' ')"
none "  and nothing is left over" git status --porcelain
# Hooks run as when he commits himself: what they start goes on, and no limit is of ALM.
cat >.git/hooks/post-commit <<HOOK
#!/bin/bash
ulimit -d >"$dir/data-limit"
(for _ in {1..300}; do [ ! -e "$dir/go" ] || break; sleep 0.1; done; [ ! -e "$dir/go" ] || touch "$dir/went") >/dev/null 2>&1 &
HOOK
chmod +x .git/hooks/post-commit
alm bundle set-version etcd 1.6.1 >/dev/null
is "git has the memory that it has in a shell" "$(ulimit -d)" "$(cat "$dir/data-limit")"
touch "$dir/go"
soon "and what a hook has begun lives on" "$dir/went" ls "$dir/went"
rm .git/hooks/post-commit
echo '# mine' >>etcd.yaml
code "what is not committed is not committed by the way" 1 "has changes that are not committed" alm bundle set-version etcd 1.7
git checkout -q etcd.yaml
cd apps || exit 1
code "in a folder of the clone" 0 "(web.yaml!1)" alm bundle set-version my-app 1.4.3 --push
cd ..
has "it is the same file" 'web:1.4.3" # pinned' "$(at_server apps/web.yaml)"

code "nobody of that name" 1 "no AppType nobody with spec.version, and no workload nobody" alm bundle set-version nobody 1
code "an image by digest has no tag" 1 "no AppType pinned" alm bundle set-version pinned 1
code "a tag that is none" 1 "no AppType my-app" alm bundle set-version my-app 'a b'
code "a version that is none" 1 "is no version" alm bundle set-version etcd $'1\n2: 3'
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: my-app}\nspec: {type: t.example.com, version: "1"}\n' >app.yaml
git add -A && git commit -q -m both
code "two of that name" 1 "2 objects named my-app have a version, app.yaml the first; name its file with --file" alm bundle set-version my-app 2
code "of which one is named" 0 "my-app: 1 -> 2 (app.yaml)" alm bundle set-version my-app 2 --file app.yaml
git checkout -q --detach
code "on no branch there is nothing to push" 1 "is on no branch" alm bundle set-version etcd 2 --push
code "nor outside of a clone" 1 "not a git repository" alm bundle set-version etcd 2 -f "$dir"
finish
