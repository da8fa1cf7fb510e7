#!/bin/bash
# kill -9 of the controller in the middle of pushes: the last one is there, nothing is lost, left over or made anew, and at rest
# nothing is written. KILLS=200 for the long run, SEED for other moments.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null || ! command -v openssl >/dev/null; then
	echo "ok 1 - bundles and kills # SKIP no kubectl, git or openssl"
	echo 1..1
	exit 0
fi
git_server=$PWD/tests/e2e/git_server.py
web=
controller=
trap '[ -z "$controller" ] || kill -9 "$controller" 2>/dev/null; [ -z "$web" ] || kill "$web"; up_stop; rm -rf "$dir"' EXIT
kills=${KILLS:-8}
RANDOM=${SEED:-7}
cd "$dir" || exit 1
mkdir -p web/repos
echo x:x >web/password
repository web/repos/ssot.git ssot
python3 "$git_server" web requests >web/port 2>web/err &
web=$!
url=https://localhost:$(written web/port)
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
push() {
	git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
act() {
	"$alm_bin" controller --data-dir "$data" --metrics-listen off --verify-soak 1s --allow-source "${url#https://}" >>controller.out 2>>controller.err &
	controller=$!
}
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
marked() { k get configmaps -A -l app.coreos.com/bundle=web -o 'jsonpath={range .items[*]}{.metadata.name}={.data.v}{"\n"}{end}' | seek -v '^inv\.' | sort; }
wanted() { for f in ssot/*.yaml; do sed -n 's/^  name: \(.*\)/\1=/p; s/^  v: "\(.*\)"/\1/p' "$f" | paste -sd ''; done | sort; }
inventory() { k get configmap -n alm-system inv.web.files -o 'jsonpath={.data.objects}' | cut -d" " -f4 | LC_ALL=C sort; }
polls() { grep -c info/refs requests; }
versions() {
	k get bundles,configmaps,secrets,namespaces -A -o 'jsonpath={range .items[*]}{.kind}/{.metadata.name}@{.metadata.resourceVersion}{"\n"}{end}' |
		grep -v alm-audit-anchor
}

server_start
act
bundles() { k get crd bundles.app.coreos.com -o 'jsonpath={.status.conditions[?(@.type=="Established")].status}' 2>/dev/null; }
WAIT_S=90 soon "the controller has brought its CRDs" True bundles
k create namespace alm-system --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1
k create secret generic ca -n alm-system --type=kubernetes.io/basic-auth --from-literal=username=x --from-literal=password=x \
	--from-literal="origins=$url" --from-file=ca.crt=web/ca.crt >/dev/null
configmap stays 0
configmap m0 0
push 'push 0'
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec: {source: {git: {url: "%s/open/ssot.git", secretRef: {name: ca}}}, trigger: {interval: 1s}, prune: {maxDeletes: 1000}}\n' "$url" |
	k create -f - >/dev/null
soon "the first push is there" "Synced $head" state
uid=$(k get configmap stays -o 'jsonpath={.metadata.uid}')

# The moments are spread from when the push was fetched (one answer of git more than questions of ls-remote) to the end of
# pruning, and a little beyond.
fetches() { echo $(($(grep -c '/git-upload-pack ' requests) - $(grep -c info/refs requests))); }
cut=0
for i in $(seq "$kills"); do
	configmap stays "$i"
	for k in $(seq 20); do configmap "all$k" "$i"; done
	configmap "m$i" "$i"
	git -C ssot rm -q "m$((i - 1)).yaml"
	n=$(fetches)
	push "push $i"
	end=$((SECONDS + 60))
	while [ "$(fetches)" -le "$n" ] && [ $SECONDS -lt $end ]; do sleep 0.02; done
	sleep "0.$((RANDOM % 6))$((RANDOM % 10))" # the moment of the kill, not a wait for something
	kill -9 "$controller"
	wait "$controller" 2>/dev/null
	[ "$(state)" = "Synced $head" ] || cut=$((cut + 1))
	act
done
is "kills met a push in the middle" yes "$([ $cut -ge $((kills / 3)) ] && echo yes || echo "$cut of $kills")"
soon "after $kills kills the last push is there" "Synced $head" state
is "with all of its objects, and no other" "$(wanted)" "$(marked)"
is "and none without a mark" "$(wanted)" "$(k get configmaps -o 'jsonpath={range .items[*]}{.metadata.name}={.data.v}{"\n"}{end}' | grep -v kube-root | sort)"
is "what was there all the time was never made anew" "$uid" "$(k get configmap stays -o 'jsonpath={.metadata.uid}')"
is "the inventory names what is there" "$(wanted | sed 's/=.*//' | LC_ALL=C sort)" "$(inventory)"
rests "and rests" versions
before=$(versions) n=$(polls)
later() { [ "$(polls)" -ge $((n + 4)) ] && echo yes; }
soon "the branch is polled on" yes later
is "and nothing is written for that" "$before" "$(versions)"

# A branch that is named while nobody is there to see that the other is read no more.
mirrors() { find "$data/git" -mindepth 1 -maxdepth 1 | wc -l; }
kill -9 "$controller"
wait "$controller" 2>/dev/null
git -C ssot push -q origin main:other 2>/dev/null
k patch bundle web --type=merge -p '{"spec":{"source":{"git":{"branch":"other"}}}}' >/dev/null
act
read_again() { k get bundle web -o 'jsonpath={.status.observedGeneration} {.status.state} ' | grep -c "^$(k get bundle web -o 'jsonpath={.metadata.generation}') Synced"; }
soon "another branch is read after a restart" 1 read_again
soon "and the mirror of the one before goes" 1 mirrors

k delete bundle web --wait=false >/dev/null
kill -9 "$controller"
wait "$controller" 2>/dev/null
act
soon "deleted, and killed in the middle of it, its objects go" "" marked
# Who began does not know what its former self still has under way: the inventory stays for as long as that may come.
gone() { k get bundle web 2>&1 | grep -o NotFound; }
WAIT_S=150 soon "then the Bundle itself" NotFound gone
books() { marked && k get configmaps,secrets -n alm-system -o name | seek -e inv.web -e unit.web; }
none "and its books" books
kill "$controller"
wait "$controller" 2>/dev/null
controller=
code "and the log is whole" 0 "" alm audit verify --data-dir "$data"
echo "# $cut of $kills kills met a push in the middle"
finish
