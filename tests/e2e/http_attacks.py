"""http_attacks.py PID URL METRICS DATA [SCENARIO...]: attacks a running `alm up` and looks at what others see meanwhile.

A scenario is a function of `scenarios`; its lines are TAP without numbers. An administrator is a client that makes a new
connection for each request, as kubectl does. Waits end when satisfied; what is judged is answers and CPU seconds, not time."""
import json, os, resource, socket, ssl, struct, sys, threading, time

PID, URL, METRICS, DATA = sys.argv[1:5]
HOST, PORT = URL.rsplit("/", 1)[1].rsplit(":", 1)
WAIT_S = 60
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE
ADMIN = open(os.path.join(DATA, "token"), encoding="ascii").read().strip()
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(tls=True, window=None, timeout=WAIT_S):
    host, port = (HOST, PORT) if tls else METRICS.rsplit(":", 1)
    s = socket.socket()
    if window:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    s.settimeout(timeout)
    s.connect((host, int(port)))
    return CONTEXT.wrap_socket(s) if tls else s


def head(method, path, token=None, *lines):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *lines]
    if token:
        lines.append("Authorization: Bearer " + token)
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def answer(s):
    """Status, headers and body of the next answer; status 0 if the connection ends first."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = s.recv(65536)
        if not part:
            return 0, {}, data
        data += part
    text, data = data.split(b"\r\n\r\n", 1)
    first, *rest = text.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in rest)}
    left = int(headers.get("content-length", 0)) - len(data)
    while left > 0:
        part = s.recv(65536)
        if not part:
            return 0, headers, data
        data, left = data + part, left - len(part)
    return int(first.split()[1]), headers, data


def ask(method, path, body=None, token=ADMIN, tls=True):
    """One request on a connection of its own; status 0 when there is no answer."""
    text = json.dumps(body).encode() if body is not None else b""
    lines = ["Connection: close", "Content-Type: application/json", f"Content-Length: {len(text)}"]
    try:
        with connect(tls) as s:
            s.sendall(head(method, path, token, *lines) + text)
            return answer(s)
    except OSError:
        return 0, {}, b""


def config_map(**more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "w"}, **more}


def cpu_s():
    f = open(f"/proc/{PID}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")


def rss_mib():
    for line in open(f"/proc/{PID}/status", encoding="ascii"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def check(name, ok, seen=""):
    print(("ok - " if ok else "not ok - ") + name + (f"\n    # {seen}" if not ok else ""), flush=True)


def grown_at_most(name, before, mib):
    """Not with a sanitizer, which keeps what is freed."""
    if "address" in os.environ.get("BUILD", ""):
        print(f"ok - {name}: {mib} MiB at most # SKIP sanitizer")
        return
    grown = rss_mib() - before
    check(f"{name}: {mib} MiB at most", grown <= mib, f"{grown} MiB")


def admin_works(name):
    """A write and a read of an administrator are answered."""
    start = time.monotonic()
    write = ask("POST", "/api/v1/namespaces/default/configmaps", config_map())[0]
    read = ask("GET", "/api/v1/namespaces")[0]
    check(f"{name}: an administrator is answered", (write, read) == (201, 200),
          f"{write} {read} after {time.monotonic() - start:.1f} s")


def comes_to_rest(name):
    """The server uses no CPU any more: one second of at most 20 ms within WAIT_S."""
    end, used = time.monotonic() + WAIT_S, 1
    while used > 0.02 and time.monotonic() < end:
        before = cpu_s()
        time.sleep(1)
        used = cpu_s() - before
    check(f"{name}: the server comes to rest", used <= 0.02, f"{used:.2f} CPU s in a second")


def pipelined(tls, size):
    """size bytes of requests at once, unread for a while: others are served, then they have their answers or an end."""
    name = f"{size // 1000} KB pipelined over {'TLS' if tls else 'plain HTTP'}"
    n = size // len(HEALTH)
    s = connect(tls, window=4096)
    sender = threading.Thread(target=lambda: send_all(s, HEALTH * n), daemon=True)
    sender.start()
    sender.join(2)  # a server that stops to read holds it up here
    admin_works(name)
    got, rest, mark = 0, b"", b"HTTP/1.1 200"
    try:
        while got < n:
            part = s.recv(1 << 20)
            if not part:
                break
            got += (rest + part).count(mark)
            rest = (rest + part)[1 - len(mark):]
    except OSError as e:
        check(f"{name}: answers come", False, repr(e))
    check(f"{name}: all are answered", got == n, f"{got} of {n}")
    s.close()
    admin_works(name + ", closed")


def send_all(s, data):
    try:
        s.sendall(data)
    except OSError:
        pass


def pipelining():
    for tls in True, False:
        for size in 400_000, 1_000_000:
            pipelined(tls, size)
    comes_to_rest("pipelining")


def pipelined_and_gone():
    """Connections that end while most of what they sent is unread."""
    for tls in True, False:
        socks = [connect(tls, window=4096) for _ in range(4)]
        for s in socks:
            s.settimeout(0.5)
            send_all(s, HEALTH * 10_000)
        for s in socks:
            s.close()
        name = f"pipelined and gone, {'TLS' if tls else 'plain HTTP'}"
        admin_works(name)
    comes_to_rest("pipelined and gone")


def held(requests, tls=True, window=None, read_heads=True):
    """One connection for each request; what was answered first, where that is asked for."""
    socks, statuses = [], []
    for text in requests:
        try:
            s = connect(tls, window)
            s.sendall(text)
            socks.append(s)
            if read_heads:
                statuses.append(answer(s)[0])
        except OSError:
            statuses.append(0)
    return socks, statuses


def close_all(socks):
    for s in socks:
        s.close()


def sitting():
    """More connections than there are places for those that have not authenticated."""
    for what, socks in (("said nothing", [connect_raw() for _ in range(1500)]),
                        ("were answered once", held([HEALTH] * 400)[0])):
        admin_works(f"{len(socks)} connections that {what}")
        newcomers = [ask("GET", "/version")[0] for _ in range(20)]
        check(f"{len(socks)} connections that {what}: newcomers are answered", newcomers == [200] * 20, newcomers)
        for s in socks[-100:]:  # refreshed, they do not drive newcomers out either
            try:
                s.sendall(HEALTH)
            except OSError:
                pass
        newcomers = [ask("GET", "/version")[0] for _ in range(20)]
        check(f"{len(socks)} connections that {what}, refreshed", newcomers == [200] * 20, newcomers)
        close_all(socks)


def connect_raw():
    s = socket.socket()
    s.settimeout(WAIT_S)
    s.connect((HOST, int(PORT)))
    return s


def arriving():
    """Clients that connect, say half a word and go, as fast as they can."""
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            try:
                s = connect_raw()
                s.sendall(b"\x16\x03\x01")
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()
            except OSError:
                pass

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    got = [ask("GET", "/version")[0] for _ in range(20)]
    check("a flood of connections: newcomers are answered", got == [200] * 20, got)
    admin_works("a flood of connections")
    stop.set()
    for t in threads:
        t.join()


def bodies():
    """Large bodies that never end: of nobody, and of a user without any right."""
    size = 3 << 20
    for who, token, most in ("nobody", None, 20), ("a wrong token", "none", 20), ("a user", "bobtoken", 80):
        text = head("POST", "/api/v1/namespaces", token, f"Content-Length: {size}")
        before, socks, late = rss_mib(), [], 0
        for _ in range(40):
            s = connect()
            s.settimeout(0.1)
            send_all(s, text + b"a" * (size - 1))
            socks.append(s)
        for s in socks:
            s.settimeout(0.02)
            try:
                status, headers, _ = answer(s)
                late += status == 429 and headers.get("retry-after") == "1"
            except OSError:
                pass
        grown_at_most(f"40 bodies of 3 MiB by {who}", before, most)
        if who == "a user":
            check("a user with too many bodies is told to come later", late >= 20, late)
        admin_works(f"40 bodies of 3 MiB by {who}")
        close_all(socks)


def unread():
    """Answers that nobody takes: long lists, then many large objects."""
    for i in range(27):
        body = config_map(data={"a": "x" * 1_040_000})  # nearly as large as one may be
        body["metadata"] = {"name": f"big{i}"}
        ask("POST", "/api/v1/namespaces/default/configmaps", body)
    path = "/api/v1/namespaces/default/configmaps"
    for what, n, target in ("lists of 28 MB", 20, path), ("objects of 1 MB", 200, path + "/big0"):
        before = rss_mib()
        socks = held([head("GET", target, "bobtoken")] * n, window=2048, read_heads=False)[0]
        admin_works(f"{n} unread {what}")
        grown_at_most(f"{n} unread {what}", before, 100)
        close_all(socks)
    end, status = time.monotonic() + WAIT_S, 429
    while status == 429 and time.monotonic() < end:  # until the server has seen that the others left
        status, _, text = whole_list(path, "bobtoken")
    check("who reads has the whole list", status == 200 and text.count(b'"name":"big') == 27, f"{status} {len(text)}")
    socks = held([head("GET", path, "bobtoken")] * 20, window=2048, read_heads=False)[0]
    for s in socks:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    close_all(socks)
    admin_works("lists that are reset in the middle")
    comes_to_rest("unread answers")


def whole_list(path, token):
    with connect() as s:
        s.sendall(head("GET", path, token, "Connection: close"))
        data = b"".join(iter(lambda: s.recv(1 << 20), b""))
    text, data = data.split(b"\r\n\r\n", 1)
    return int(text.split()[1]), text, data


def guessing():
    """Wrong tokens are slowed, and right ones are not."""
    s = connect()
    statuses = []
    for i in range(25):
        s.sendall(head("GET", "/api", f"guess{i}"))
        status, headers, _ = answer(s)
        statuses.append(status)
        if status == 429:
            break
    check("failed logins are answered 401, then 429", statuses[-1] == 429 and set(statuses[:-1]) == {401}, statuses)
    check("with Retry-After", headers.get("retry-after") == "1", headers)
    admin_works("failed logins of the same address")
    s.close()


def names():
    """DNS rebinding: a page's own name points here."""
    for tls, path in (True, "/healthz"), (False, "/metrics"):
        for host, want in ("evil.example", 403), ("alm.example:1", 200), ("127.0.0.1", 200), ("localhost", 200):
            with connect(tls) as s:
                s.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                status, headers, text = answer(s)
            ok = status == want and headers.get("x-content-type-options") == "nosniff"
            check(f"Host {host} {'over TLS' if tls else 'for the metrics'}: {want}",
                  ok and (want == 200 or b"--allowed-host" in text), f"{status} {headers} {text[:200]}")


scenarios = [pipelining, pipelined_and_gone, sitting, arriving, bodies, unread, guessing, names]

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    wanted = sys.argv[5:]
    for scenario in scenarios:
        start = time.monotonic()
        if not wanted or scenario.__name__ in wanted:
            scenario()
            print(f"{scenario.__name__}: {time.monotonic() - start:.1f} s", flush=True)
