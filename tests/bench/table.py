"""table.py ALM LOAD: what bench_table.sh says. Prints a row a figure: ours, theirs, the ratio or the limit, and whether it is met."""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

ALM, LOAD = sys.argv[1], sys.argv[2]
PORT, ROUNDS = int(os.environ.get("PORT", 28443)), int(os.environ.get("ROUNDS", 1))
IDLE, SCALE = int(os.environ.get("IDLE", 10)), int(os.environ.get("SCALE", 30000))
TICKS = os.sysconf("SC_CLK_TCK")
CONTEXT = ssl._create_unverified_context()
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
    "type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 0}, "at": {"type": "string"}, "text": {"type": "string"},
        "color": {"type": "string", "default": "red"}}}}}}}
missed = []


class Server:
    """Its programs, and how it is asked."""

    def __init__(self, name, port, token, pids):
        self.name, self.port, self.token, self.pids, self.made = name, port, token, pids, 0

    def ask(self, method, path, body=None):
        r = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", method=method, data=body and json.dumps(body).encode(),
                                   headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        with urllib.request.urlopen(r, context=CONTEXT, timeout=120) as answer:
            return answer.read()

    def kib(self):
        status = [pathlib.Path(f"/proc/{p}/status").read_text() for p in self.pids]
        return sum(int(re.search(r"VmRSS:\s+(\d+)", s)[1]) for s in status)

    def cpu_s(self):
        return sum(sum(map(int, pathlib.Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) for p in self.pids) / TICKS

    def load(self, mode, *words):
        out = subprocess.run([LOAD, str(self.port), self.token, mode, *map(str, words)], capture_output=True, text=True)
        if out.returncode and mode == "watch" and self.name == "kube":
            return [0, float("inf"), float("inf"), 0]  # it cuts watchers that it has no time for
        if out.returncode:
            sys.exit(f"table: {self.name}: {mode} {words}: {out.stderr}{out.stdout}: an answer was no 2xx, or an event was missed")
        return [float(x) for x in out.stdout.split()]

    def create(self, clients, n):
        self.made += n
        return self.load("create", clients, n, self.made - n)

    def enter(self, namespace):
        """Where nothing is yet."""
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        os.environ["NAMESPACE"] = namespace

    def define(self, i):
        plural = f"w{i}s" if i else "ws"
        kind = f"W{i}" if i else "W"
        self.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": plural + ".e.io"},
            "spec": {"group": "e.io", "scope": "Namespaced", "names": {"plural": plural, "singular": plural[:-1], "kind": kind,
                                                                       "listKind": kind + "List"}, "versions": [VERSION]}})


def answers(port):
    try:
        r = urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", context=CONTEXT, timeout=2)
        return r.status == 200
    except OSError:
        return False


def wait(port, p, what):
    deadline = time.monotonic() + 60
    while not answers(port):
        if time.monotonic() > deadline or p.poll() is not None:
            sys.exit(f"table: {what} does not answer")
        time.sleep(0.001)


def ours(work):
    begin = time.monotonic()
    p = subprocess.Popen([ALM, "server", "--data-dir", work + "/alm", "--listen", f"127.0.0.1:{PORT + 9}", "--metrics-listen", f"127.0.0.1:{PORT + 8}"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(PORT + 9, p, "alm server")
    ms = (time.monotonic() - begin) * 1e3
    token = re.search(r"token: (\S+)", pathlib.Path(work, "alm/kubeconfig").read_text())[1]
    return Server("alm", PORT + 9, token, [p.pid]), ms, p


def theirs(work):
    """Its controllers are stopped, and the API server is started once more, as only that is timed."""
    folder = work + "/oracle"
    subprocess.run([os.environ["ORACLE"], "start", folder, str(PORT)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid = {f.stem: int(f.read_text()) for f in pathlib.Path(folder).glob("*.pid")}
    command = pathlib.Path(f"/proc/{pid['api']}/cmdline").read_text().split("\0")[:-1]
    for name in pid.keys() - {"etcd"}:
        os.kill(pid[name], 15)
    while answers(PORT) or pathlib.Path(f"/proc/{pid['api']}/cmdline").exists() and pathlib.Path(f"/proc/{pid['api']}/cmdline").read_text():
        time.sleep(0.05)
    begin = time.monotonic()
    with open(folder + "/api.log", "w") as log:
        p = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    pathlib.Path(folder, "api.pid").write_text(str(p.pid))
    wait(PORT, p, "kube-apiserver")
    return Server("kube", PORT, "admintoken", [p.pid, pid["etcd"]]), (time.monotonic() - begin) * 1e3


def row(what, a, b, unit, least=None, most=None, up=True):
    """least: our figure is so many times theirs, or (up false) theirs so many times ours; most: a limit of ours."""
    ratio = (a / b if up else b / a) if a and b else 0
    met = (least is None or ratio >= least) and (most is None or a <= most)
    goal = f"x {least:g}" if least else f"<= {most:g}" if most is not None else "none"
    print(f"{what:<52}{a:>12.4g}{b:>12.4g} {unit:<9} x{ratio:<7.2f} goal {goal:<8} {'' if met else 'NOT MET'}", flush=True)
    if not met:
        missed.append(what)



def best(servers, fn, pick):
    """fn of each server in turn, ROUNDS times: its best."""
    found = [[], []]
    for _ in range(ROUNDS):
        for i, s in enumerate(servers):
            found[i].append(fn(s))
    return [pick(f) for f in found]


def rates(servers):
    for clients in (1, 16, 64):
        n = 2000 if clients == 1 else 4000
        a, b = best(servers, lambda s: s.create(clients, n)[0], max)  # noqa: B023
        row(f"creates/s, {clients} clients", a, b, "1/s", least=5)
    for clients in (1, 16, 64):
        n = 2000 if clients == 1 else 5000
        a, b = best(servers, lambda s: s.load("patch", clients, n, 0)[0], max)  # noqa: B023
        row(f"merge patches/s, {clients} clients", a, b, "1/s", least=5)
    for clients in (1, 16, 64):
        n = 4000 if clients == 1 else 16000
        a, b = best(servers, lambda s: s.load("get", clients, n, 0)[0], max)  # noqa: B023
        row(f"gets/s, {clients} clients", a, b, "1/s", least=5)


def lists(servers):
    for n, most in ((6500, 60), (SCALE, None)):
        for s in servers:
            if s.made < n:
                s.create(16, n - s.made)
        a, b = best(servers, lambda s: s.load("list", 5)[1], min)
        row(f"a list of {n} objects", a, b, "ms", least=5, most=most, up=False)


def create_cost(s, n):
    before = s.cpu_s()
    s.create(16, n)
    return (s.cpu_s() - before) / n * 1e6


def watches(servers):
    for watchers, rate, n, goals in ((1, 0, 500, (0.5, None)), (100, 1000, 5000, (None, 50)), (1000, 50, 500, (None, None))):
        out = []
        for s in servers:
            s.enter(f"watch-{watchers}")
            out.append(s.load("watch", watchers, rate, n, 0))
        what = f"POST to event, {watchers} watchers, {rate or 'one by one'}/s"
        row(what + ", p50", out[0][1], out[1][1], "ms", most=goals[0], up=False)
        row(what + ", p99", out[0][2], out[1][2], "ms", most=goals[1], up=False)


def memory_of(servers):
    out = []
    for s in servers:
        s.enter("hold")
        before = s.kib()
        p = subprocess.Popen([LOAD, str(s.port), s.token, "hold", "1000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdout.readline()
        time.sleep(2)
        out.append((s.kib() - before) / 1000)
        p.communicate(b"\n")
    row("an idle watch", *out, "KiB", most=8, up=False)
    out = []
    for s in servers:
        before = s.kib()
        for i in range(1, 51):
            s.define(i)
        time.sleep(3)
        out.append((s.kib() - before) / 50)
    row("a further CRD", *out, "KiB", most=50, up=False)


def idle(servers):
    out = []
    for s in servers:
        before = s.cpu_s()
        time.sleep(IDLE)
        out.append((s.cpu_s() - before) / IDLE * 100)
    row("processor while idle", *out, "%", most=1, up=False)


def longest_turn():
    text = urllib.request.urlopen(f"http://127.0.0.1:{PORT + 8}/metrics", timeout=10).read().decode()
    turns = [float(x) for x in re.findall(r"^alm_loop_longest_turn_seconds\S* (\S+)", text, re.M)]
    row("longest turn of the loop so far", max(turns) * 1e3, 0, "ms", most=20)


def main():
    work = tempfile.mkdtemp()
    p = None
    try:
        kube, kube_ms = theirs(work)
        alm, alm_ms, p = ours(work)
        servers = [alm, kube]
        row("start to the first answer", alm_ms, kube_ms, "ms", most=100, up=False)
        time.sleep(3)
        row("memory while idle", alm.kib() / 1024, kube.kib() / 1024, "MiB", most=20, up=False)
        idle(servers)
        for s in servers:
            s.define(0)
        time.sleep(2)
        cost = [create_cost(s, 5000) for s in servers]
        row("processor of a create, the first 5,000", *cost, "us", up=False)
        for s in servers:
            s.create(16, 2500)
        row("memory with 7,500 objects", alm.kib() / 1024, kube.kib() / 1024, "MiB", most=40, up=False)
        rates(servers)
        lists(servers)
        later = [create_cost(s, 5000) for s in servers]
        row("processor of a create beyond all these", *later, "us", up=False)
        row("  times that of the first", later[0] / cost[0], later[1] / cost[1], "", most=1.5)
        longest_turn()
        memory_of(servers)  # before others were held, whose memory would be used again
        watches(servers)
        longest_turn()
    finally:
        if p:
            p.kill()
            p.wait()
        subprocess.run([os.environ["ORACLE"], "stop", work + "/oracle"], stdout=subprocess.DEVNULL, check=False)
        shutil.rmtree(work, ignore_errors=True)
    print(f"not met: {', '.join(missed) or 'none'}")


main()
