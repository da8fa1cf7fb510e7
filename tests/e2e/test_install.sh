#!/bin/bash
# Charts as Helm publishes them, without a line of YAML: alm catalog add and alm install of a Helm repository over HTTPS and
# of a folder; what is typed wrong is refused with the word that is right, and nothing stays.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in kubectl python3 openssl jq; do
	command -v $need >/dev/null || {
		echo "ok 1 - alm install # SKIP no $need"
		exit 0
	}
done
web=$dir/web
mkdir -p "$web/repo" "$dir/gadget-operator/templates" "$dir/gadget-operator/crds"
# chart VERSION FOLDER: an operator as helm package makes it; it takes rights that no app has by itself
chart() {
	local c=$dir/gadget-operator
	printf 'apiVersion: v2\nname: gadget-operator\nversion: %s\n' "$1" >"$c/Chart.yaml"
	printf 'replicas: 1\ncluster: false\nlabel: none\n' >"$c/values.yaml"
	echo '{"type": "object", "properties": {"replicas": {"type": "integer"}}}' >"$c/values.schema.json"
	cat >"$c/crds/gadgets.yaml" <<-'END'
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: gadgets.plain.io}
		spec:
		  group: plain.io
		  scope: Namespaced
		  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
		  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
	END
	cat >"$c/templates/all.yaml" <<-'END'
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: {{ .Release.Name }}-config}
		data: {chart: "{{ .Chart.Version }}", replicas: "{{ .Values.replicas }}", label: "{{ .Values.label }}"}
		{{- if .Values.cluster }}
		---
		apiVersion: admissionregistration.k8s.io/v1
		kind: ValidatingWebhookConfiguration
		metadata: {name: {{ .Release.Name }}-webhook}
		webhooks: []
		{{- end }}
	END
	tar czf "$2/gadget-operator-$1.tgz" -C "$dir" gadget-operator
}
for v in 1.0.0 1.1.0; do chart $v "$web/repo"; done
chart 2.0.0-rc.1 "$catalog"
chart 1.0.0 "$catalog"
alm catalog index "$web/repo" >/dev/null 2>&1
tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
port=$(written "$web/port")
up_start --allow-source "127.0.0.1:$port"
k create namespace alm-system >/dev/null 2>&1
k create secret generic web -n alm-system --type=app.coreos.com/catalog-credentials --from-file=ca.crt="$web/ca.crt" \
	--from-literal=username=user --from-literal=password=secret --from-literal=origins="https://127.0.0.1:$port" >/dev/null

# --- as helm repo add and helm install: two commands ---
code "a Helm repository" 0 "catalog plain: 1 package, 2 versions" \
	alm catalog add plain "https://127.0.0.1:$port/repo" --secret web --wait
code "one command for the app" 0 "gadget-operator 1.1.0 is installed in namespace gadgets" \
	alm install plain/gadget-operator -n gadgets --set replicas=3,label=x --wait
is "its values arrived, with their types" '{"label":"x","replicas":3}' "$(k get apptype gadget-operator -o json | jq -Sc .spec.values)"
is "what it installed has them" '{"chart":"1.1.0","label":"x","replicas":"3"}' "$(k get cm -n gadgets gadget-operator-config -o json | jq -Sc .data)"
is "its CRD is there" "gadgets.plain.io" "$(k get crd gadgets.plain.io -o 'jsonpath={.metadata.name}')"
code "a folder, by its path" 0 "catalog folder: 1 package, 2 versions" alm catalog add folder "$catalog" --wait
cd "$catalog" || exit 1
code "a relative one" 0 "catalog.app.coreos.com/here created" alm catalog add here .
cd - >/dev/null || exit 1
is "is made absolute" "dir://$catalog" "$(k get catalog here -o 'jsonpath={.spec.source.url}')"

# --- rights beyond an app's own ---
k delete apptype gadget-operator --wait >/dev/null && k delete crd gadgets.plain.io >/dev/null
code "what it waits for is told with the line to write" 3 "next: alm rbac hooked | kubectl apply -f -" \
	alm install hooked folder/gadget-operator --version 1.0.0 --set cluster=true --wait
k delete apptype hooked --wait >/dev/null
code "--grant gives them out of the user's own" 0 "granted 1.0.0 is installed in namespace granted" \
	alm install granted folder/gadget-operator --version 1.0.0 --set cluster=true --grant
k delete apptype granted --wait >/dev/null && k delete crd gadgets.plain.io >/dev/null
k create namespace old >/dev/null
k annotate namespace old app.coreos.com/apps=other >/dev/null
code "a namespace of before is not used unasked" 3 "next: kubectl annotate namespace old" \
	alm install unasked folder/gadget-operator -n old --wait
k delete apptype unasked --wait >/dev/null
code "--grant asks for it, too" 0 "granted 1.0.0 is installed in namespace old" \
	alm install granted folder/gadget-operator -n old --set cluster=true --grant
is "beside who uses it already" "other,granted" "$(k get namespace old -o 'jsonpath={.metadata.annotations.app\.coreos\.com/apps}')"
is "the webhook is there" granted-webhook "$(k get validatingwebhookconfiguration granted-webhook -o 'jsonpath={.metadata.name}')"
k delete apptype granted --wait >/dev/null && k delete crd gadgets.plain.io >/dev/null
mkdir -p "$dir/astray/templates"
printf 'apiVersion: v2\nname: astray\nversion: 1.0.0\n' >"$dir/astray/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: nowhere}\n' >"$dir/astray/templates/a.yaml"
tar czf "$catalog/astray-1.0.0.tgz" -C "$dir" astray
alm catalog add astray "$catalog" --wait >/dev/null
mkdir -p "$dir/just/templates"
printf 'apiVersion: v2\nname: just\nversion: 1.0.0\n' >"$dir/just/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: just}\n' >"$dir/just/templates/a.yaml"
alm package build "$dir/just" -o "$catalog" >/dev/null
code "what was put into the folder just now is found" 0 "apptype.app.coreos.com/just created" alm install astray/just
k delete apptype just --wait >/dev/null && rm "$catalog/just-1.0.0.tgz"
code "rights that cannot be given are told" 1 'namespaces "nowhere" not found' alm install astray/astray --grant
is "and its namespace is not marked again" astray "$(k get namespace astray -o 'jsonpath={.metadata.annotations.app\.coreos\.com/apps}')"
k delete apptype astray --wait >/dev/null && k delete catalog astray >/dev/null

# --- typed wrong: told, and nothing stays ---
code "unknown catalog" 1 "there is no catalog plane (did you mean plain?); \`alm catalog add plane URL\` makes one" \
	alm install plane/gadget-operator
code "unknown chart" 1 "catalog plain has no chart gadget-opertor (did you mean gadget-operator?)" alm install plain/gadget-opertor
code "no such version" 1 "plain/gadget-operator has no version 9.9.9; it has 1.1.0, 1.0.0" alm install v9 plain/gadget-operator --version 9.9.9
has "and what was created for it is told to be gone" "v9 deleted" "$(alm install v9 plain/gadget-operator --version 9.9.9 2>/dev/null)"
code "no range" 1 "spec.version" alm install v9 plain/gadget-operator --version 'x..y'
code "values file missing" 1 "open $dir/none.yaml: no such file or directory" alm install plain/gadget-operator -f "$dir/none.yaml"
code "values from the network" 2 "fetch it, then give the file" alm install plain/gadget-operator -f https://h/v.yaml
printf 'a: [\n' >"$dir/bad.yaml"
code "a values file that is none" 1 "failed to parse $dir/bad.yaml" alm install plain/gadget-operator -f "$dir/bad.yaml"
code "--set without =" 1 "failed parsing --set data" alm install plain/gadget-operator --set a
code "no catalog in the name" 2 "want CATALOG/CHART" alm install gadget-operator
code "an address" 2 "want CATALOG/CHART" alm install oci://h/x
code "a name that is none" 2 "\`alm install NAME plain/Gadget\` gives another" alm install plain/Gadget
code "a mode that is none" 1 "spec.upgrade.mode" alm install plain/gadget-operator --mode Sometimes
soon "nothing stayed" "" k get apps -o name
code "values that the chart refuses" 3 "replicas" alm install wrong plain/gadget-operator --set replicas=many --wait
code "the name is taken" 1 "there is an app wrong already: \`alm status wrong\`" alm install wrong plain/gadget-operator
k delete apptype wrong --wait >/dev/null
code "--dry-run prints the AppType" 0 "package: gadget-operator" alm install plain/gadget-operator --dry-run --set replicas=2
none "and creates nothing" k get apps -o name
is "what it prints can be created" "apptype.app.coreos.com/gadget-operator created" \
	"$(alm install plain/gadget-operator --dry-run --version '<1.1' | k create -f -)"
soon "and is installed" 1.0.0 k get apps gadget-operator -o 'jsonpath={.status.installedVersion}'
k patch apptype gadget-operator --type=merge -p '{"spec":{"version":"*","upgrade":{"mode":"Manual"}}}' >/dev/null
soon "its next version waits" 1.1.0 k get apps gadget-operator -o 'jsonpath={.status.availableVersion}'
soon "and has a plan" AwaitingApproval k get ist install.1.1.0.gadget-operator.plain -o 'jsonpath={.status.phase}'
code "alm diff of a chart whose objects name no namespace" 0 "gadget-operator/gadget-operator-config  data.chart  1.0.0 -> 1.1.0" \
	alm diff gadget-operator --to 1.1.0
code "a catalog's name is taken" 1 "there is a catalog plain already" alm catalog add plain "https://127.0.0.1:$port/other"
code "plain HTTP is refused, with what to use" 2 "plain HTTP is not read" alm catalog add http http://h/x
code "no such folder" 1 "$dir/nothing: want a folder, https:// or oci://" alm catalog add no "$dir/nothing"
code "a repository that cannot be reached" 1 "catalog gone cannot be read: SourceUnreachable" \
	alm catalog add gone "https://127.0.0.1:$port/gone" --wait
code "an app of it is refused with the reason" 1 "catalog gone cannot be read" alm install gone/x
k create -f - >/dev/null <<'END'
{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: unnamed}, spec: {type: example.org}}
END
message() { k get apptype unnamed -o json | jq -r '.status.conditions[]? | select(.type == "Resolved") | .message | sub("\\(asked.*\\)"; "(...)")'; }
soon "an AppType without a package is told the field" \
	"no package installs unnamed.example.org (...); spec.package names one of theirs: astray, gadget-operator" message
code "alm create apptype is told the command that makes one" 2 "alm install [NAME] CATALOG/CHART makes the AppType" \
	alm create apptype unnamed
k patch apptype unnamed --type=merge -p '{"spec":{"catalog":"plain","package":"gadget"}}' >/dev/null
soon "and one with another than there is" \
	"catalog plain has no package gadget; spec.package names one of its status.packageNames" message
has "--help has an example" "alm install jetstack/cert-manager" "$(alm install --help)"
has "completion knows it" "install" "$(alm completion words -- inst)"
has "and its options" "--grant" "$(alm completion words -- install --g)"
finish
