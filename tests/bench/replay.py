"""replay.py ALM DIR, with CLUSTER, a program that has `CLUSTER start DIR PORT` and `CLUSTER stop DIR` and whose API server writes
DIR/audit.log (bench_replay.sh has one): APPS="100 1000" AppTypes, installed by `alm controller` on a new cluster, then the requests of that run
alone, on another new cluster: what the API server, its controllers and their disk need for them without ALM.

The requests are those of ALM and of this program, from the audit log: bodies of writes as they were, reads, reviews and watches. At most
WRITES are on their way at once, as ALM sends them, and never more requests than were at once. One waits for those of its app that had
been answered before it was sent, and for no other: the server is given the work as fast as it takes it. uids and resourceVersions are
those of the second cluster. The replaying program's own CPU is told: it runs beside the server as ALM did."""
import calendar, collections, concurrent.futures, contextlib, heapq, itertools, json, os, re, shutil, socket, ssl, subprocess, sys, threading, time

ROOT, CLUSTER = os.path.abspath(sys.argv[2]), os.environ["CLUSTER"]
APPS = [int(n) for n in os.environ.get("APPS", "100 1000").split()]
PORT, WRITES = int(os.environ.get("PORT", "46443")), 8
HERE = f"{ROOT}/cluster"
MINE = re.compile("$|alm|Python")  # whose requests: User-Agent
OWNERS = ("AppType", "InstallStrategy")
VERSION = re.compile(rb'"resourceVersion":"(\d+)"')
LENGTH = re.compile(rb"(?i)\ncontent-length: *(\d+)")


def seconds(stamp):
    return calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) + float("0" + stamp[19:-1])


class Request:
    """One line of the audit log."""

    def __init__(self, line):
        self.uri, self.code = line["requestURI"], line.get("responseStatus", {}).get("code", 0)
        self.begin, self.end = seconds(line["requestReceivedTimestamp"]), seconds(line["stageTimestamp"])
        self.body, self.user = line.get("requestObject"), line.get("impersonatedUser", {}).get("username")
        self.path = re.sub(r"(/status)?(\?.*)?$", "", self.uri)
        self.method = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}.get(line["verb"], "GET")
        self.writes = self.method != "GET"
        self.is_watch = line["verb"] == "watch"
        app = re.search(r"web\d+", self.uri + json.dumps(self.body or 0))
        self.group = app[0] if app else self.path
        self.before, self.after, self.owners = 0, [], []  # how many it waits for, which wait for it
        if isinstance(self.body, dict):
            meta = self.body.get("metadata", {})
            self.owners = meta.get("ownerReferences", [])
            if self.method != "PUT":
                meta.pop("resourceVersion", None)
            meta.pop("uid", None)
            self.body.pop("preconditions", None)
            if self.method == "POST" and "name" in meta:
                self.path += "/" + meta["name"]

    def kind(self):
        if self.method != "PATCH":
            return "application/json"
        return ("application/apply-patch+yaml" if "force=" in self.uri else
                "application/json-patch+json" if isinstance(self.body, list) else "application/merge-patch+json")

    def bytes(self, seen):
        """As it is sent; seen: resourceVersions of what was written, by path, and uids of owners."""
        text, target = b"", re.sub("&resourceVersion=[0-9]+", "", self.uri)
        if self.writes:
            for owner in self.owners:
                owner["uid"] = seen[owner["kind"], owner["name"]]
            if self.method == "PUT" and self.path in seen:
                self.body["metadata"]["resourceVersion"] = seen[self.path]
            text = json.dumps(self.body).encode() if self.body is not None else b""
        head = f"{self.method} {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admintoken\r\nAccept: application/json\r\n"
        if self.user:
            head += f"Impersonate-User: {self.user}\r\n"
        return (head + f"Content-Type: {self.kind()}\r\nContent-Length: {len(text)}\r\n\r\n").encode() + text


class Connection:
    def __init__(self):
        self.s = ssl._create_unverified_context().wrap_socket(socket.create_connection(("127.0.0.1", PORT)))

    def more(self):
        if data := self.s.recv(262144):
            return data
        raise OSError("the server ended a connection")

    def ask(self, r, seen):
        """The code; seen learns."""
        self.s.sendall(r.bytes(seen))
        got = b""
        while (at := got.find(b"\r\n\r\n")) < 0:
            got += self.more()
        length = LENGTH.search(got, 0, at)
        parts, size = [got[at + 4:]], len(got) - at - 4
        while size < int(length[1]) if length else not parts[-1].endswith(b"0\r\n\r\n"):
            parts.append(self.more())
            size += len(parts[-1])
        code, answer = int(got[9:12]), b"".join(parts)
        if code < 300 and r.writes and (version := VERSION.search(answer)):
            seen[r.path] = version[1].decode()
            if length and any(f'"kind":"{kind}"'.encode() in answer[:200] for kind in OWNERS):
                o = json.loads(answer)
                seen[o["kind"], o["metadata"]["name"]] = o["metadata"]["uid"]
        return code


def watch(r):
    """Takes what it says, until the process ends."""
    def take(c):
        with contextlib.suppress(OSError):
            while c.more():
                pass
    c = Connection()
    c.s.sendall(r.bytes({}))
    threading.Thread(target=take, args=(c,), daemon=True).start()


class Replay:
    """Of requests in the order of their begin."""

    def __init__(self, requests, seen):
        self.lock, self.seen, self.left, self.writing = threading.Condition(), seen, len(requests), 0
        self.others, self.ready = collections.Counter(), {True: [], False: []}  # ready: by whether it writes
        groups, changes = collections.defaultdict(list), []
        for n, r in enumerate(requests):
            for earlier in groups[r.group]:
                if earlier.end <= r.begin:
                    earlier.after.append(r)
                    r.before += 1
            groups[r.group].append(r)
            r.n = n
            changes += [] if r.is_watch else [(r.begin, 1), (r.end, -1)]
            if not r.before:
                heapq.heappush(self.ready[r.writes], (n, r))
        self.at_once = max(itertools.accumulate(by for _, by in sorted(changes)))
        begin, cpu = time.monotonic(), time.process_time()
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(self.work, range(self.at_once)))
        self.seconds, self.cpu = time.monotonic() - begin, time.process_time() - cpu

    def next(self):
        with self.lock:
            while self.left:
                if can := [q[0] for writes, q in self.ready.items() if q and not (writes and self.writing == WRITES)]:
                    r = min(can)[1]
                    heapq.heappop(self.ready[r.writes])
                    self.writing += r.writes
                    return r
                self.lock.wait()
        return None

    def done(self, r):
        with self.lock:
            self.left -= 1
            self.writing -= r.writes
            for later in r.after:
                later.before -= 1
                if not later.before:
                    heapq.heappush(self.ready[later.writes], (later.n, later))
            self.lock.notify_all()

    def work(self, _):
        c = Connection()
        while r := self.next():
            if r.is_watch:
                watch(r)
            elif (code := c.ask(r, self.seen)) != r.code:
                self.others[f"{r.method} {code} for {r.code}"] += 1
            self.done(r)


def again(requests):
    """What led to the first state, one after the other. What is known of it."""
    import install
    c, seen = Connection(), {}
    for r in sorted(requests, key=lambda r: r.end):
        if r.is_watch:
            watch(r)
        elif r.writes and r.code < 300:
            install.until(lambda: c.ask(r, seen) in (200, 201, 409), r.uri, 0.2)  # a kind is served a moment after its definition
    time.sleep(3)
    return seen


def start():
    subprocess.run([CLUSTER, "start", HERE, str(PORT)], check=True, stdout=subprocess.DEVNULL)
    with open(f"{ROOT}/kubeconfig", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
        subprocess.run(["kubectl", "--kubeconfig", f"{HERE}/kubeconfig", "config", "view", "--raw", "--flatten"], check=True, stdout=f)


def used():
    """CPU of the server's programs."""
    fields = (open(f"/proc/{open(f'{HERE}/{n}.pid').read().strip()}/stat").read().rsplit(")", 1)[1].split() for n in ("api", "etcd", "kcm"))
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def first_run(n):
    """The requests before and of n installs, and what is told of them."""
    import cluster  # it reads the kubeconfig
    shutil.rmtree(cluster.ROOT, ignore_errors=True)
    os.makedirs(cluster.ROOT)
    p = cluster.controller(f"{cluster.ROOT}/log")
    try:
        time.sleep(5)
        begin, alm, servers = time.time(), p.cpu(), used()
        cluster.many(1, n, f"c{n}", 2)
        alm, servers = p.cpu(), used() - servers
        time.sleep(3)
    finally:
        p.stop()
    with open(f"{HERE}/audit.log") as f:
        lines = (json.loads(line) for line in f)
        requests = sorted((Request(line) for line in lines if MINE.match(line.get("userAgent", "")) and
                           line["stage"] == ("ResponseStarted" if line["verb"] == "watch" else "ResponseComplete")), key=lambda r: r.begin)
    end = max(r.end for r in requests if re.search(r"/apps/web\d+/status", r.uri))
    catalog = next(r.begin for r in requests if r.begin >= begin and r.method == "POST" and r.uri.endswith("/catalogs"))
    return ([r for r in requests if r.begin < catalog], [r for r in requests if catalog <= r.begin <= end], end - catalog, alm, servers)


def main():
    os.environ["KUBECONFIG"], os.environ["HELM"] = f"{ROOT}/kubeconfig", "-"
    sys.argv[2] = f"{ROOT}/run"
    os.makedirs(ROOT, exist_ok=True)
    for n in APPS:
        try:
            start()
            before, requests, seconds, alm, servers = first_run(n)
            subprocess.run([CLUSTER, "stop", HERE], check=True)
            writes = sum(r.writes for r in requests)
            print(f"{n} apps: {seconds:.1f} s, CPU of alm {alm:.1f} s, of the server {servers:.1f} s; {len(requests)} requests, {writes} of "
                  f"them writes and reviews; load {os.getloadavg()[0]:.1f}", flush=True)
            start()
            seen = again(before)
            servers = used()
            alone = Replay(requests, seen)
            print(f"the same requests alone, {alone.at_once} at once: {alone.seconds:.1f} s, CPU of the client {alone.cpu:.1f} s, of the "
                  f"server {used() - servers:.1f} s; beyond them: {seconds - alone.seconds:.1f} s; other answers: "
                  f"{dict(alone.others) or 'none'}; load {os.getloadavg()[0]:.1f}", flush=True)
        finally:
            subprocess.run([CLUSTER, "stop", HERE], check=True)


main()
