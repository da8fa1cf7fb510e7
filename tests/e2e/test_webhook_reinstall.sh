#!/bin/bash
# Webhooks of an app that goes (P13, lifecycle.md 8): its webhook configuration goes with its Service; a CRD that stays
# is left without a converter that nobody runs any more, or the removal waits and says what to do. Then the app is
# installed again, and its instances are read.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	skip "webhooks and a second install" "no kubectl"
	finish
	exit 0
}
chart() { # FIELD OF THE SECOND VERSION
	mkdir -p "$dir/conv/templates" "$dir/conv/crds"
	printf 'apiVersion: v2\nname: conv\nversion: 1.0.0\n' >"$dir/conv/Chart.yaml"
	cat >"$dir/conv/templates/all.yaml" <<-'YAML'
		apiVersion: v1
		kind: Service
		metadata: {name: conv}
		spec: {selector: {app: conv}, ports: [{port: 443}]}
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingWebhookConfiguration
		metadata: {name: conv}
		webhooks:
		- name: conv.example.com
		  admissionReviewVersions: [v1]
		  sideEffects: None
		  failurePolicy: Ignore # nothing is behind the Service
		  clientConfig: {service: {namespace: conv, name: conv, path: /check}}
		  rules: [{apiGroups: [example.com], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [convs]}]
	YAML
	cat >"$dir/conv/crds/convs.yaml" <<-YAML
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: convs.example.com}
		spec:
		  group: example.com
		  scope: Namespaced
		  names: {plural: convs, singular: conv, kind: Conv, listKind: ConvList}
		  conversion:
		    strategy: Webhook
		    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: conv, name: conv, path: /convert}}}
		  versions:
		  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: string}}}}}
		  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {$1: {type: string}}}}}
	YAML
	alm package build "$dir/conv" -o "$catalog" >/dev/null
}
app() { printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: conv}\nspec: {type: com.example}\n' | k create -f - >/dev/null; }
state() { k get apptype conv -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }
blocked() { k get apptype conv -o 'jsonpath={.status.conditions[?(@.type=="DeletionBlocked")].reason}'; }
conversion() { k get crd convs.example.com -o 'jsonpath={.spec.conversion.strategy}'; }
phase() { k get ist -o 'jsonpath={.items[0].status.phase}'; }

up_start
manifests
cd "$dir" || exit 1
chart length
k create -f catalog.yaml >/dev/null
app
soon "webhook configurations take rights that somebody gives" Blocked phase
alm rbac conv | k apply -f - >/dev/null
soon "then it is installed" "1.0.0 Installed" state
is "with its converter" Webhook "$(conversion)"
printf 'apiVersion: example.com/v1\nkind: Conv\nmetadata: {name: a, namespace: default}\nsize: "3"\n' | k create -f - >/dev/null
k delete apptype conv --wait=false >/dev/null
soon "versions that differ: the objects need the converter, so it stays" ConversionNeeded blocked
is "with all of the app" "service/conv validatingwebhookconfiguration.admissionregistration.k8s.io/conv" \
	"$(k get service conv -n conv -o name) $(k get validatingwebhookconfigurations -o name)"
has "alm status says what to do" "delete them, or name the CRD in annotation app.coreos.com/delete-crds=convs.example.com=1" "$(alm status)"
k delete convs.v1.example.com a >/dev/null
soon "without the objects it goes" "" k get apptype conv -o name --ignore-not-found
is "and all that could refuse or convert with it" " None" "$(k get validatingwebhookconfigurations -o name) $(conversion)"

k delete crd convs.example.com >/dev/null # its v2 has another field
digest() { k get catalog community -o 'jsonpath={.status.digest}'; }
old=$(digest)
rm "$catalog"/conv-1.0.0.tgz
chart size
changed() { [ "$(digest)" != "$old" ] && echo changed; }
soon "another chart" changed changed
soon "is in the catalog" 1 k get catalog community -o 'jsonpath={.status.versions}'
app
soon "installed again" "1.0.0 Installed" state
soon "its converter is back" Webhook conversion
printf 'apiVersion: example.com/v1\nkind: Conv\nmetadata: {name: b, namespace: default}\nsize: "5"\n' | k create -f - >/dev/null
k delete apptype conv >/dev/null
is "versions that agree: the converter goes, the objects stay" "None 5" "$(conversion) $(k get convs.v1.example.com b -o 'jsonpath={.size}')"
is "and are read through each version" "example.com/v2 5" "$(k get convs.v2.example.com b -o 'jsonpath={.apiVersion} {.size}')"
finish
