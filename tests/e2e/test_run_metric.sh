#!/bin/bash
# Success checks by Prometheus (L31 of capabilities.md; targets 18 and 19) of `alm run`, against a server that says what it is told to:
# thresholds, no data, a server that is away, hangs, floods or talks rubbish, tokens over TLS.
# shellcheck disable=SC2119,SC2086
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
server=
trap 'kill $server 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
up_start
K=$KUBECONFIG
here=$PWD
cd "$dir" || exit 1
mkdir m log
prometheus() { # PORT_FILE [CERT KEY]
	python3 "$here/tests/e2e/prometheus_server.py" "$dir/says" "$@" &
	server="$server $!"
	written "$1" >/dev/null
}
says() { printf '%s\n' "$@" >says; : >says.log; }
says 0
prometheus port
port=$(written port)
rollout() { # PROMETHEUS [STEP]
	cat >rollout.yaml <<EOF
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: m}
spec:
  groups:
  - steps: [{object: one.yaml, action: CreateOrUpdate, success: [{prometheus: {query: 'errors{a="b"} / 2', interval: 1s, $1}}]${2:+, $2}}]
EOF
}
value() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {v: "%s"}\n' "$1" >m/one.yaml; }
run() { alm run --kubeconfig "$K" --name metric --trigger=oneoff --renderer.file.dir=m --renderer.file.rollout=rollout.yaml "$@" 2>&1; }
here_is="address: 'http://127.0.0.1:$port', insecure: true, successCondition: result < 0.1"
# The server is asked only of what there is: each word of `says` is one answer, whoever asked before.
fresh() { # ANSWER...
	kill $server 2>/dev/null
	wait $server 2>/dev/null
	server=
	rm -f port
	says "$@"
	prometheus port
	here_is=${here_is/127.0.0.1:*([0-9])/127.0.0.1:$(written port)}
}
shopt -s extglob

value 1
fresh 0.01 0.02
rollout "$here_is, count: 2"
code "L31 two samples below the threshold" 0 "group-1/one.yaml: Finished: measured 0.01, 0.02" run --audit-log log/alm.db
is "L31 asked twice, with the query" "2 /api/v1/query?query=errors%7Ba%3D%22b%22%7D%20%2F%202 -" "$(wc -l <says.log) $(tail -1 says.log | sed 's/+/%20/g')"
has "L31 the values are in the log" "measured 0.01, 0.02" "$(alm audit timeline unit/metric --data-dir log -o json)"

value 2
fresh 0.01 0.5
rollout "$here_is, count: 2"
code "L31 one above it fails the step, with the values" 1 "AnalysisFailed: query errors{a=\"b\"} / 2: 2 of 2 samples, 1 failed (0 may), measured 0.01, 0.5; wanted result < 0.1" run --audit-log log/alm.db
has "L31 they are in the log" "measured 0.01, 0.5" "$(alm audit timeline unit/metric --data-dir log -o json)"
is "L31 L33 it is rolled back" "1" "$(kubectl get configmap one -o 'jsonpath={.data.v}')"

value 3
fresh none NaN 500 0.01
rollout "$here_is, count: 1" "timeout: 2s"
code "target 18: Hold waits for data, beyond the step's timeout" 0 "Finished: measured 0.01" run
value 4
fresh none
rollout "$here_is, count: 1, noData: Fail"
code "target 18: Fail" 1 "AnalysisFailed: query errors{a=\"b\"} / 2: 1 of 1 samples, 1 failed (0 may), measured no data; wanted result < 0.1; now: no series" run
rollout "$here_is, count: 1, noData: Pass"
code "target 18: Pass" 0 "Finished: measured no data" run
value 5
fresh 7
rollout "$here_is, count: 1, dryRun: true"
code "target 19: on trial it is measured, and decides nothing" 0 "Finished: measured 7" run

# What is no answer is a failed request, told as what it is, and asked again.
value 6
fresh html large drop 503 0.02
rollout "$here_is, count: 1, noData: Fail"
code "four requests that fail, and an answer" 0 "Finished: measured 0.02" run
is "each was one request" "5" "$(wc -l <says.log)"
fresh hang 0.03
value 7
rollout "$here_is, count: 1"
code "one that never ends is left, and asked again" 0 "Finished: measured 0.03" run
fresh 400
value 11
rollout "$here_is, count: 1, noData: Fail"
code "five are no data" 1 "measured no data; wanted result < 0.1; now: Prometheus answers 400: told to" run
value 8
rollout "address: 'http://127.0.0.1:1', insecure: true, successCondition: result < 0.1" "timeout: 2s"
sed -i 's/timeout: 2s/timeout: 3s/; s/interval: 1s,/interval: 1s, count: 2,/' rollout.yaml
code "nobody there, until the step's time is over" 1 "ProgressDeadline: " run
value 9
rollout "address: 'service://monitoring/prometheus:9090', successCondition: result < 0.1, count: 1" "timeout: 2s"
code "through the API server: there is no such service" 1 "ProgressDeadline: " run

# A token goes over TLS, to the origins that its Secret names.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=p -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
says 0.01
prometheus tls cert.pem key.pem
origin=https://127.0.0.1:$(cat tls)
secret() { # ORIGINS
	kubectl create secret generic prom -n alm-system --type=app.coreos.com/catalog-credentials --from-literal=token=hush --from-literal=origins="$1" --from-file=ca.crt=cert.pem --dry-run=client -o yaml | kubectl apply -f - >/dev/null 2>&1
}
rollout "address: '$origin', successCondition: result < 0.1, count: 1, tokenSecretRef: {name: prom}, noData: Fail" "timeout: 30s"
secret "$origin"
code "a token and a CA of a Secret" 0 "Finished: measured 0.01" run
is "the token is shown" "Bearer hush" "$(tail -1 says.log | cut -d' ' -f2-)"
value 10
secret "https://other.example"
code "to no other origin" 1 "now: " run
is "it was not asked" "1" "$(wc -l <says.log)"
kubectl delete secret prom -n alm-system >/dev/null
code "a Secret that is not there" 1 "prom" run
none "no token in any output or log" seek -rl hush log err
finish
