#!/bin/bash
# A reconcile that fails again and again is a condition with its reason and next step, one Event, a metric and a line of
# `alm status`; all of it goes when the cause does.
. tests/e2e/lib.sh

thing() { # MAXIMUM
	cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec:
  group: x.io
  scope: Cluster
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, maximum: $1}}}}}
YAML
}

metric() { curl -s "http://$metrics/metrics" | grep "^$1" | sed 's/.* //'; }
stalled() { k get "$1" -o 'jsonpath={.status.conditions[?(@.type=="Stalled")].reason}'; }
events() { k get events -A -o json | jq "[.items[] | select(.reason == \"$1\")] | length"; }

mkdir -p "$dir/web/templates"
printf 'apiVersion: v2\nname: web\nversion: 0.1.0\n' >"$dir/web/Chart.yaml"
printf 'apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: web}\nsize: 3\n' >"$dir/web/templates/thing.yaml"
alm package build "$dir/web" -o "$catalog" >/dev/null
up_start
thing 1 | k apply -f - >/dev/null
k wait --for=condition=Established crd/things.x.io --timeout=60s >/dev/null
k create clusterrole web-things --verb='*' --resource=things.x.io >/dev/null
k create clusterrolebinding web-things --clusterrole=web-things --serviceaccount=alm-system:app-web >/dev/null
k create -f - >/dev/null <<YAML
{apiVersion: app.coreos.com/v1alpha1, kind: Catalog, metadata: {name: ops}, spec: {source: {url: "dir://$catalog"}, interval: 5s}}
YAML
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: web}\nspec: {type: io.ops}\n' | k create -f - >/dev/null

# what somebody else's CRD refuses
ist=ist/install.0.1.0.web.io.ops
soon "what the server refuses for ever is a condition" Refused stalled $ist
has "with what is refused and what helps" 'should be less than or equal to 1; tried again, at least every minute; correct what' \
	"$(k get $ist -o 'jsonpath={.status.conditions[?(@.type=="Stalled")].message}')"
has "kubectl waits for it" "condition met" "$(k wait --for=condition=Stalled $ist --timeout=60s 2>&1)"
has "alm status names it, with the next step" "next: kubectl describe installstrategy/install.0.1.0.web.io.ops" "$(alm status)"
is "it is counted" 1 "$(metric 'alm_reconcile_keys_failing{controller="strategy"}')"
soon "one Event" 1 events Refused # it is written after the status
seq=$(k get $ist -o 'jsonpath={.status.transitionSeq}')
failures=$(metric 'alm_reconcile_errors_total{controller="strategy"}')
more() { [ "$(metric 'alm_reconcile_errors_total{controller="strategy"}')" -gt "$failures" ] && echo more; }
nudge() { k annotate $ist --overwrite "nudge=$RANDOM" >/dev/null; } # instead of a minute
nudge
soon "it is tried again" more more
is "without another word" "$seq 1" "$(k get $ist -o 'jsonpath={.status.transitionSeq}') $(events Refused)"
up_stop
up_start
failures=0
soon "a controller that starts tries it, too" more more
nudge
soon "and again" more more
is "and does not call it recovered before it is" "Refused $seq" "$(stalled $ist) $(k get $ist -o 'jsonpath={.status.transitionSeq}')"
OR_EMPTY=1 lacks "the log says nothing of it either" alm audit query --type Transition --reason Recovered --data-dir "$data" -- web
is "it is still counted" 1 "$(metric 'alm_reconcile_keys_failing{controller="strategy"}')"
thing 5 | k apply -f - >/dev/null
nudge
soon "the cause gone, it works" 0.1.0 k get apps web -o 'jsonpath={.status.installedVersion}'
soon "and nothing is left of it" "" stalled $ist
is "nor in the metric" 0 "$(metric 'alm_reconcile_keys_failing{controller="strategy"}')"
is "nor in alm status" "Nothing waits." "$(alm status | tail -1)"

finish
