#!/bin/bash
# make image: an OCI archive, the same twice, with one program, its libraries, and no shell; the controller in it works as
# user 65532 with what a Pod is given. skopeo reads it and a registry takes it, where they are installed.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v strip >/dev/null || ! command -v ldconfig >/dev/null; then
	echo "ok 1 - image # SKIP no strip or ldconfig"
	echo 1..1
	exit 0
fi
case $BUILD in *address*) # its libraries are not those of a release
	echo "ok 1 - image # SKIP a program with sanitizers is no image"
	echo 1..1
	exit 0
	;;
esac
image=$dir/alm.tar
python3 deploy/image/build.py "$alm_bin" 1.2.3 "$image" >"$dir/out"
python3 deploy/image/build.py "$alm_bin" 1.2.3 "$dir/again.tar" >/dev/null
is "an image" yes "$([ -s "$image" ] && echo yes)"
none "byte for byte the same twice" cmp "$image" "$dir/again.tar"
mkdir -p "$dir/image" "$dir/root"
tar -xf "$image" -C "$dir/image"
blob() { echo "$dir/image/blobs/sha256/${1#sha256:}"; }
manifest=$(blob "$(jq -r '.manifests[0].digest' "$dir/image/index.json")")
config=$(blob "$(jq -r .config.digest "$manifest")")
layer=$(blob "$(jq -r '.layers[0].digest' "$manifest")")
misnamed() { cd "$dir/image/blobs/sha256" && sha256sum -- * | awk '$1 != $2'; }
none "every blob is what its name says" misnamed
is "its layer is what the configuration says" "$(jq -r '.rootfs.diff_ids[0]' "$config")" "sha256:$(gzip -dc "$layer" | sha256sum | cut -d' ' -f1)"
is "user, program, version" '["65532:65532",["/usr/bin/alm"],"1.2.3"]' \
	"$(jq -c '[.config.User, .config.Entrypoint, .config.Labels["org.opencontainers.image.version"]]' "$config")"
tar -xzf "$layer" -C "$dir/root"
is "one program and no shell" "usr/bin/alm" "$(cd "$dir/root" && find . -type f -perm /111 ! -name '*.so*' | sed 's|^\./||')"
none "nothing has a bit of another user's rights" find "$dir/root" -perm /6000
none "no build folder stands in it" seek -l "$PWD" "$dir/root/usr/bin/alm"

# Images of several architectures as one archive. Here one machine builds, so the second one only says that it is of another.
other() { # VERSION OUT
	python3 -B - "$alm_bin" "$1" "$2" >/dev/null <<'PY'
import sys
sys.path.insert(0, "deploy/image")
import build
build.ARCHITECTURES = dict.fromkeys(build.ARCHITECTURES, "riscv64")
build.main()
PY
}
join() { python3 deploy/image/build.py --index "$@"; }
other 1.2.3 "$dir/other.tar"
other 1.2.4 "$dir/newer.tar"
joined=$dir/joined.tar
join "$joined" "$image" "$dir/other.tar" >"$dir/joined"
join "$dir/again.tar" "$dir/other.tar" "$image" >/dev/null
none "the images of two architectures are the same bytes in any order" cmp "$joined" "$dir/again.tar"
mkdir "$dir/both"
tar -xf "$joined" -C "$dir/both"
is "index.json names one thing, the index of both" "1 $(sed 's/.*  //' "$dir/joined")" \
	"$(jq -r '[(.manifests | length), .manifests[].digest] | join(" ")' "$dir/both/index.json")"
index=$dir/both/blobs/sha256/$(sed 's/.*  sha256://' "$dir/joined")
is "each is of its architecture" "$(jq -r .architecture "$config") riscv64" "$(jq -r '[.manifests[].platform.architecture] | join(" ")' "$index")"
is "the manifest of the one is what it was" "$(jq -r '.manifests[0].digest' "$dir/image/index.json")" \
	"$(jq -r '.manifests[] | select(.platform.architecture != "riscv64").digest' "$index")"
code "two of one architecture are refused" 1 "one of each architecture" join "$dir/no.tar" "$image" "$image"
code "and of two versions" 1 "images of several versions" join "$dir/no.tar" "$image" "$dir/newer.tar"
code "and what is joined already" 1 "not the image of one architecture" join "$dir/no.tar" "$joined" "$dir/newer.tar"
code "and what is no image" 1 "not an image that build.py made" join "$dir/no.tar" "$image" README.md
cp -R "$dir/image" "$dir/damaged"
printf x >>"$dir/damaged/blobs/sha256/${layer##*/}"
tar -cf "$dir/damaged.tar" -C "$dir/damaged" index.json oci-layout blobs
code "and what is damaged" 1 "the file is damaged" join "$dir/no.tar" "$dir/other.tar" "$dir/damaged.tar"
is "nothing was written of those" no "$([ -e "$dir/no.tar" ] && echo yes || echo no)"

images() { TMPDIR=$dir skopeo --insecure-policy "$@"; }
if command -v skopeo >/dev/null; then
	is "skopeo reads it" "$(sed 's/.*  //' "$dir/out")" "$(images inspect "oci-archive:$image" | jq -r .Digest)"
else
	skip "skopeo reads it" "no skopeo"
fi
if command -v skopeo >/dev/null && command -v docker-registry >/dev/null; then
	port=$(free_port)
	printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' "$dir/registry" "$port" >"$dir/registry.yml"
	docker-registry serve "$dir/registry.yml" >"$dir/registry.log" 2>&1 &
	pid=$!
	timeout 60 sh -c "until curl -sf http://127.0.0.1:$port/v2/ >/dev/null; do sleep 0.1; done"
	images copy --dest-tls-verify=false "oci-archive:$image" "docker://127.0.0.1:$port/alm:1.2.3" >/dev/null
	is "a registry takes it" "$(sed 's/.*  //' "$dir/out")" \
		"$(images inspect --tls-verify=false "docker://127.0.0.1:$port/alm:1.2.3" | jq -r .Digest)"
	images copy --all --dest-tls-verify=false "oci-archive:$joined" "docker://127.0.0.1:$port/alm:all" >/dev/null
	is "and all architectures under one name" "$(sed 's/.*  //' "$dir/joined")" \
		"sha256:$(images inspect --raw --tls-verify=false "docker://127.0.0.1:$port/alm:all" | sha256sum | cut -d' ' -f1)"
	is "of which each node takes its own" riscv64 \
		"$(images --override-arch riscv64 inspect --tls-verify=false "docker://127.0.0.1:$port/alm:all" | jq -r .Architecture)"
	up_stop
else
	for what in "a registry takes it" "and all architectures under one name" "of which each node takes its own"; do skip "$what" "no skopeo or docker-registry"; done
fi

# As a Pod runs it: another root, user 65532, the service account's files, an own volume.
if [ "$(id -u)" != 0 ] || ! command -v kubectl >/dev/null; then
	skip "it runs" "chroot needs root, and there must be kubectl"
	finish
	exit 0
fi
server_start
k apply -f deploy/manifests/alm.yaml >/dev/null 2>&1
account=$dir/root/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$account" "$dir/root/dev"
chmod 755 "$dir" "$dir/root"
k create token alm-controller -n alm-system >"$account/token"
install -m 644 "$dir/server/ca.crt" "$account/ca.crt"
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
args=$(k get deployment alm-controller -n alm-system -o json |
	jq -r '.spec.template.spec.containers[0].args[]' | sed 's/0.0.0.0:8080/127.0.0.1:0/')
chown 65532:65532 "$dir/root/var/lib/alm-controller"
mapfile -t args <<<"$args"
env -i PATH="$PATH" HOME=/var/lib/alm KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="${server##*:}" \
	chroot --userspec=65532:65532 "$dir/root" /usr/bin/alm "${args[@]}" >"$dir/pod.out" 2>"$dir/pod.err" &
one=$!
trap 'kill "$one" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
leader() { k get lease alm-controller -n alm-system -o 'jsonpath={.spec.holderIdentity}' | cut -c1-10; }
soon "with the arguments of the Deployment it leads" alm.local/ leader
none "and has nothing to complain about" cat "$dir/pod.err"
crds() { k get crd apps.app.coreos.com catalogs.app.coreos.com -o name | wc -l; }
soon "and brings its CRDs" 2 crds
has "as user 65532 without rights" "user 65532, no core dumps, no debuggers, no new privileges, no capabilities" "$(cat "$dir/pod.out")"
kill "$one"
wait "$one"
is "it ends when it is asked to" 0 "$?"
none "it wrote in its volume alone" find "$dir/root" -newer "$dir/out" -type f ! -path '*/var/lib/alm-controller/*' ! -path '*/serviceaccount/*'
finish
