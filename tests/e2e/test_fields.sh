#!/bin/bash
# What is accepted is done, or refused by a condition that names the field and the remedy: every field that this
# version does not act on, requirements of packages and strategies, digests in references, waivers.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
none "every field and annotation of ours is read by code, or told as unsupported" both python3 tests/lint/crd_fields.py
command -v kubectl >/dev/null || {
	echo "ok 2 - fields # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1

app() { k get apptype "$1" -o "jsonpath={.status.installedVersion} {.status.conditions[?(@.type==\"Resolved\")].reason}"; }
app_text() { k get apptype "$1" -o 'jsonpath={.status.conditions[?(@.type=="Resolved")].message}'; }
ist() { k get ist "$1" -o 'jsonpath={.status.phase} {.status.conditions[?(@.status=="False")].reason}'; }
ist_text() { k get ist "$1" -o 'jsonpath={.status.conditions[?(@.status=="False")].message}'; }
needs() { # REQUIREMENT...: of the next package
	printf 'requirements:\n' >"$dir/needs"
	printf -- '- %s\n' "$@" >>"$dir/needs"
}
pack() { # VERSION: a chart with these requirements
	rm -rf "$dir/tool"
	mkdir -p "$dir/tool/templates"
	printf 'apiVersion: v2\nname: tool\nversion: %s\n' "$1" >"$dir/tool/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tool}\ndata: {version: "%s"}\n' "$1" >"$dir/tool/templates/c.yaml"
	[ -f "$dir/needs" ] && cp "$dir/needs" "$dir/tool/alm.yaml"
	rm -f "$dir/needs"
	alm package build "$dir/tool" -o "$catalog" >/dev/null
}
apptype() { # NAME [SPEC]
	printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: %s}\nspec: {type: com.example%s}\n' "$1" "${2:+, $2}"
}
strategy() { # NAME VERSION STRATEGY [SPEC]
	printf 'apiVersion: opinstaller.coreos.com/v1beta1\nkind: InstallStrategy\nmetadata: {name: %s}\n' "$1"
	printf 'spec: {appTypeRef: {name: tool}, version: %s, strategy: {%s}%s}\n' "$2" "$3" "${4:+, $4}"
}

# --- fields of an AppType ---
pack 1.0.0
k create -f catalog.yaml -f website-apptype.yaml >/dev/null
apptype tool 'rolloutRef: {name: canary}' | k create -f - >/dev/null
by_version() { k get ist -o "jsonpath={.items[?(@.spec.version==\"1.0.0\")].status.conditions[?(@.status==\"False\")].message}"; }
soon "rolloutRef: nothing is installed as if it were not there" "spec.rolloutRef: there is no Rollout canary; create it, or remove the field" by_version
has "alm status tells it" "spec.rolloutRef" "$(alm status)"
soon "an operator in place whose digest is none is refused" " Unsupported" app coreos-website
has "with what to do" "HOST/NAME@sha256: with the 64 hex digits" "$(app_text coreos-website)"
none "and nothing of it is there" k get crd coreos-websites.web.coreos.com --ignore-not-found -o name
none "  nor its catalog" k get catalog apptype-coreos-website --ignore-not-found -o name
k patch apptype coreos-website --type=json -p '[{"op":"remove","path":"/spec/operator"}]' >/dev/null
soon "A26 resources in place are a package of their own" "1.0.2 Resolved" app coreos-website
is "A26 with the CRD of the example" "site uri coreos-website.com.tectonic.web" "$(k get crd coreos-websites.web.coreos.com \
	-o 'jsonpath={.spec.names.shortNames[0]} {.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.outputs.properties.endpoint.format} {.metadata.annotations.app\.coreos\.com/owner}')"
sed 's|quay.io|127.0.0.1:9|' website-instance.yaml | k create -f - >/dev/null
is "an instance of it is kept" "coreoswebsite.web.coreos.com/www-coreos-com" "$(k get site -o name)"
version() { k patch apptype coreos-website --type=json -p "[{\"op\":\"replace\",\"path\":\"/spec/resources/0/spec/version\",\"value\":\"$1\"}]" >/dev/null; }
dropped() { alm why coreos-website | grep -o '1.0.3 .*1 object, stored' | tr -s ' '; }
version v2
told() { k get site www-coreos-com -o 'jsonpath={.status.conditions[0].reason}: {.status.conditions[0].message}' | grep -o "$1"; }
soon "A27 what keeps its chart away is told in its status" "oci://127.0.0.1:9/coreos/web:stable" told "oci://127.0.0.1:9/coreos/web:stable"
k patch site www-coreos-com --type=merge -p '{"spec":{"helmChart":{"template":"quay.io/coreos/web"}}}' >/dev/null
soon "A27 as is what it lacks" "Invalid: spec.helmChart.template: name the chart as HOST/NAME:TAG" told "Invalid: .*TAG"
soon "a version that it is stored in is not dropped" "1.0.3 no ResourceDropped coreos-websites.web.coreos.com/v1: 1 object, stored" dropped
none "and what runs is not called unlisted" k get apptype coreos-website -o 'jsonpath={.status.conditions[?(@.type=="Deprecated")].reason}'
version v1
soon "taken back, it goes on" "1.0.4 Resolved" app coreos-website
k delete catalog apptype-coreos-website >/dev/null
soon "its Catalog comes back" "1.0.4" k get catalog apptype-coreos-website -o 'jsonpath={.spec.inPlace.version}'
k delete apptype coreos-website >/dev/null && ok "it can be deleted"
soon "its Catalog goes along" "" k get catalog apptype-coreos-website --ignore-not-found -o name
is "the instance stays" "coreoswebsite.web.coreos.com/www-coreos-com" "$(k get site -o name)"
made_of() { k get apptypes -o name | grep -c www-coreos-com; }
is "A27 and what was made of it" 1 "$(made_of)"
k delete crd coreos-websites.web.coreos.com >/dev/null
soon "A27 which goes when the instance is gone" 0 made_of
soon "without its definition there is none" "" k get crd coreos-websites.web.coreos.com --ignore-not-found -o name
k create -f website-crd.yaml >/dev/null
soon "its definition by hand says that nobody provides it" "False NoPackageProvides" \
	k get crd coreos-websites.web.coreos.com -o 'jsonpath={.status.conditions[?(@.type=="app.coreos.com/Resolved")].status} {.status.conditions[?(@.type=="app.coreos.com/Resolved")].reason}'
lacks "a kind that nobody acts on is not there" k get crd -o name -- -E '/clusters\.'
k patch apptype tool --type=json -p '[{"op":"remove","path":"/spec/rolloutRef"}]' >/dev/null
soon "without the field it is installed" "1.0.0 Resolved" app tool
k annotate apptype tool app.coreos.com/delete-crds=x.example.com >/dev/null
soon "an annotation delete-crds without its count is refused, what runs stays" "1.0.0 Unsupported" app tool
has "and says what it wants" "annotation app.coreos.com/delete-crds: want PLURAL.GROUP=COUNT" "$(alm status)"
k annotate apptype tool app.coreos.com/delete-crds- >/dev/null
soon "until it is removed" "1.0.0 Resolved" app tool

# --- strategies by hand ---
sum=$(sha256sum "$catalog/tool-1.0.0.tgz" | cut -c1-64)
strategy a 2.0.1 'type: jsonnet, jsonnet: {a: b}' | k create -f - >/dev/null
strategy b 2.0.2 "type: helm, helmChart: tool, sha256: $sum, image: x" | k create -f - >/dev/null
strategy d 2.0.4 "type: helm, helmChart: \"r.example.com/tool@sha256:asdf123\"" | k create -f - >/dev/null
strategy e 2.0.5 "type: helm, sha256: $sum, helmChart: \"r.example.com/tool@sha256:1234567\"" | k create -f - >/dev/null
for s in a:spec.strategy.type b:spec.strategy.image d:spec.strategy.helmChart e:spec.strategy.sha256; do
	soon "${s#*:} is refused" "Blocked Unsupported" ist "${s%%:*}"
	has "and named" "${s#*:}" "$(ist_text "${s%%:*}")"
done
k delete ist a b d e >/dev/null
# Same archive, so the version that the chart has.
k delete apptype tool >/dev/null
apptype tool 'upgrade: {mode: None}, package: nothing' | k create -f - >/dev/null
strategy pinned 1.0.0 "type: helm, helmChart: \"r.example.com/tool@sha256:$sum\"" | k create -f - >/dev/null
k patch apptype tool --type=merge -p '{"spec":{"upgrade":{"mode":"Automatic"},"package":null}}' >/dev/null
soon "A28 the digest of a reference names the archive" "Succeeded " ist pinned

# --- requirements ---
k create clusterrole reader --verb=get --resource=storageclasses.storage.k8s.io >/dev/null
k create clusterrolebinding reader --clusterrole=reader --serviceaccount=alm-system:app-tool >/dev/null
needs '{kind: Object, ref: StorageClass//fast, message: needs fast disks}' '{kind: Object, ref: ConfigMap/tool/nobody, optional: true}'
pack 3.0.0
one() { k get ist -o 'jsonpath={.items[?(@.spec.version=="3.0.0")].metadata.name}'; }
newest() { ist "$(one)"; }
soon "A31 an unmet requirement blocks" "Blocked RequirementUnmet" newest
is "A31 and is named, the optional one is not" "Object StorageClass//fast is missing: needs fast disks" "$(ist_text "$(one)")"
has "A31 alm status names it" "StorageClass//fast is missing" "$(alm status)"
has "A31 alm why names it" "RequirementUnmet" "$(alm why tool)"
is "A31 the log has the decision" "deny RequirementUnmet 3.0.0" "$(alm audit query --type Decision --reason RequirementRefused -o json --data-dir "$data" |
	jq -r '.[-1].body | "\(.verdict) \(.rules[0].id) \(.version.to)"')"
printf 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: x\n' >fast.yaml
run_step "A31 the step takes what is missing" "$(next_steps tool | head -1)" fast.yaml
soon "A31 once it is there the version is installed" "3.0.0 Resolved" app tool
has "A31 the optional one only warns" "optional: Object ConfigMap/tool/nobody is missing" \
	"$(k get ist "$(one)" -o 'jsonpath={.status.conditions[?(@.type=="RequirementsMet")].message}')"
needs '{kind: Permission, verbs: [get, list], group: "", resource: nodes}' '{kind: Feature, name: Magic}' '{kind: CRD, name: a.example.com}'
pack 4.0.0
one() { k get ist -o 'jsonpath={.items[?(@.spec.version=="4.0.0")].metadata.name}'; }
soon "A31 a missing definition is not even tried" "3.0.0 UpgradeBlocked" k get apptype tool -o \
	'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'
has "A31 and named" "CRD a.example.com is missing" "$(alm status)"
sum=$(sha256sum "$catalog/tool-3.0.0.tgz" | cut -c1-64)
strategy hand 5.0.0 "type: helm, helmChart: tool, sha256: $sum" \
	'requirements: [{kind: Permission, verbs: [get, list], resource: nodes}, {kind: Feature, name: Magic}, {kind: Bogus}]' |
	k create -f - >/dev/null
soon "A31 the same by hand" "Blocked RequirementUnmet" ist hand
is "A31 each is named" "Permission get,list nodes is not given to system:serviceaccount:alm-system:app-tool; Feature Magic cannot be asked of a server; Bogus  is none of CRD, Object, Permission, Feature" \
	"$(ist_text hand)"
k delete ist hand >/dev/null

# --- an output of a type that nobody knows ---
cat >outputs.yaml <<'END'
apiVersion: app.coreos.com/v1beta1
kind: AppType
metadata: {name: typo}
spec:
  type: com.typo
  operator: {type: helm, helmChart: {template: tool}}
  resources:
  - name: sites.typo.example.com
    spec: {group: typo.example.com, version: v1, scope: Namespaced, names: {plural: sites, kind: Site}}
    outputs: [{name: endpoint, type: ulr}]
END
code "A32 a type that is none is refused, with those there are" 1 'spec.resources[0].outputs[0].type: Unsupported value: "ulr": supported values: "string", "url", "link"' k create -f outputs.yaml

# --- a waiver without its path ---
gear() { # VERSION FIELD: a package whose CRD has the field
	mkdir -p "$dir/gear/crds"
	printf 'apiVersion: v2\nname: gear\nversion: %s\n' "$1" >"$dir/gear/Chart.yaml"
	cat >"$dir/gear/crds/gears.yaml" <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {$2: {type: string}}}}}}}
END
	alm package build "$dir/gear" -o "$catalog" >/dev/null
}
gear 1.0.0 teeth
apptype gear 'upgrade: {waivers: [{rule: FieldRemoved, resource: gears.example.com/v1, reason: tested}]}' | k create -f - >/dev/null
soon "a package with a CRD" "1.0.0 Resolved" app gear
printf 'apiVersion: example.com/v1\nkind: Gear\nmetadata: {name: a, namespace: default}\nspec: {teeth: "8"}\n' | k create -f - >/dev/null
gear 2.0.0 size
soon "a waiver without path does not lift what needs one" "UpgradeBlocked" \
	k get apptype gear -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'
has "and says so beside the refusal" "waiver FieldRemoved gears.example.com/v1 needs path: spec.teeth" "$(alm why-not gear 2.0.0)"

# --- annotation delete-crds: CRDs that go with their app, by kubectl alone (A1, A4) ---
blocked() { k get apptype "$1" -o 'jsonpath={.status.conditions[?(@.type=="DeletionBlocked")].reason} {.status.conditions[?(@.type=="DeletionBlocked")].message}'; }
there() { k get apptype,crd,gears -A -o name 2>/dev/null | grep gear; }
apptype other | k create -f - >/dev/null
k annotate apptype other app.coreos.com/delete-crds=gears.example.com=9 >/dev/null
k delete apptype other --wait=false >/dev/null
soon "A1 the CRD of another app is not taken" \
	"InventoryChanged annotation app.coreos.com/delete-crds: CRD gears.example.com is marked for gear.com.example, not for other.com.example; remove it from the annotation" \
	blocked other
k annotate apptype other app.coreos.com/delete-crds- >/dev/null
soon "A1 without the annotation the app goes alone" "" k get apptype other -o name --ignore-not-found
k annotate apptype gear app.coreos.com/delete-crds=gears.example.com=0 >/dev/null
k delete apptype gear --wait=false >/dev/null
soon "A1 more objects than named: nothing goes" \
	"InventoryChanged annotation app.coreos.com/delete-crds: gears.example.com has 1 objects, not 0; say gears.example.com=1, or remove the annotation and it stays" \
	blocked gear
has "A1 alm status tells it" "gears.example.com has 1 objects, not 0" "$(alm status)"
is "A1 all of it is there" "apptype.app.coreos.com/gear
customresourcedefinition.apiextensions.k8s.io/gears.example.com
gear.example.com/a" "$(there)"
k patch gear a --type=merge -p '{"metadata":{"finalizers":["example.com/drain"]}}' >/dev/null
k annotate apptype gear app.coreos.com/delete-crds=gears.example.com=1 --overwrite >/dev/null
deleted() { k get gear a -o 'jsonpath={.metadata.deletionTimestamp}' | grep -c .; }
soon "A1 the instances go first" "1" deleted
has "A1 before the definition" "customresourcedefinition.apiextensions.k8s.io/gears.example.com" "$(there)"
k patch gear a --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
soon "A1 then app and definition, by kubectl alone" "" there
has "A1 the log names what went" "the operator is gone, and so are the CRDs named: gears.example.com" \
	"$(alm audit query --reason Deleted --subject AppType/gear --data-dir "$data" -o json)"
lacks "A1 and the account had the right for that only" k get clusterroles -o name -- 'alm:app:gear'

# --- what cannot be read closes the gate ---
k patch apptype tool --type=merge -p '{"spec":{"upgrade":{"approveVersion":"nonsense","deadlines":{"verifying":"banana"}}}}' >/dev/null
pack 3.1.0
gate() { k get apptype tool -o 'jsonpath={.status.conditions[?(@.type=="UpgradeAvailable")].reason}'; }
soon "an unreadable deadline is no default" Unreadable gate
has "it is named" "spec.upgrade.deadlines.verifying" "$(alm status)"
k patch apptype tool --type=merge -p '{"spec":{"upgrade":{"deadlines":null}}}' >/dev/null
soon "nor is an unreadable range of approved versions" "3.1.0; Unreadable: spec.upgrade.approveVersion" \
	eval "k get apptype tool -o 'jsonpath={.status.conditions[?(@.type==\"UpgradeAvailable\")].message}' | grep -o '.*approveVersion'"
k patch apptype tool --type=merge -p '{"spec":{"upgrade":{"approveVersion":null}}}' >/dev/null
soon "and then it goes on" "3.1.0 Resolved" app tool
steps_ran
finish
