#!/bin/bash
# The pipeline of `alm run` as a library (L29 of capabilities.md): a program that knows the installed headers and libalm.a alone.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
up_start
make -s BUILD="$BUILD" DESTDIR="$dir/root" PREFIX=/usr install-lib >"$dir/make" 2>&1
is "make install-lib" 0 "$?"
flags=$(PKG_CONFIG_PATH=$dir/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir/root pkg-config --cflags alm)
has "pkg-config knows where the headers are" "$dir/root/usr/include/alm" "$flags"
mkdir "$dir/elsewhere"
cp tests/embed/embed.c "$dir/elsewhere/"
libs=$(PKG_CONFIG_PATH=$dir/root/usr/lib/pkgconfig pkg-config --libs-only-l alm)
build() { # NAME
	# shellcheck disable=SC2086
	(cd "$dir/elsewhere" && ${CC:-gcc} ${SANITIZE:+-fsanitize=$SANITIZE} -std=gnu17 -D_GNU_SOURCE $flags "$1.c" -L"$dir/root/usr/lib" $libs -o "$1")
}
awk '/^### As a library/ {on = 1} on && /^```$/ {exit} in_c; on && /^```c/ {in_c = 1}' README.md >"$dir/elsewhere/readme.c"
code "L29 the program builds with the headers and libalm.a" 0 "" \
	build embed
code "  so does that of the README" 0 "" build readme
is "  it has at most 60 lines" yes "$([ "$(wc -l <"$dir/elsewhere/embed.c")" -le 60 ] && echo yes)"
code "L29 it runs the pipeline" 0 "embed: rolled out" "$dir/elsewhere/embed" "$KUBECONFIG"
is "  the object is there, with the marks of the unit" embed "$(k get configmap embedded -o jsonpath="{.metadata.labels.app\\.coreos\\.com/bundle}")"
before=$(k get configmap embedded -o jsonpath='{.metadata.resourceVersion}')
code "  again" 0 "" "$dir/elsewhere/embed" "$KUBECONFIG"
is "  writes nothing" "$before" "$(k get configmap embedded -o jsonpath='{.metadata.resourceVersion}')"
mkdir "$dir/shop"
printf '%s\n' 'apiVersion: v1' 'kind: ConfigMap' 'metadata: {name: shop}' >"$dir/shop/cm.yaml"
cat >"$dir/rollout.yaml" <<'END'
apiVersion: workflow.kubernetes.io/v1alpha1
kind: Rollout
metadata: {name: shop}
spec: {groups: [{steps: [{object: cm.yaml, action: CreateOrUpdate}]}]}
END
code "L29 of a folder and a rollout" 0 "cm.yaml: Finished" "$dir/elsewhere/embed" "$KUBECONFIG" "$dir/shop" "$dir/rollout.yaml"
is "  its object is there, what was before is pruned" "configmap/shop" "$(k get configmap embedded shop --ignore-not-found -o name)"
none "  the Lease is given up" k get lease -n alm-system alm.embed -o 'jsonpath={.spec.holderIdentity}'
sed -i 's/cm.yaml/no.yaml/' "$dir/rollout.yaml"
code "  a step that names no object" 1 "rollout.yaml: spec.groups[0].steps[0].object" "$dir/elsewhere/embed" "$KUBECONFIG" "$dir/shop" "$dir/rollout.yaml"
mv "$dir/shop" "$dir/manifests" && cp "$KUBECONFIG" "$dir/kubeconfig" && sed -i 's/no.yaml/cm.yaml/' "$dir/rollout.yaml"
code "  that of the README says whose its object is" 1 "ObjectNotOwned" sh -c "cd '$dir' && elsewhere/readme"
code "  no such folder" 1 "$dir/none" "$dir/elsewhere/embed" "$KUBECONFIG" "$dir/none"
code "  a kubeconfig that is none" 2 "failed: " "$dir/elsewhere/embed" /no/such
finish
