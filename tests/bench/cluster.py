"""cluster.py ALM DIR, with KUBECONFIG and HELM: what installs cost on a real Kubernetes, by one `alm controller` and by helm in the same
run.

One: the demo's operator (12 objects), from the create of its AppType to Ready, and `helm install --wait` of the same chart.
Requests: of an install of OBJECTS objects, counted on their way by tests/e2e/request_recorder.py.
Many: APPS="100 1000" AppTypes at once; seconds, CPU and memory of the controller, and what the API server takes for as many creates alone,
eight at a time as ALM sends them; `helm install --wait`, one after the other.
Rest: requests in REST=60 seconds and memory, with all of them installed.

ONE=5 times, COUNTED=10 apps, HELMS=10."""
import concurrent.futures, http.client, json, os, re, shutil, ssl, statistics, subprocess, sys, threading, time
import install
from install import ALM, OBJECTS, PROGRAMS, ROOT, Program, Server, until

APPS = [int(n) for n in os.environ.get("APPS", "100 1000").split()]
ONE, COUNTED, HELMS, REST = (int(os.environ.get(k, d)) for k, d in (("ONE", 5), ("COUNTED", 10), ("HELMS", 10), ("REST", 60)))
KUBECONFIG, HELM = os.environ["KUBECONFIG"], os.environ["HELM"]
CATALOGS = f"{ROOT}/catalogs"  # no catalog may lie in a folder that holds the log
HERE = os.path.dirname(os.path.realpath(__file__))
DEMO = f"{HERE}/../../deploy/demo"
INSECURE = ["--insecure-skip-tls-verify"] if "insecure-skip-tls-verify: true" in open(KUBECONFIG).read() else []
SERVER = Server(KUBECONFIG)
LOCAL = threading.local()


def call(method, path, body=None, content="application/json"):
    """Status and answer, over a connection that each thread keeps until the server ends it."""
    for is_last in (False, True):
        if not hasattr(LOCAL, "c"):
            LOCAL.c = http.client.HTTPSConnection(SERVER.url.removeprefix("https://"), context=ssl._create_unverified_context(), timeout=60)
        try:
            LOCAL.c.request(method, path, json.dumps(body) if body else None,
                            {"Authorization": "Bearer " + SERVER.token, "Content-Type": content})
            answer = LOCAL.c.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            del LOCAL.c
            if is_last:
                raise


def created(path, body):
    status, text = call("POST", path, body)
    if status not in (201, 409):
        sys.exit(f"POST {path}: {status} {text[:300]}")


def quiet(*command, **more):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)


def app(name, kind):
    return {"apiVersion": "app.coreos.com/v1beta1", "kind": "AppType", "metadata": {"name": name}, "spec": {"type": kind}}


APPTYPES = "/apis/app.coreos.com/v1beta1/apps"


def controller(folder, kubeconfig=KUBECONFIG, insecure=INSECURE):
    p = Program("controller", "controller", "--data-dir", folder, "--kubeconfig", kubeconfig, *insecure, "--metrics-listen", "off",
                "--verify-soak", "0s", "--catalog-root", CATALOGS)
    PROGRAMS[:] = [p]
    until(lambda: SERVER.installed("") >= 0, "AppTypes served")
    return p


def catalog(name):
    quiet(ALM, *INSECURE, "catalog", "add", name, f"dir://{CATALOGS}/{name}", "--interval", "1h")


def helm_install(name, archive):
    begin = time.monotonic()
    quiet(HELM, "install", name, archive, "-n", f"h-{name}", "--create-namespace", "--wait")
    return time.monotonic() - begin


def gone(*names):
    """Deletes them until none is there: a definition that is left for a moment brings its app back."""
    def missing():
        quiet("kubectl", "delete", *names, "--ignore-not-found", "--timeout=60s", stderr=subprocess.DEVNULL)
        time.sleep(1)
        return not subprocess.run(["kubectl", "get", *names, "--ignore-not-found", "-o", "name"], capture_output=True).stdout
    until(missing, "end of " + names[0])


def one(p):
    """With the controller p, which is stopped for helm's: a definition that names its owner would bring the app again."""
    os.makedirs(f"{CATALOGS}/one")
    quiet(f"{DEMO}/package.sh", "0.9.4", f"{CATALOGS}/one", env={**os.environ, "ALM": ALM})
    catalog("one")
    ours, helms = [], []
    for _ in range(ONE):
        time.sleep(2)
        begin = time.monotonic()
        created(APPTYPES, app("etcd", "com.tectonic.storage"))
        until(lambda: b'"installedVersion":"0.9.4"' in call("GET", APPTYPES + "/etcd")[1], "installed operator", 0.01)
        ours.append(time.monotonic() - begin)
        gone("apptypes.app.coreos.com/etcd", "crd/etcds.etcd.coreos.com", "namespace/etcd")
    p.stop()
    PROGRAMS.clear()
    for _ in range(ONE):
        helms.append(helm_install("etcd", f"{CATALOGS}/one/etcd-operator-0.9.4.tgz"))
        quiet(HELM, "uninstall", "etcd", "-n", "h-etcd")
        gone("crd/etcds.etcd.coreos.com", "namespace/h-etcd")
    shown = [f"{name} {statistics.median(t):.2f} s ({' '.join(f'{s:.2f}' for s in t)})" for name, t in (("alm", ours), ("helm", helms))]
    print("one operator of 12 objects, create to Ready: " + ", ".join(shown), flush=True)


def many(first, n, name, pause=0.5):
    """n apps of a catalog of their own, from the creates to the last one that is installed; it is looked every pause seconds."""
    os.makedirs(f"{CATALOGS}/{name}")
    for i in range(first, first + n):
        install.chart(i, "1.0.0", f"{CATALOGS}/{name}")
        created(APPTYPES, app(f"web{i}", "org.example"))
    before, begin = SERVER.installed("1.0.0"), time.monotonic()
    catalog(name)
    until(lambda: SERVER.installed("1.0.0") - before == n, f"{n} apps", pause)
    return time.monotonic() - begin


def alone(n):
    """Seconds of n creates and nothing else."""
    created("/api/v1/namespaces", {"metadata": {"name": "alone"}})
    body = lambda i: {"metadata": {"name": f"c{i}"}, "data": {"v": "1.0.0", "text": "x" * 200}}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: created("/api/v1/namespaces/alone/configmaps", body(i)), range(n)))
    return time.monotonic() - begin


class Relay:
    """tests/e2e/request_recorder.py, and a kubeconfig that leads through it."""

    def __init__(self):
        self.log = f"{ROOT}/requests"
        quiet("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1",
              "-days", "2", "-keyout", f"{ROOT}/key.pem", "-out", f"{ROOT}/cert.pem", stderr=subprocess.DEVNULL)
        host, _, port = SERVER.url.removeprefix("https://").partition(":")
        self.p = subprocess.Popen([sys.executable, f"{HERE}/../e2e/request_recorder.py", f"{ROOT}/port", f"{ROOT}/cert.pem",
                                   f"{ROOT}/key.pem", host, port or "443", self.log])
        until(lambda: os.path.getsize(f"{ROOT}/port") > 0, "relay")
        self.kubeconfig = f"{ROOT}/through"
        with open(self.kubeconfig, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{open(f'{ROOT}/port').read()}",
                                                             "certificate-authority": f"{ROOT}/cert.pem"}}],
                       "users": [{"name": "u", "user": {"token": SERVER.token}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, f)

    def counts(self, since=0):
        """Lines so far, and how many of each sort came after since."""
        lines = open(self.log).read().splitlines() if os.path.exists(self.log) else []
        sorts = {"writes": 0, "reviews": 0, "reads": 0, "watches": 0, "Lease": 0, "anchor": 0}
        for method, target, *_ in (line.split() for line in lines[since:]):
            sort = ("Lease" if "/leases/" in target else "anchor" if "alm-audit-anchor" in target else
                    "reviews" if re.search("(access|rules)reviews", target) else
                    "writes" if method != "GET" else "watches" if "watch=" in target else "reads")
            sorts[sort] += 1
        return len(lines), sorts


def shown(sorts, each=1):
    return ", ".join(f"{n / each:.1f} {sort}" for sort, n in sorts.items() if n)


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(ROOT)
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    relay = Relay()
    try:
        p = controller(f"{ROOT}/log", relay.kubeconfig, [])
        time.sleep(3)
        since = relay.counts()[0]
        many(1, COUNTED, "counted")
        time.sleep(5)
        sorts = relay.counts(since)[1]
        each = sum(v for k, v in sorts.items() if k not in ("Lease", "anchor")) / COUNTED
        print(f"requests of an install of {OBJECTS} objects: {each:.1f} ({shown(sorts, COUNTED)})", flush=True)
        p.stop()
        p = controller(f"{ROOT}/log")
        time.sleep(2)
        one(p)
        p = controller(f"{ROOT}/log")
        time.sleep(5)
        print(f"idle: {p.memory('VmRSS')} MiB", flush=True)
        rate = 2000 / alone(2000)
        first = COUNTED + 1
        for n in APPS:
            p.cpu()
            p.forget_peak()
            seconds = many(first, n, f"c{n}")
            first += n
            print(f"{n} apps: {seconds:.1f} s, CPU {p.cpu():.1f} s, peak {p.memory('VmHWM')} MiB; {n * each:.0f} creates alone: "
                  f"{n * each / rate:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
        times = [helm_install(f"web{i}", f"{CATALOGS}/c{APPS[0]}/web{i}-1.0.0.tgz") for i in range(COUNTED + 1, COUNTED + 1 + HELMS)]
        print(f"helm install --wait of the same chart: {statistics.mean(times) * 1000:.0f} ms each", flush=True)
        time.sleep(10)
        print(f"at rest with {first - 1} apps: {p.memory('VmRSS')} MiB", flush=True)
        p.stop()
        p = controller(f"{ROOT}/log", relay.kubeconfig, [])
        time.sleep(45)
        p.cpu()
        since = relay.counts()[0]
        time.sleep(REST)
        print(f"{REST} s at rest: {shown(relay.counts(since)[1])}; CPU {p.cpu():.1f} s; after a restart {p.memory('VmRSS')} MiB, peak "
              f"{p.memory('VmHWM')} MiB", flush=True)
    finally:
        for p in PROGRAMS:
            p.stop()
        relay.p.terminate()


if __name__ == "__main__":
    main()
