# shellcheck shell=bash disable=SC2154
# deputy.sh: sourced by the tests of accounts and their rights, after lib.sh. Charts of one template go into the
# catalog; alice, who may write AppTypes and Catalogs and nothing else, makes the apps.
: >apps.yaml

# chart NAME VERSION: what stands on stdin becomes its template
chart() {
	mkdir -p "$1/templates"
	printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$1/Chart.yaml"
	cat >"$1/templates/all.yaml"
	alm package build "$1" -o "$catalog" >/dev/null || not_ok "package $1 $2"
}
# app NAME [SPEC]: for the next create_apps
app() { printf -- '---\napiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: %s}\nspec: {type: com.example, %s}\n' "$1" "${2:-}" >>apps.yaml; }
create_apps() { as_alice create -f apps.yaml >/dev/null; }
ist() { k get ist "install.${2:-1.0.0}.$1.com.example" -o "jsonpath=$3" 2>&1; }
state() { ist "$1" "${2:-}" '{.status.phase} {.status.conditions[?(@.status=="False")].reason}'; }
told() { ist "$1" "${2:-}" '{.status.conditions[?(@.status=="False")].message}'; }
step() { ist "$1" "${3:-}" "{.status.steps[$2]}"; }
follow() { run_step "the step of $1" "$(step "$1" 0)"; }
installed() { k get apptype "$1" -o 'jsonpath={.status.installedVersion}'; }
configmap() { echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: $1}, data: {v: \"{{ .Chart.Version }}\"}}"; }
# binding NAME ROLE: a ClusterRoleBinding for alice
binding() { echo "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: $1}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $2}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: alice}]}"; }
# definition PLURAL.GROUP
definition() {
	cat <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: $1, annotations: {api-approved.kubernetes.io: unapproved}}
		spec:
		  group: ${1#*.}
		  scope: Namespaced
		  names: {plural: ${1%%.*}, singular: ${1%%.*}x, kind: K${1%%.*}, listKind: K${1%%.*}List}
		  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
	END
}
as_alice() { k --as alice "$@"; }
alice_may() { as_alice auth can-i "$@" 2>/dev/null; }

k create clusterrole author --verb=create,get,list,watch,update,patch,delete --resource=apps.app.coreos.com,catalogs.app.coreos.com >/dev/null
k create clusterrolebinding alice-author --clusterrole=author --user=alice >/dev/null
