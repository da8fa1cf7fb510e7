#!/bin/bash
# The five commands of the README's section "On a cluster", as they stand there, from nothing to an operator that upgrades itself, on
# the cluster of ALM_TEST_CLUSTER (without: alm server). Instead of REGISTRY there is Debian's docker-registry, instead of
# charts.jetstack.io, which no test asks, a folder of archives. Where the nodes are simulated, so that no Pod is a process, what a
# kubelet does is done here: it takes the image that the Pod names from the registry, and runs it as the Pod says.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
if [ "$(id -u)" != 0 ] || ! command -v skopeo >/dev/null || ! command -v docker-registry >/dev/null; then
	echo "ok 1 - a newcomer # SKIP chroot needs root, and there must be skopeo and docker-registry"
	echo 1..1
	exit 0
fi
registry=127.0.0.1:$(free_port)
pod=
serving=
ended() { for p in $pod $serving; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null; done; }
makes_volume=yes
bare_cluster namespace/cert-manager crd/etcds.etcd.coreos.com
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
# alm believes a server by its CA: here what it shows is taken for right, once.
openssl s_client -connect "${server#https://}" -showcerts </dev/null 2>/dev/null | sed -n '/BEGIN CERT/,/END CERT/p' >"$dir/server-ca.crt"
k config view --raw --flatten --minify | sed -e '/insecure-skip-tls-verify/d' \
	-e "s|^    server: .*|&\n    certificate-authority-data: $(base64 -w0 "$dir/server-ca.crt")|" >"$dir/trusts"
(umask 077 && awk '!/certificate-authority-data/ || !seen++' "$dir/trusts" >"$dir/newcomer.kubeconfig")
export KUBECONFIG=$dir/newcomer.kubeconfig
printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "%s"}\n' "$dir/registry" "$registry" >"$dir/registry.yml"
docker-registry serve "$dir/registry.yml" >"$dir/registry.log" 2>&1 &
serving=$!
timeout 60 sh -c "until curl -sf http://$registry/v2/ >/dev/null; do sleep 0.1; done"

# The section's commands. The registry has no TLS, and the cluster no provisioner: for both the section says what to add.
mapfile -t commands < <(awk '/^## /{here = $0 == "## On a cluster"} here && /^```sh/{said = 1; next} said && /^```/{exit} said' README.md | sed 's/ *#.*//')
is "the README has five commands" 5 "${#commands[@]}"
first_node
adapted() { # COMMAND
	local flags=''
	k get storageclass -o 'jsonpath={.items[*].metadata.annotations}' 2>/dev/null | grep -q is-default-class || flags=" --log-volume $node:/var/lib/alm-log"
	sed -e "s|REGISTRY|$registry|" -e "s|skopeo copy |skopeo --insecure-policy copy --dest-tls-verify=false |" -e "s|--to-cluster |&$flags |" \
		-e "s|https://charts.jetstack.io|dir:///var/lib/alm/catalog --interval 2s|" -e "s|build/|$BUILD/|" <<<"$1"
}
step() { # NUMBER TEXT
	local command
	command=$(adapted "${commands[$1 - 1]}")
	echo "# $command"
	code "command $1" 0 "$2" env TMPDIR="$dir" timeout 600 bash -c "$command"
}
SECONDS=0
step 1 "alm-"
step 2 ""

# The node's part: a Pod is made, and its container runs from the registry's image.
root=$dir/root
account=$root/var/run/secrets/kubernetes.io/serviceaccount
of_pod() { k get pods -n alm-system -l app.kubernetes.io/name=alm -o "jsonpath={.items[0].spec.$1}" 2>/dev/null; }
unpacked() { # IMAGE
	TMPDIR=$dir skopeo --insecure-policy copy --src-tls-verify=false "docker://$1" "dir:$dir/pulled" >/dev/null &&
		mkdir -p "$root" && for layer in $(jq -r '.layers[].digest' "$dir/pulled/manifest.json"); do tar -xzf "$dir/pulled/${layer#sha256:}" -C "$root"; done
}
run_pod() {
	local args
	until [ -n "$(of_pod nodeName)$([ -n "${ALM_TEST_CLUSTER:-}" ] || of_pod 'containers[0].image')" ]; do sleep 0.2; done
	unpacked "$(of_pod 'containers[0].image')" || return 1
	mkdir -p "$account" "$root/dev" "$root/var/lib/alm/catalog"
	chmod 755 "$dir" "$root"
	k create token "$(of_pod serviceAccountName)" -n alm-system >"$account/token"
	install -m 644 "$dir/server-ca.crt" "$account/ca.crt"
	chown 65532:65532 "$root/var/lib/alm-controller"
	mapfile -t args < <(k get pods -n alm-system -l app.kubernetes.io/name=alm -o json | jq -r '.items[0].spec.containers[0].args[]' |
		sed -e 's/0.0.0.0:8080/127.0.0.1:0/')
	hostport=${server#https://}
	exec env -i PATH="$PATH" HOME=/var/lib/alm KUBERNETES_SERVICE_HOST="${hostport%:*}" KUBERNETES_SERVICE_PORT="${hostport##*:}" \
		chroot --userspec=65532:65532 "$root" /usr/bin/alm "${args[@]}" --catalog-root /var/lib/alm/catalog
}
run_pod >"$dir/pod.out" 2>"$dir/pod.err" &
pod=$!
step 3 "deployment.apps/alm-controller applied"
leader() { k get lease alm-controller -n alm-system -o 'jsonpath={.spec.holderIdentity}' 2>/dev/null | cut -c1-4; }
soon "what its image holds leads" "alm." leader
soon "and is ready, which a simulated Pod is before" served definitions

# A repository of charts.
timeout 60 sh -c "until [ -d $root/var/lib/alm/catalog ]; do sleep 0.1; done"
release() { # VERSION
	rm -rf "$dir/chart"
	cp -R "$demo/charts/etcd-operator" "$dir/chart"
	cp -R "$demo/charts/overlays/0.9.5/." "$dir/chart/"
	sed -i 's/^name: .*/name: cert-manager/' "$dir/chart/Chart.yaml"
	"$alm_bin" package build "$dir/chart" --version "$1" -o "$root/var/lib/alm/catalog" >/dev/null
}
release 1.0.0
step 4 "catalog.app.coreos.com/jetstack created"
step 5 "cert-manager"
installed() { k get apptypes.app.coreos.com cert-manager -o 'jsonpath={.status.installedVersion}'; }
WAIT_S=90 soon "the operator is installed" 1.0.0 installed
release 1.1.0
WAIT_S=90 soon "its next version is an upgrade by itself" 1.1.0 installed
echo "# from nothing to an upgraded operator: $SECONDS s"
none "nothing was forbidden to the account" seek -i forbidden "$dir/pod.err"
k delete apptypes.app.coreos.com cert-manager --timeout=60s >/dev/null
kill "$pod"
wait "$pod"
is "the program ends well" 0 $?
pod=
code "ALM goes, and its log" 0 "PersistentVolume alm-log deleted" "$alm_bin" uninstall --from-cluster --keep-apps --with-log

# The same by helm, and by kubectl alone.
gone() { k wait --for=delete namespace/alm-system --timeout=90s >/dev/null 2>&1; }
helm=${HELM:-$(command -v helm || echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin/helm")}
gone
if [ -x "$helm" ]; then
	code "helm installs it, too" 0 "STATUS: deployed" "$helm" install alm deploy/charts/alm -n alm-system --create-namespace
	code "who says how it is upgraded then" 3 "helm upgrade alm deploy/charts/alm" "$alm_bin" install --to-cluster
	code "and it goes" 0 "Namespace alm-system deleted" "$alm_bin" uninstall --from-cluster --with-log
	gone
else
	for what in "helm installs it, too" "who says how it is upgraded then" "and it goes"; do skip "$what" "no helm"; done
fi
own_manifest >"$dir/alm.yaml"
code "kubectl alone installs it" 0 "deployment.apps/alm-controller created" k apply -f "$dir/alm.yaml"
code "and it goes, too" 0 "Namespace alm-system deleted" "$alm_bin" uninstall --from-cluster --with-log
finish
