#!/usr/bin/env python3
"""The rows of tests/golden/gate/rows.test on a real API server: gate_real.py SERVER ALM prints TAP.

SERVER is the address of a `kubectl proxy`. For each row and direction a CRD with the old schema gets
the row's objects; `alm crd check live:NAME` judges the change; then the CRD is changed all the same.
Not refused: every object reads as before, and can be written back and created anew. Refused: some
object cannot be created anew with what it had, or has lost a value: the loss that was told.
"""
import concurrent.futures
import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SERVER, ALM = sys.argv[1:3]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Not compared: ownership and defaults, which a fresh object does not show, and rules, which the command
# leaves to a server (the controllers have them evaluated).
NOT_SHOWN = ("ListTypeChanged", "DefaultChanged", "CELChanged")


def call(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(SERVER + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def definition(plural, schema):
    group = plural + ".gate.example.org"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "ws." + group},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "ws", "singular": "w", "kind": "W"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object", "properties": {"spec": {"type": "object", "properties": {"x": schema}}}}}}]}}


def rows():
    with open("tests/golden/gate/rows.test", encoding="utf-8") as f:
        blocks = [[line for line in b.split("\n") if line and not line.startswith("#")] for b in f.read().split("\n\n")]
    return [b for b in blocks if len(b) == 7]


def copy(o, name):
    return {"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": {"name": name}, "spec": o["spec"]}


def established(path):
    """The new schema is in force once the server's document of the kind shows it; a moment is enough."""
    for _ in range(100):
        code, o = call("GET", path)
        if code == 200 and any(c["type"] == "Established" and c["status"] == "True"
                               for c in o.get("status", {}).get("conditions") or []):
            return True
        time.sleep(0.1)
    return False


def lost(objects, name, o):
    """What an object loses under the new schema; empty: nothing."""
    code, now = call("GET", objects + "/" + name)
    if code != 200:
        return "cannot be read: %d" % code
    if now["spec"] != o["spec"]:
        return "reads %s, was %s" % (json.dumps(now["spec"]), json.dumps(o["spec"]))
    code, answer = call("PUT", objects + "/" + name, now)
    if code != 200:
        return "cannot be written back: " + answer.get("message", "")
    code, answer = call("POST", objects, copy(o, name + "-again"))
    if code != 201:
        return "cannot be created anew: " + answer.get("message", "")
    if answer["spec"] != o["spec"]:
        return "created anew it is %s" % json.dumps(answer["spec"])
    return ""


def try_row(i, row, back):
    name, old, new = row[0], json.loads(row[1]), json.loads(row[2])
    if back:
        old, new = new, old
    before, after = definition("r%d%s" % (i, "b" if back else "a"), old), None
    after = definition("r%d%s" % (i, "b" if back else "a"), new)
    crd = CRDS + "/" + before["metadata"]["name"]
    objects = "/apis/%s/v1/namespaces/default/ws" % before["spec"]["group"]
    call("DELETE", crd)
    for _ in range(100):
        code, answer = call("POST", CRDS, before)
        if code != 409:
            break
        time.sleep(0.1)
    if code != 201:
        return None, "the server takes no such schema: " + answer.get("message", "")[:200]
    established(crd)
    kept = {}
    for n, text in (("valid", row[5]), ("invalid", row[6])):
        o = {"apiVersion": before["spec"]["group"] + "/v1", "kind": "W", "metadata": {"name": n},
             "spec": {"x": json.loads(text)}}
        for _ in range(50):
            code, answer = call("POST", objects, o)
            if code != 404:
                break
            time.sleep(0.1)
        if code == 201:
            kept[n] = answer
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(after, f)
        f.flush()
        run = subprocess.run([ALM, "crd", "check", "live:" + before["metadata"]["name"], f.name, "-o", "json",
                              "--insecure-skip-tls-verify"],
                             capture_output=True, text=True, timeout=60, check=False)
    if not run.stdout:
        return False, run.stderr
    verdict = json.loads(run.stdout)
    code, live = call("GET", crd)
    live["spec"]["versions"] = after["spec"]["versions"]
    code, answer = call("PUT", crd, live)
    if code != 200:
        call("DELETE", crd)
        return None, "the server refuses the change: " + answer.get("message", "")[:200]
    time.sleep(2)
    losses = {n: lost(objects, n, o) for n, o in kept.items()}
    call("DELETE", crd)
    told = verdict["outcome"] == "refuse"
    rules = [f["rule"] for f in verdict["findings"]]
    shown = {n: text for n, text in losses.items() if text}
    if not told and shown and not any(r in NOT_SHOWN for r in rules):
        return False, "%s is not refused, but %s" % (name, shown)
    if told and not shown and kept and not any(r in NOT_SHOWN for r in rules) and \
            any(f["objects"]["affected"] for f in verdict["findings"]):
        return False, "%s is refused (%s), but nothing is lost" % (name, rules)
    return True, "%s: %s, %s" % (name, verdict["outcome"], shown or "nothing lost")


def main():
    jobs = [(i, row, back) for i, row in enumerate(rows()) for back in (False, True)]
    n = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for (i, row, back), (good, text) in zip(jobs, pool.map(lambda j: try_row(*j), jobs)):
            n += 1
            title = "%s %s" % (row[0], "B->A" if back else "A->B")
            if good is None:
                print("ok %d - %s # SKIP %s" % (n, title, text.replace("\n", " ")))
            elif good:
                print("ok %d - %s" % (n, title))
            else:
                print("not ok %d - %s\n    # %s" % (n, title, text))
    print("1..%d" % n)


main()
