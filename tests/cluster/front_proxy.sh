#!/bin/bash
# front_proxy.sh DIR: programs of a test cluster whose API server speaks for its users to APIServices of others, as each installer of
# Kubernetes sets it up and a bare kube-apiserver does not (then ALM answers `kubectl get auditrecords` with 401). Prints DIR, for
# ALM_ORACLES: its bin has those of the ALM_ORACLES before, kube-apiserver with the flags for it.
set -euo pipefail
from=${ALM_ORACLES:-${XDG_CACHE_HOME:-$HOME/.cache}/alm-oracles}/bin
dir=$(realpath -m "${1:?a folder}")
mkdir -p "$dir/bin"
(
	umask 077
	cd "$dir"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=front-proxy-ca -days 30 -keyout ca.key -out ca.crt 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=front-proxy-client -keyout client.key 2>/dev/null |
		openssl x509 -req -CA ca.crt -CAkey ca.key -days 30 -extfile <(echo extendedKeyUsage=clientAuth) -out client.crt 2>/dev/null
)
ln -sf "$from"/* "$dir/bin/"
rm -f "$dir/bin/kube-apiserver"
cat >"$dir/bin/kube-apiserver" <<END
#!/bin/sh
exec "$from/kube-apiserver" "\$@" --requestheader-client-ca-file="$dir/ca.crt" --requestheader-allowed-names=front-proxy-client \\
	--requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \\
	--requestheader-extra-headers-prefix=X-Remote-Extra- --proxy-client-cert-file="$dir/client.crt" --proxy-client-key-file="$dir/client.key"
END
chmod 755 "$dir/bin/kube-apiserver"
echo "$dir"
