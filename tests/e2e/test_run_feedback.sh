#!/bin/bash
# Feedback of `alm run`: a webhook (signed CloudEvents in order, one id on every try), metrics and health, a limit on the rate of
# requests (L19, L20, L38, L39 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
receiver=
runner=
stop_all() {
	for p in $receiver $runner; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null; done
	receiver=
	runner=
}
trap 'stop_all; up_stop; rm -rf "$dir"' EXIT
up_start
K=$KUBECONFIG
mkdir "$dir/m"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n' one >"$dir/m/one.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n' two >"$dir/m/two.yaml"
cat >"$dir/rollout.yaml" <<'END'
apiVersion: workflow.kubernetes.io/v1alpha1
kind: Rollout
metadata: {name: feedback}
spec:
  groups:
  - {name: first, steps: [{object: one.yaml, action: CreateOrUpdate}]}
  - {name: second, steps: [{object: two.yaml, action: CreateOrUpdate}]}
END
flags=(--kubeconfig "$K" --renderer.file.dir="$dir/m" --renderer.file.rollout="$dir/rollout.yaml")
run() { alm run "${flags[@]}" "$@"; }

# A receiver that is down for its first event: a line a request.
cat >"$dir/receiver.py" <<'END'
import hashlib, hmac, http.server, json, sys
seen = 0
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_POST(self):
        global seen
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mac = "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
        e = json.loads(body)
        d = e["data"]
        seen += 1
        code = 503 if seen == 1 else 204
        status = d["body"].get("status", "{}")
        status = json.loads(status) if isinstance(status, str) else status
        failed = [g["message"] for g in status.get("groups", []) if "message" in g]
        groups = ",".join(g["name"] + "=" + g["state"] for g in status.get("groups", []))
        print(json.dumps({"id": e["id"], "source": e["source"], "type": e["type"], "subject": e["subject"], "code": code,
            "signed": self.headers["X-ALM-Signature-256"] == mac, "content": self.headers["Content-Type"],
            "state": status.get("phase"), "groups": groups, "failed": failed}), flush=True)
        self.send_response(code)
        self.end_headers()
s = http.server.HTTPServer(("127.0.0.1", 0), H)
print(s.server_port, file=sys.stderr, flush=True)
s.serve_forever()
END
python3 "$dir/receiver.py" >"$dir/events" 2>"$dir/port" &
receiver=$!
hook=http://127.0.0.1:$(written "$dir/port")/hook
echo s3cret >"$dir/secret"

mkdir "$dir/log"
told=(--feedback.webhook="$hook" --feedback.webhook.secret-file="$dir/secret" --audit-log="$dir/log/alm.db")
code "a run with a webhook" 0 "two.yaml: Finished" run --trigger=oneoff "${told[@]}"
events() { jq -r "$1" "$dir/events"; }
is "L20 every event is signed" "true" "$(events .signed | sort -u)"
is "L20 as CloudEvents" "application/cloudevents+json" "$(events .content | sort -u)"
is "L20 of the unit" "Unit/feedback com.coreos.app.audit.Transition" "$(events '"\(.subject) \(.type)"' | sort -u)"
is "L20 what was refused comes again, with its id" "$(events .id | sed -n 1p)" "$(events .id | sed -n 2p)"
ids() { events .id | tail -n +2; }
id_twice() { ids | sort | uniq -d; }
not_in_order() { ids | sed 's|.*/||' | sort -nc; }
none "L20 no other id comes twice" id_twice
none "L20 ids follow the log" not_in_order
is "L19 at the end all groups are Finished" "Succeeded first=Finished,second=Finished" "$(events '"\(.state) \(.groups)"' | tail -1)"
has "L19 before that the first alone was" "first=Finished,second=" "$(events 'select(.state != "Succeeded") | .groups')"
n=$(wc -l <"$dir/events")
code "a second run that changes nothing" 0 "" run --trigger=oneoff "${told[@]}"
is "  tells nothing" "$n" "$(wc -l <"$dir/events")"
cp "$dir/log/alm.db" "$dir/log/older.db"
printf 'data: {a: b}\n' >>"$dir/m/two.yaml"
code "a third one" 0 "" run --trigger=oneoff "${told[@]}"
none "  tells its own transitions alone" id_twice
is "  with the end of it" "Succeeded" "$(tail -n +$((n + 1)) "$dir/events" | jq -r .state | tail -1)"
sed "s|two.yaml, action: CreateOrUpdate|&, success: [{wait: data.a = 'c', timeout: 1s}]|" "$dir/rollout.yaml" >"$dir/fails.yaml"
code "a step whose check is never true" 1 "not so after 1s: wait data.a = 'c' (data.a='b')" \
	run --trigger=oneoff --renderer.file.rollout="$dir/fails.yaml" "${told[@]}"
is "L19 the group says Failed" "Failed first=Finished,second=Failed" "$(events '"\(.state) \(.groups)"' | tail -1)"
has "L19 its message names the step" "step second/two.yaml: " "$(events '.failed[]' | tail -1)"
code "the log holds, its transitions too, and its head" 0 "transitions are what their inputs give" alm audit verify --replay --data-dir "$dir/log"
code "  without a cluster, too: of runs nobody has statuses" 0 "transitions of runs, which have no statuses" \
	env -u KUBECONFIG "$alm_bin" audit verify --data-dir "$dir/log"
mv "$dir/log/older.db" "$dir/log/alm.db"
code "an older one in its place is not written to" 4 "LogRolledBack" run --trigger=oneoff "${told[@]}"
rm "$dir"/log/alm.db*
code "nor is one begun where one is remembered" 4 "--audit-log $dir/log/alm.db: audit log: LogRolledBack: audit.head remembers" \
	run --trigger=oneoff "${told[@]}"
code "which is no log that never was" 4 "$dir/log/alm.db has no audit log, and $dir/log/audit.head remembers" alm audit verify --data-dir "$dir/log"
gap=(audit accept-gap --data-dir "$dir/log" --reason)
has "the command that goes on is told" "alm ${gap[*]} TEXT" "$(run --trigger=oneoff "${told[@]}" 2>&1)"
code "  it does, without a cluster" 0 "begins anew as alm.run/" env -u KUBECONFIG "$alm_bin" "${gap[@]}" lost
code "  and the next run is in the new one" 0 "" run --trigger=oneoff "${told[@]}"
code "  which is whole" 0 "of runs" env -u KUBECONFIG "$alm_bin" audit verify --data-dir "$dir/log"
code "a bad URL" 2 "--feedback.webhook ftp://x: want https://" run --trigger=oneoff --feedback.webhook=ftp://x
code "a secret for nobody" 2 "without --feedback.webhook" run --trigger=oneoff --feedback.webhook.secret-file="$dir/secret"
code "a secret that is not there" 1 "--feedback.webhook.secret-file" run --trigger=oneoff --feedback.webhook="$hook" --feedback.webhook.secret-file=/nowhere

# Metrics and health of a run that goes on.
port=$(free_port)
"$alm_bin" run "${flags[@]}" --trigger=interval --trigger.interval.duration=200ms --metrics-listen "127.0.0.1:$port" >"$dir/interval" 2>&1 &
runner=$!
ask() { curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$1"; }
metric() { curl -s "http://127.0.0.1:$port/metrics" | awk -v m="$1" '$1 == m {print $2}'; }
soon "L39 ready once a run has succeeded" 200 ask /readyz
is "L39 healthy" 200 "$(ask /healthz)"
ran() { [ "$(metric rollout_executions_total)" -ge 2 ] && echo yes; }
soon "L39 runs are counted" yes ran
is "L39 their time" "yes" "$(metric rollout_execution_duration_seconds_count | awk '$1 >= 2 {print "yes"}')"
is "L39 none failed" 0 "$(metric rollout_executions_failed_total)"
echo 'not: [yaml' >"$dir/m/broken.yaml"
failed() { [ "$(metric rollout_executions_failed_total)" -ge 1 ] && echo yes; }
soon "L39 what fails is counted" yes failed
rm "$dir/m/broken.yaml"
kill "$runner" && wait "$runner" 2>/dev/null
runner=

# The rate that the server measures; what alm up asks itself meanwhile counts, too, and is little in the turn of a write.
for i in $(seq 12); do printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%s\n' "$i" >"$dir/m/c$i.yaml"; done
sed -i '/second/a\  - {name: third, parallel: true, steps: [{object: "c*.yaml", action: CreateOrUpdate}]}' "$dir/rollout.yaml"
writes() { curl -s "http://$metrics/metrics" | awk '/^alm_api_requests_total.*verb="patch"/ {n += $NF} END {print n + 0}'; }
before=$(writes)
began=$(date +%s%N)
code "L38 a run with a rate" 0 "third/c*.yaml: Finished" run --trigger=oneoff --qps 5 --burst 2
ms=$((($(date +%s%N) - began) / 1000000))
n=$(($(writes) - before))
is "L38 --qps 5 --burst 2 bounds it ($n writes in $ms ms)" yes "$([ $((n * 1000)) -le $((5 * ms + 2000)) ] && [ "$n" -ge 12 ] && echo yes)"
code "L38 no rate" 2 "--qps 0: want a number of requests a second" run --trigger=oneoff --qps 0
finish
