#!/bin/bash
# T4: 100 changes of a catalog in 10 s, mode Manual: never 2 unfinished strategies, one a read of the folder at most, the
# last for the newest version; and only apps of changed packages are resolved again. How many reads a steady burst makes
# (one in 2 s) is tests/unit/alm/sources/test_source.c: here a loaded machine makes pauses of its own, and a read follows each.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - burst # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
mkdir -p chart many
cp -R "$demo/charts/etcd-operator" chart/ && cp -R "$demo/charts/overlays/0.9.5/." chart/etcd-operator/
for i in $(seq 100); do
	alm package build chart/etcd-operator --version "0.9.$((500 + i))" -o many >/dev/null
done
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
package 0.9.4 >/dev/null
app_is etcd "status.conditions[?type='Ready'].reason = 'Installed'" >/dev/null
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null

# An app of another package: its resolver is not asked again.
sed 's/name: etcd/name: other/; s/com.tectonic.storage/org.example/' etcd-apptype.yaml | k create -f - >/dev/null
app_is other "status.conditions[?type='Ready'].reason = 'Unresolved'" >/dev/null
others=$(k get apptype other -o 'jsonpath={.metadata.resourceVersion}')

timeout 300 kubectl get ist -w -o 'jsonpath={.metadata.name} {.status.phase}{"\n"}' >watched 2>/dev/null &
watcher=$!
began=$(date +%s%N)
for i in $(seq 100); do
	mv "many/etcd-operator-0.9.$((500 + i)).tgz" "$catalog/"
	sleep 0.1
done
took=$((($(date +%s%N) - began) / 1000000))
last() { k get ist install.0.9.600.etcd.com.tectonic.storage -o 'jsonpath={.status.phase}'; }
soon "T4 the last waits for the newest version" "AwaitingApproval" last
kill $watcher 2>/dev/null
wait $watcher 2>/dev/null
made=$(k get ist -o name | grep -cv 'install.0.9.4.')
# 500 ms of quiet are before each read
most=$((took / 500 + 1))
if [ "$made" -ge 1 ] && [ "$made" -le "$most" ] && [ "$made" -lt 100 ]; then
	ok "T4 one strategy a read of the folder at most"
else
	not_ok "T4 $made strategies were made in $took ms"
fi
is "T4 never two unfinished at once" "1" "$(awk '
	{ phase[$1] = $2; n = 0
	  for (s in phase) if (phase[s] ~ /^(Pending|AwaitingApproval|Installing|Verifying|RollingBack)$/) n++
	  if (n > most) most = n }
	END { print most + 0 }' watched)"
is "only apps of changed packages: the other app was not written" "$others" \
	"$(k get apptype other -o 'jsonpath={.metadata.resourceVersion}')"
finish
