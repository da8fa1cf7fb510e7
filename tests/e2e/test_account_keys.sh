#!/bin/sh
# The key of ServiceAccount tokens: a 0600 file of the data folder, no object of the API; replaced by renaming it.
# shellcheck source=tests/lib/server.sh disable=SC2119
. tests/lib/server.sh

api() { curl -sS --cacert "$dir/data/ca.crt" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' "$url$2" ${3:+-d "$3"}; }
who='{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}'
as() { api "$1" /apis/authentication.k8s.io/v1/selfsubjectreviews "$who" | jq -r '.code // .status.userInfo.username'; }
new_token() { api "$token" /api/v1/namespaces/default/serviceaccounts/default/token '{"kind": "TokenRequest"}' | jq -r .status.token; }
restart() {
	server_stop
	server_start || exit 1
}
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want $2 got $3"; fi; }

server_start || exit 1
timeout 60 sh -c "until [ \$(curl -s -o /dev/null -w '%{http_code}' --cacert '$dir/data/ca.crt' -H 'Authorization: Bearer $token' \
	'$url/api/v1/namespaces/default/serviceaccounts/default') = 200 ]; do sleep 0.1; done"
key=$dir/data/service-account.key
is 'the key is a file for its owner alone' 600 "$(stat -c %a "$key")"
is 'no Secret holds it' '' "$(api "$token" /api/v1/secrets | jq -r '.items[].metadata.name')"
first=$(new_token)
is 'a token says who it is' system:serviceaccount:default:default "$(as "$first")"
restart
is 'a restart keeps the key' system:serviceaccount:default:default "$(as "$first")"
mv "$key" "$dir/data/service-account.old.key"
restart
is 'a renamed key still verifies' system:serviceaccount:default:default "$(as "$first")"
second=$(new_token)
is 'two keys are published' 2 "$(api "$second" /openid/v1/jwks | jq '.keys | length')"
rm "$dir/data/service-account.old.key"
restart
is 'a removed key ends its tokens' 401 "$(as "$first")"
is 'the new key goes on' system:serviceaccount:default:default "$(as "$second")"
server_stop
echo nonsense >"$key"
"$BUILD/alm" server --data-dir "$dir/data" --listen 127.0.0.1:0 >"$dir/out" 2>"$dir/err"
case $(cat "$dir/err") in
*"service-account.key (remove it"*"no private P-256 key"*) ok 'a damaged key is told by its file' ;;
*) not_ok 'a damaged key is told by its file' "$(cat "$dir/err")" ;;
esac
finish
