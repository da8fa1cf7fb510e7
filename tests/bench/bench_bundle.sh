#!/bin/bash
# bench_bundle.sh: a Bundle on `alm up`: from a push to the last of its 10 objects, told by the hook and found by the interval (PUSHES=20 each);
# and 1,000 objects with nothing to do: requests that write and CPU, over 30 polls. Limits: p50 of 1 s, 0 writes.
set -euo pipefail
ALM=${ALM:-build/alm}
PUSHES=${PUSHES:-20}
OBJECTS=${OBJECTS:-1000}
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir "$work/root"
for r in ten many; do
	git init -q --bare -b main "$work/root/$r.git"
	git clone -q "$work/root/$r.git" "$work/$r" 2>/dev/null
	git -C "$work/$r" checkout -q -b main
done
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$ALM" up --data-dir "$work/d" --listen 127.0.0.1:0 --metrics-listen "127.0.0.1:$port" --hooks-listen 127.0.0.1:0 --catalog-root "$work/root" >"$work/log" 2>"$work/err" &
pid=$!
until grep -qs "hooks of git on" "$work/log"; do sleep 0.05; done
export KUBECONFIG=$work/d/kubeconfig
kubectl create namespace alm-system --dry-run=client -o yaml | kubectl apply -f - >/dev/null 2>&1
kubectl create secret generic hook -n alm-system --type=app.coreos.com/git-hook --from-literal=secret=0123456789abcdef >/dev/null
bundle() { # NAME INTERVAL
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: %s}\nspec: {source: {git: {url: "file://%s/root/%s.git", hookSecretRef: {name: hook}}}, trigger: {interval: %s}}\n' "$1" "$work" "$1" "$2" |
		kubectl apply -f - >/dev/null
}
export work pid port PUSHES OBJECTS hooks api
hooks=$(sed -n 's/.* hooks of git on //p' "$work/log")
api=$(sed -n 's|^[^:]*: https://\([^,]*\), .*|\1|p' "$work/log")
cat >"$work/measure.py" <<'P'
import hashlib, hmac, http.client, json, os, re, ssl, subprocess, sys, time, urllib.request

work, pid = os.environ["work"], os.environ["pid"]
tls = ssl.create_default_context(cafile=f"{work}/d/ca.crt")
api = http.client.HTTPSConnection(os.environ["api"], context=tls)
token = open(f"{work}/d/token").read().strip()
TICK = os.sysconf("SC_CLK_TCK")


def get(path):
    api.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    return json.loads(api.getresponse().read())


def git(repo, *args):
    subprocess.run(["git", "-C", f"{work}/{repo}", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def push(repo, n, value):
    for i in range(n):
        with open(f"{work}/{repo}/{repo}{i:04}.yaml", "w") as f:
            f.write(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {repo}{i:04}}}\ndata: {{v: '{value}'}}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", f"push {value}")
    git(repo, "push", "-q", "origin", "main")


def hook():
    body = json.dumps({"ref": "refs/heads/main", "repository": {"clone_url": f"file://{work}/root/ten.git"}}).encode()
    sign = hmac.new(b"0123456789abcdef", body, hashlib.sha256).hexdigest()
    urllib.request.urlopen(urllib.request.Request(os.environ["hooks"], body, {"X-Hub-Signature-256": f"sha256={sign}"})).read()


def applied(n, value):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        got = get("/api/v1/namespaces/default/configmaps?labelSelector=app.coreos.com/bundle%3Dten")["items"]
        if len(got) == n and all(o["data"]["v"] == str(value) for o in got):
            return time.monotonic()
        time.sleep(0.01)
    sys.exit(f"push {value} is not applied after 120 s")


def state(name):
    status = get(f"/apis/app.coreos.com/v1alpha1/bundles/{name}").get("status", {})
    return status.get("state"), status.get("objects")


def until(name, want):
    end = time.monotonic() + 300
    while state(name) != want:
        if time.monotonic() > end:
            sys.exit(f"{name} is {state(name)} after 300 s")
        time.sleep(0.05)


def writes():
    text = urllib.request.urlopen(f"http://127.0.0.1:{os.environ['port']}/metrics").read().decode()
    rows = re.findall(r'^alm_api_requests_total(\{.*\}) (\d+)$', text, re.M)
    return sum(int(n) for labels, n in rows if re.search(r'verb="(create|update|patch|apply|delete|deletecollection)"', labels)
               and 'resource="leases"' not in labels)


def cpu():
    f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(x) for x in f[11:15]) / TICK


def percentiles(times):
    times = sorted(times)
    return f"p50 {times[len(times) // 2]:.3f} s, worst {times[-1]:.3f} s of {len(times)}"


def pushes(first, told):
    times = []
    for i in range(first, first + int(os.environ["PUSHES"])):
        push("ten", 10, i)
        began = time.monotonic()
        if told:
            hook()
        times.append(applied(10, i) - began)
        until("ten", ("Synced", 10))
    return times


what = sys.argv[1]
if what == "hook":
    push("ten", 10, 0)
    hook()
    applied(10, 0)
    until("ten", ("Synced", 10))
    times = pushes(1, True)
    print(f"push to the last of 10 objects, by the hook: {percentiles(times)} (limit 1 s)")
    sys.exit(sorted(times)[len(times) // 2] > 1)
if what == "poll":
    until("ten", ("Synced", 10))
    print(f"push to the last of 10 objects, by an interval of 1 s: {percentiles(pushes(1000, False))} (limit 2 s)")
if what == "idle":
    n = int(os.environ["OBJECTS"])
    push("many", n, 1)
    until("many", ("Synced", n))
    time.sleep(2)
    before, spent = writes(), cpu()
    time.sleep(30)
    wrote, spent = writes() - before, cpu() - spent
    print(f"{n} objects, nothing to do, 30 polls: {wrote} requests that write (limit 0), CPU {spent / 30 * 1000:.0f} ms a poll")
    sys.exit(wrote > 0)
P
bundle ten 1h
python3 "$work/measure.py" hook
bundle ten 1s
python3 "$work/measure.py" poll
kubectl delete bundle ten >/dev/null
bundle many 1s
python3 "$work/measure.py" idle
