#!/bin/bash
# `alm audit export` in all five forms: beside a running server, followed, of a stopped one (which says so itself), cut off,
# to a full disk.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit export # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
package 0.9.5 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null

cat >check.py <<'PY'
# Every line against what its format demands (fields, types, values), and that no row is missing.
import csv, json, re, sys
form, path = sys.argv[1:]
time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
seqs = []
text = open(path, newline="", encoding="utf-8").read()
if form == "csv":
	rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
	assert text.endswith("\r\n")
	for r in rows:
		assert None not in r and None not in r.values(), r
		assert time.fullmatch(r["time"]), r
		assert not any(v[:1] in ("=", "+", "-", "@", "\t", "\r") for v in r.values() if v), r
		json.loads(r["body"] or "{}")
		seqs.append(int(r["seq"]))
else:
	for line in text.splitlines():
		e = json.loads(line)
		if form == "k8s":
			assert (e["apiVersion"], e["kind"], e["level"], e["stage"]) == ("audit.k8s.io/v1", "Event", "Metadata", "ResponseComplete")
			assert isinstance(e["requestURI"], str) and e["verb"] and e["user"]["username"] and e["auditID"]
			assert time.fullmatch(e["stageTimestamp"]) and time.fullmatch(e["requestReceivedTimestamp"])
			assert all(isinstance(v, str) for v in e["annotations"].values())
			assert all(isinstance(v, str) for v in e["objectRef"].values())
			seqs.append(int(e["annotations"]["audit.app.coreos.com/seq"]))
		elif form == "cloudevents":
			assert e["specversion"] == "1.0" and e["source"].startswith("/alm/") and e["subject"] and time.fullmatch(e["time"])
			assert e["type"] == "com.coreos.app.audit." + e["data"]["type"] and e["id"] == str(e["data"]["seq"])
			seqs.append(int(e["id"]))
		else:
			c, a = e["class_uid"], e["activity_id"]
			assert c in (6003, 3004) and e["category_uid"] == c // 1000 and e["type_uid"] == c * 100 + a and a in (1, 3, 4, 99)
			assert e["metadata"]["version"] and e["metadata"]["product"]["vendor_name"] and e["severity_id"] in (1, 2)
			assert 1e12 < e["time"] < 1e13
			if c == 6003:
				assert e["actor"]["user"]["name"] and e["api"]["operation"] and e["src_endpoint"]
			else:
				assert e["entity"]["name"] or e["entity"]["uid"]
			seqs.append(int(e["metadata"]["uid"]))
assert seqs == list(range(1, len(seqs) + 1)), seqs[:5]
print("good", "many" if len(seqs) > 50 else len(seqs))
PY
for form in csv k8s cloudevents ocsf; do
	alm audit export --format "$form" --data-dir "$data" >"of-$form" 2>told
	is "$form" "good many" "$(python3 check.py "$form" "of-$form" 2>&1)"
done
none "each is told to the log by the server" cat told
is "selectors choose" "Approval" "$(k patch apptype etcd --type=merge -p '{"spec":{"paused":true}}' >/dev/null
	timeout 60 sh -c "until '$alm_bin' audit export --format k8s --type Approval --data-dir '$data' 2>/dev/null | grep -q Paused; do sleep 0.2; done"
	alm audit export --format cloudevents --type Approval --data-dir "$data" 2>/dev/null | jq -r .data.type | sort -u)"
is "also of AuditRecords, over the API" "good many" "$(alm audit export --format ocsf >api && python3 check.py ocsf api 2>&1)"

# followed
"$alm_bin" audit export --format cloudevents --follow --data-dir "$data" >followed 2>/dev/null &
follower=$!
"$alm_bin" audit export --follow --data-dir "$data" >followed.jsonl 2>/dev/null &
archiver=$!
timeout 60 sh -c 'until [ -s followed ] && [ -s followed.jsonl ]; do sleep 0.1; done'
k patch apptype etcd --type=merge -p '{"spec":{"paused":false}}' >/dev/null
soon "what comes is given" 1 grep -c '"reason":"Resumed"' followed
soon "as an archive, too" 1 grep -c '"reason":"Resumed"' followed.jsonl
kill -TERM $follower $archiver
wait $follower
is "a signal ends it well" 0 $?
wait $archiver
is "no row is missing" "good many" "$(python3 check.py cloudevents followed 2>&1)"
code "what was followed is an archive" 0 "chain, tree" alm audit verify --replay --file followed.jsonl
has "over the API there is no archive, and it says what can be" "carry no chain" "$(alm audit export --follow --kubeconfig "$KUBECONFIG" 2>&1)"
alm audit export --data-dir "$data" --format csv --type System 2>told.err >told.csv
has "beside a running server the server says that it was exported, and for whom" ',Exported,' "$(grep ',admin,' told.csv)"
none "and nothing is told" cat told.err
code "not for who may not read the log" 1 "forbidden" k create --raw /audit/exported -f - --as nobody
code "nor of another log" 1 "of this log" sh -c "echo '{\"origin\":\"x\",\"format\":\"csv\"}' | kubectl create --raw /audit/exported -f -"
up_stop

# stopped
alm audit export --data-dir "$data" >whole.jsonl
has "the log says that it was exported, before it is" '"reason":"Exported"' "$(grep '"record"' whole.jsonl | tail -1)"
code "the archive" 0 "chain, tree" alm audit verify --file whole.jsonl
code "and the log" 0 "objects as logged" alm audit verify --data-dir "$data"
head -c -200 whole.jsonl >part
code "cut off in a line: told" 4 "archive line" alm audit verify --file part
head -50 whole.jsonl >part
code "cut off between lines: found" 4 "FAIL" alm audit verify --file part
for form in jsonl csv ocsf; do
	code "$form to a full disk" 1 "No space left" sh -c "'$alm_bin' audit export --format $form --data-dir '$data' >/dev/full"
done
code "an unknown form" 2 "jsonl, csv, k8s, cloudevents and ocsf" alm audit export --format xml --data-dir "$data"
code "an archive with a hole" 2 "every entry" alm audit export --type Write --data-dir "$data"
code "follow to an end" 2 "goes on" alm audit export --format csv --follow --until 1h --data-dir "$data"
code "a number beyond the end" 2 "the log ends at entry" alm audit export --from-seq 999999 --data-dir "$data"
code "a number that is none" 2 "from 1 on" alm audit export --from-seq -3 --data-dir "$data"
finish
