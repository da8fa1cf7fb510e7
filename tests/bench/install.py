"""install.py ALM DIR: AppTypes of one catalog, each with a chart of its own, installed all at once, then upgraded all at
once, with `alm up` and with `alm server` and `alm controller` apart. What one app costs shall be the same with a hundred
beside it and with a thousand.

APPS="100 300 1000", OBJECTS=10 (a chart's), MODES="up apart", WAVE=0 leaves the upgrade out, PARSES=1 counts JSON parses (root
and perf; slower). Each line is one phase of one run: CPU of the program (the sandboxes' children not), memory at its
peak and REST seconds after the last, then CPU and writes in as many seconds at rest, and the turns of its loop."""
import io, json, os, re, shutil, signal, ssl, subprocess, sys, tarfile, time, urllib.error, urllib.request

ALM, ROOT = os.path.realpath(sys.argv[1]), sys.argv[2]
APPS = [int(n) for n in os.environ.get("APPS", "100 300 1000").split()]
OBJECTS, REST, LIMIT = (int(os.environ.get(k, d)) for k, d in (("OBJECTS", 10), ("REST", 10), ("LIMIT", 900)))
MODES, WAVE, PARSES = os.environ.get("MODES", "up apart").split(), os.environ.get("WAVE", "1") == "1", "PARSES" in os.environ
METRICS = f"127.0.0.1:{18000 + os.getpid() % 2000}"
ROW = "%-10s %-7s %5s %6s %8s %7s %8s %9s %9s %9s %7s %-28s %s"


def chart(n, version, folder):
    files = {"Chart.yaml": f"apiVersion: v2\nname: web{n}\nversion: {version}\n"}
    for i in range(OBJECTS - 1):
        files[f"templates/cm{i}.yaml"] = (f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web{n}-{i}}}\n"
                                          f"data: {{v: '{version}', text: {'x' * 200}}}\n")
    files["templates/svc.yaml"] = (f"apiVersion: v1\nkind: Service\nmetadata: {{name: web{n}}}\n"
                                   "spec: {ports: [{port: 80}]}\n")
    name = f"{folder}/web{n}-{version}.tgz"
    with tarfile.open(name + ".part", "w:gz") as tar:
        for path, text in files.items():
            info = tarfile.TarInfo(f"web{n}/{path}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    os.rename(name + ".part", name)


PROGRAMS = []  # those that run


class Program:
    """One process of alm: what it used since the last look."""

    def __init__(self, name, *arguments):
        self.name, self.cpu_before = name, 0.0
        self.log = open(f"{ROOT}/{name}.log", "w")
        self.p = subprocess.Popen([ALM, *arguments], stdout=self.log, stderr=self.log)

    def cpu(self):
        fields = open(f"/proc/{self.p.pid}/stat").read().rsplit(")", 1)[1].split()
        now = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        used, self.cpu_before = now - self.cpu_before, now
        return used

    def memory(self, key):
        return int(re.search(rf"^{key}:\s*(\d+)", open(f"/proc/{self.p.pid}/status").read(), re.M)[1]) // 1024

    def forget_peak(self):
        open(f"/proc/{self.p.pid}/clear_refs", "w").write("5")

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait(60)


class Server:
    def __init__(self, kubeconfig):
        until(lambda: os.path.exists(kubeconfig) and "token" in open(kubeconfig).read(), "a kubeconfig")
        text = open(kubeconfig).read()
        self.url, self.token = re.search(r"server: (\S+)", text)[1], re.search(r"token: (\S+)", text)[1]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))

    def get(self, path):
        r = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}"})
        with self.opener.open(r, timeout=60) as answer:
            return answer.read().decode()

    def installed(self, version):
        items = json.loads(self.get("/apis/app.coreos.com/v1beta1/apps"))["items"]
        return sum(i.get("status", {}).get("installedVersion") == version for i in items)

    def revision(self):
        return int(json.loads(self.get("/api/v1/namespaces?limit=1"))["metadata"]["resourceVersion"])


def until(true, what, pause=0.1):
    end = time.monotonic() + LIMIT
    while True:
        try:
            if true():
                return
        except OSError:
            pass
        ended = [p.name for p in PROGRAMS if p.p.poll() is not None]
        if ended or time.monotonic() > end:
            said = "".join(open(p.log.name).read()[-500:] for p in PROGRAMS if p.name in ended)
            sys.exit(f"no {what}: " + (f"{ended[0]} ended: {said}" if ended else f"{LIMIT} s are over; logs in {ROOT}"))
        time.sleep(pause)


def turns(text, before):
    """The new turns of the loop by length, and all that were."""
    seen = {b: int(n) for b, n in re.findall(r'alm_loop_turn_seconds_bucket\{le="([^"]+)"\} (\d+)', text)}
    new = {b: n - before.get(b, 0) for b, n in seen.items()}
    total, in20, in100 = new.get("+Inf", 0), new.get("0.02", 0), new.get("0.1", 0)
    return f"{total} turns, {total - in20} > 20 ms, {total - in100} > 100 ms", seen


def metrics_of(server, program):
    if program.name != "controller":
        return server.get("/metrics")
    return server.opener.open(f"http://{METRICS}/metrics", timeout=60).read().decode()


def phase(what, n, server, programs, perf, version):
    begin = time.monotonic()
    until(lambda: server.installed(version) == n, f"{n} apps with {version}", 1)
    seconds, used = time.monotonic() - begin, [p.cpu() for p in programs]
    counted = perf.end() if perf else "-"
    time.sleep(REST)
    for p in programs:
        p.cpu()
    revision = server.revision()
    time.sleep(REST)
    writes = server.revision() - revision
    for p, cpu in zip(programs, used):
        text, p.turns = turns(metrics_of(server, p), p.turns)
        print(ROW % (p.name, what, n, OBJECTS, "%.1f" % seconds, "%.1f" % cpu, "%.1f" % (cpu / n * 1000), p.memory("VmHWM"),
                     p.memory("VmRSS"), "%.1f" % p.cpu(), writes, text, counted), flush=True)
        p.forget_peak()


class Perf:
    """JSON parses of all programs, by a probe."""

    def __init__(self, programs):
        self.p = subprocess.Popen(["perf", "stat", "-x ", "-e", "bench_alm:parses", "-o", f"{ROOT}/parses", "-p",
                                   ",".join(str(p.p.pid) for p in programs)])

    def end(self):
        self.p.send_signal(signal.SIGINT)
        self.p.wait()
        return next(line.split()[0] for line in open(f"{ROOT}/parses") if "parses" in line)


def run(mode, n):
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(f"{ROOT}/catalog")
    for i in range(1, n + 1):
        chart(i, "1.0.0", f"{ROOT}/catalog")
    control = ["--metrics-listen", METRICS, "--verify-soak", "1s", "--catalog-root", f"{ROOT}/catalog"]
    kubeconfig = f"{ROOT}/d/kubeconfig"
    first = Program("up" if mode == "up" else "server", "up" if mode == "up" else "server", "--data-dir", f"{ROOT}/d", "--listen",
                    "127.0.0.1:0", *(control if mode == "up" else ["--simulate-workloads"]))
    programs = PROGRAMS
    programs[:] = [first]
    try:
        server = Server(kubeconfig)
        until(lambda: server.get("/readyz") == "ok", "server")
        if mode != "up":
            programs.append(Program("controller", "controller", "--data-dir", f"{ROOT}/c", "--kubeconfig", kubeconfig, *control))
        until(lambda: server.installed("") == 0, "AppTypes served")
        time.sleep(2)
        for p in programs:
            p.idle = p.memory("VmRSS")
            p.turns = turns(metrics_of(server, p), {})[1]
        print(f"{mode}: idle " + ", ".join(f"{p.name} {p.idle} MiB" for p in programs), flush=True)
        apps = "".join(f"---\napiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {{name: web{i}}}\n"
                       "spec: {type: org.example}\n" for i in range(1, n + 1))
        env = {**os.environ, "KUBECONFIG": kubeconfig}
        subprocess.run(["kubectl", "create", "-f", "-"], input=apps.encode(), env=env, stdout=subprocess.DEVNULL, check=True)
        for p in programs:
            p.cpu()
        perf = Perf(programs) if PARSES else None
        subprocess.run([ALM, "catalog", "add", "bench", f"dir://{ROOT}/catalog", "--interval", "1h"], env=env,
                       stdout=subprocess.DEVNULL, check=True)
        phase("install", n, server, programs, perf, "1.0.0")
        if WAVE:
            perf = Perf(programs) if PARSES else None
            for i in range(1, n + 1):
                chart(i, "1.1.0", f"{ROOT}/catalog")
            phase("upgrade", n, server, programs, perf, "1.1.0")
    finally:
        for p in reversed(programs):
            p.stop()


def main():
    if PARSES:
        subprocess.run(["perf", "probe", "-q", "-x", ALM, "bench_alm:parses=json_parse"], check=True)
    print(ROW % ("program", "phase", "apps", "objs", "seconds", "CPU s", "ms/app", "peak MiB", "rest MiB", "rest CPU", "writes",
                 "turns", "parses"), flush=True)
    try:
        for mode in MODES:
            for n in APPS:
                run(mode, n)
    finally:
        if PARSES:
            subprocess.run(["perf", "probe", "-q", "-d", "bench_alm:*"], check=True)


if __name__ == "__main__":
    main()
