#!/bin/bash
# A22: a blocked upgrade in mode Automatic alerts in four ways, and all four end with the cause. The receiver
# speaks as much of Alertmanager's API as a post needs.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for c in kubectl jq python3; do
	command -v $c >/dev/null || {
		echo "ok 1 - alerts # SKIP no $c"
		exit 0
	}
done
cat >"$dir/receiver.py" <<'END'
import http.server, json, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[2], "a") as log:
            for alert in body:
                log.write(json.dumps({"path": self.path, **alert}) + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
END
port=$(free_port)
touch "$dir/alerts"
python3 "$dir/receiver.py" "$port" "$dir/alerts" &
receiver=$!
trap 'kill $receiver 2>/dev/null; up_stop; rm -rf "$dir"' EXIT

code "another kind of URL is refused" 2 "want http://" "$alm_bin" up --data-dir "$dir/x" --alertmanager tcp://h
up_start --alertmanager "http://127.0.0.1:$port/am"
manifests
cd "$dir" || exit 1
field() { k get apptype etcd -o "jsonpath={.status.conditions[?(@.type==\"UpgradeBlocked\")].$1}"; }
gauge() { curl -s "http://$metrics/metrics" | grep -c '^alm_upgrade_blocked{.*1$'; }
last() { tail -1 "$dir/alerts" | jq -r "$1"; }
# an alert that has ended has its endsAt in the past
ended() { last '[.labels.alertname, .labels.version, (.endsAt | sub("\\.[0-9]+";"") | fromdate) <= now] | join(" ")'; }

package 0.9.6 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
k create -f etcd-instance.yaml >/dev/null # written through v1, never stored as that
package 1.0.0 >/dev/null
soon "A22 condition" "True" field status
soon "A22 metric" "1" gauge
event() { k get events -A --field-selector reason=UpgradeBlocked,type=Warning -o name | wc -l; }
soon "A22 Warning Event" "1" event
soon "A22 Alertmanager post" "/am/api/v2/alerts ALMUpgradeBlocked etcd 1.0.0" \
	last '[.path, .labels.alertname, .labels.app, .labels.version] | join(" ")'
has "A22 with the steps" "alm crd migrate" "$(last .annotations.steps)"
is "A22 that goes on" "ALMUpgradeBlocked 1.0.0 false" "$(ended)"

k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
soon "mode Manual shows it without alert" "ALMUpgradeBlocked 1.0.0 true" ended
is "and the condition stays" "True" "$(field status)"
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Automatic"}}}' >/dev/null
soon "Automatic again alerts again" "ALMUpgradeBlocked 1.0.0 false" ended

alm crd migrate etcds.etcd.coreos.com --to v2 --ignore-writers >/dev/null
is "the cause is gone, the upgrade goes on" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '1.0.0'")"
soon "A22 the condition clears" "False" field status
soon "A22 the metric clears" "0" gauge
soon "A22 the alert clears" "ALMUpgradeBlocked 1.0.0 true" ended
has "A22 posts are counted" 'alm_alert_posts_total{result="ok"}' "$(curl -s "http://$metrics/metrics")"
finish
