#!/bin/bash
# TLS of both sides (PROGRAMME.md row 45): what `alm` refuses of a server, with openssl s_server as the server; that no
# credentials go over http; what `alm up` takes of a client, and that its certificate is new before the old one ends.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for tool in openssl python3 curl; do
	command -v $tool >/dev/null || {
		echo "ok 1 - TLS # SKIP no $tool"
		exit 0
	}
done
cd "$dir" || exit 1
servers=()
trap 'up_stop; [ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null; rm -rf "$dir"' EXIT

# ca NAME [ISSUER]; leaf NAME ISSUER SAN [OPTION...]: NAME.crt, NAME.key; the days are those of x509
ca() {
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "/CN=$1" -out "$1.csr"
	printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n' >"$1.ext"
	if [ $# -gt 1 ]; then
		openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -days 2 -extfile "$1.ext" -out "$1.crt"
	else
		openssl x509 -req -in "$1.csr" -key "$1.key" -days 2 -extfile "$1.ext" -out "$1.crt"
	fi
}
leaf() {
	local name=$1 issuer=$2 san=$3 key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256) digest=-sha256
	shift 3
	[ "${1:-}" = rsa1024 ] && key=(-newkey rsa:1024) && shift
	[ "${1:-}" = rsa2048 ] && key=(-newkey rsa:2048) && shift
	[ "${1:-}" = -sha1 ] && digest=-sha1 && shift
	openssl req -new "${key[@]}" -nodes -keyout "$name.key" -subj "/CN=127.0.0.1" -out "$name.csr"
	: >"$name.ext"
	[ -z "$san" ] || echo "subjectAltName=$san" >>"$name.ext"
	[ -z "${EKU:-}" ] || echo "extendedKeyUsage=$EKU" >>"$name.ext"
	if [ "$issuer" = "$name" ]; then
		openssl x509 -req -in "$name.csr" -key "$name.key" -days 2 -extfile "$name.ext" -out "$name.crt" "$@"
	else
		openssl x509 -req $digest -in "$name.csr" -CA "$issuer.crt" -CAkey "$issuer.key" -days 2 -extfile "$name.ext" -out "$name.crt" "$@"
	fi
}
# -days counts from now: a certificate of another time is made by the ca command
leaf_at() {
	local name=$1 from=$2 until=$3
	leaf "$name" root IP:127.0.0.1
	printf '[c]\ndatabase=%s.db\nserial=%s.serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\ncopy_extensions=none\n[p]\ncommonName=supplied\n' "$name" "$name" >"$name.conf"
	: >"$name.db" && echo "$3" | tr -dc 0-9 >"$name.serial"
	openssl ca -batch -config "$name.conf" -name c -cert root.crt -keyfile root.key -in "$name.csr" -extfile "$name.ext" \
		-startdate "$from" -enddate "$until" -out "$name.crt"
}
{
	ca root && ca other && ca middle root
	leaf good root IP:127.0.0.1,DNS:alm.example
	leaf good_rsa root IP:127.0.0.1 rsa2048
	leaf strange other IP:127.0.0.1
	leaf named root DNS:other.example
	leaf addressed root IP:10.0.0.1
	leaf nameless root ""
	leaf mailed root email:a@b.example
	leaf alone alone IP:127.0.0.1
	leaf notca root IP:127.0.0.1 && leaf below notca IP:127.0.0.1
	EKU=clientAuth leaf client root IP:127.0.0.1
	leaf weak root IP:127.0.0.1 rsa1024
	leaf old root IP:127.0.0.1 -sha1
	leaf under middle IP:127.0.0.1
	leaf_at expired 20200101000000Z 20200201000000Z
	leaf_at early 20450101000000Z 20460101000000Z
} >certs.log 2>&1
printf 'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n{"gitVersion":"v1.2.3"}' >version

# config FILE SERVER [USER-LINE]: a kubeconfig that trusts root
config() {
	printf 'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "%s", certificate-authority: root.crt%s}}]\n' "$2" "${4:-}" >"$1"
	printf 'contexts: [{name: c, context: {cluster: c%s}}]\ncurrent-context: c\n' "${3:+, user: u}" >>"$1"
	[ -z "${3:-}" ] || printf 'users: [{name: u, user: {%s}}]\n' "$3" >>"$1"
	chmod 600 "$1"
}
# serve OPTION...: an s_server for one check; sets $port
serve() {
	: >server.log
	openssl s_server -accept 127.0.0.1:0 -HTTP "$@" >server.log 2>&1 &
	servers=($!)
	for _ in $(seq 300); do
		port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' server.log)
		[ -n "$port" ] && return
		sleep 0.1
	done
	not_ok "s_server starts" "$(cat server.log)"
}
unserve() {
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
	servers=()
}
# takes NAME, refuses NAME TEXT: what alm says to the server with these options
takes() {
	local name=$1
	shift
	serve "$@"
	config server "https://127.0.0.1:$port" "token: secret" "${name_option:-}"
	has "takes $name" "server v1.2.3" "$(alm version --kubeconfig server 2>&1)"
	unserve
}
pair() { echo "-cert $1.crt -key ${2:-$1}.key"; }

refuses() {
	local name=$1 text=$2 said
	shift 2
	serve "$@"
	config server "https://127.0.0.1:$port" "token: secret" "${name_option:-}"
	said=$(alm version --kubeconfig server 2>&1)
	case $said in
	*"server v1.2.3"*) not_ok "refuses $name" "$said" ;;
	*) has "refuses $name" "$text" "$said" ;;
	esac
	unserve
}
# shellcheck disable=SC2046 # words
{
	takes "a good certificate" $(pair good)
	takes "one below another CA" $(pair under) -cert_chain middle.crt
	takes "TLS 1.2 with authenticated encryption" $(pair good_rsa) -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256
	name_option=', tls-server-name: alm.example' takes "another server name" $(pair good)
	name_option=', tls-server-name: no.example' refuses "a server name that it has not" "no.example" $(pair good)
	refuses "another CA" "unable to get local issuer certificate" $(pair strange)
	refuses "another host name" "no alternative certificate subject name matches" $(pair named)
	refuses "another address" "no alternative certificate subject name matches" $(pair addressed)
	refuses "a common name alone" "it needs a subjectAltName, a common name does not count" $(pair nameless)
	refuses "a common name beside a mail address" "it needs a subjectAltName" $(pair mailed)
	refuses "an expired one" "certificate has expired" $(pair expired)
	refuses "one of the future" "certificate is not yet valid" $(pair early)
	refuses "a self-signed one" "self-signed certificate" $(pair alone)
	refuses "one that is signed by no CA" "invalid CA certificate" $(pair below) -cert_chain notca.crt
	refuses "one for clients" "unsuitable certificate purpose" $(pair client)
	refuses "a short key" "key too weak" $(pair weak) -cipher DEFAULT@SECLEVEL=0
	refuses "a SHA-1 signature" "too weak" $(pair old) -cipher DEFAULT@SECLEVEL=0
	refuses "TLS 1.1" "tlsv1 alert protocol version" $(pair good_rsa) -tls1_1 -cipher DEFAULT@SECLEVEL=0
	refuses "a CBC cipher" "handshake failure" $(pair good_rsa) -tls1_2 -cipher ECDHE-RSA-AES128-SHA
	refuses "a cipher without forward secrecy" "handshake failure" $(pair good_rsa) -tls1_2 -cipher AES128-GCM-SHA256
}
# An answer that ends too early, and one in clear; what http:// gets to see
cat >server.py <<-'END'
	import socket, ssl, sys
	how = sys.argv[1]
	listener = socket.create_server(("127.0.0.1", 0))
	print(listener.getsockname()[1], flush=True)
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.load_cert_chain("good.crt", "good.key")
	while True:
	    s, _ = listener.accept()
	    try:
	        if how == "hangup":
	            s.recv(100)
	        elif how == "clear":
	            print(s.recv(4000).decode("latin-1"), file=sys.stderr, flush=True)
	            s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{"gitVersion":"v1.2.3"}')
	        else:
	            s = context.wrap_socket(s, server_side=True)
	            s.recv(4000)
	            length = b"Content-Length: 100\r\n" if how == "short" else b"Connection: close\r\n"
	            s.sendall(b'HTTP/1.1 200 OK\r\n' + length + b'\r\n{"gitVersion":"v1.2.3"}')
	        socket.socket.close(s)  # without a close_notify
	    except OSError:
	        pass
END
python() {
	: >port
	python3 server.py "$1" >port 2>seen &
	servers=($!)
	port=$(written port)
}
for how in hangup short cut; do
	python $how
	config server "https://127.0.0.1:$port" "token: secret"
	said=$(alm version --kubeconfig server 2>&1)
	case $said in
	*"server v1.2.3"*) not_ok "refuses a truncated answer ($how)" "$said" ;;
	*) has "refuses a truncated answer ($how)" "alm: no server: https://127.0.0.1:$port: " "$said" ;;
	esac
	unserve
done
python clear
config server "https://127.0.0.1:$port" "token: secret"
has "refuses a server in clear" "no server" "$(alm version --kubeconfig server 2>&1)"
none "  which sees no token" seek -al secret seen
: >seen
echo secret >token && chmod 600 token
for user in "token: secret" "tokenFile: token" "username: a, password: secret" "client-certificate: good.crt, client-key: good.key"; do
	config server "http://127.0.0.1:$port" "$user"
	has "http with ${user%%:*}" "http://127.0.0.1:$port: credentials are sent over https only; give an https:// address" \
		"$(alm version --kubeconfig server 2>&1)"
done
config server "http://a:secret@127.0.0.1:$port"
has "http with a password in the address" "credentials are sent over https only" "$(alm version --kubeconfig server 2>&1)"
none "  nothing was sent" cat seen
config server "http://127.0.0.1:$port"
has "http without credentials is taken" "server v1.2.3" "$(alm version --kubeconfig server 2>&1)"
unserve

# --- the other side ---
metrics=off
up_start
address=$(grep -o '127.0.0.1:[0-9]*' "$dir/out" | head -1)
ask() { openssl s_client -connect "$address" -CAfile "$data/ca.crt" -verify_return_error "$@" </dev/null 2>&1; }
offers() { has "the server takes $1" "Cipher    : $2" "$(ask "${@:3}")"; }
offers "TLS 1.2 with AES-GCM" ECDHE-ECDSA-AES128-GCM-SHA256 -tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256
offers "TLS 1.2 with ChaCha20" ECDHE-ECDSA-CHACHA20-POLY1305 -tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305
has "the server takes TLS 1.3" "TLSv1.3" "$(ask -tls1_3)"
for cipher in ECDHE-ECDSA-AES128-SHA ECDHE-ECDSA-AES256-SHA384 ECDHE-ECDSA-AES128-CCM AES128-GCM-SHA256; do
	has "the server refuses $cipher" "handshake failure" "$(ask -tls1_2 -cipher "$cipher")"
done
has "the server refuses TLS 1.1" "alert protocol version" "$(ask -tls1_1 -cipher DEFAULT@SECLEVEL=0)"
served() { ask | openssl x509 -noout "$@"; }
is "its certificate ends within 30 days" "Certificate will expire" "$(served -checkend $((30 * 86400 + 60)))"
has "  and has the address that is listened on" "IP Address:127.0.0.1" "$(served -ext subjectAltName)"
up_stop
is "certificates stay in memory" "ca.crt" "$(cd "$data" && grep -l 'BEGIN CERT' ./*.crt ./*.key 2>/dev/null | xargs -n1 basename)"
# A CA that has ended is told with what to do
is "the CA lives ten years" "Certificate will expire" "$(openssl x509 -in "$data/ca.crt" -noout -checkend $((3651 * 86400)))"
cp "$data/ca.crt" "$data/ca.key" .
leaf_at ended 20200101000000Z 20200201000000Z >>certs.log 2>&1
cp ended.crt "$data/ca.crt" && cp ended.key "$data/ca.key"
code "a CA that has ended" 1 "(remove both to get a new CA): the CA has ended 2020-02-01T00:00:00Z" \
	alm up --data-dir "$data" --listen 127.0.0.1:0 --metrics-listen off
cp ca.crt ca.key "$data/"

# Another address while it runs: in a network of its own
if unshare -rn ip link set lo up 2>/dev/null; then
	cat >moved.sh <<-'END'
		ip link set lo up
		"$1" up --data-dir "$2" --listen 0.0.0.0:16443 --metrics-listen off >up.out 2>up.err &
		up=$!
		names() { openssl s_client -connect 127.0.0.1:16443 </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName 2>/dev/null; }
		timeout 60 sh -c 'until [ -s up.out ]; do sleep 0.1; done'
		names | grep -c 10.9.8.7
		exec 3<>/dev/tcp/127.0.0.1/16443
		ip addr add 10.9.8.7/32 dev lo
		for _ in $(seq 600); do
			names | grep -q 10.9.8.7 && break
			sleep 0.1
		done
		names | grep -c 10.9.8.7
		kill $up
		wait $up
	END
	is "a new address is in the certificate without a restart" "0 1" "$(unshare -rn bash moved.sh "$alm_bin" "$data" | xargs)"
	has "  which is told" 'msg="new serving certificate" because=addresses' "$(cat up.err)"
else
	ok "a new address is in the certificate without a restart # SKIP no network namespaces"
fi
finish
