"""http_attacks.py PID URL METRICS DATA [SCENARIO...]: attacks a running `alm up` and looks at what others see meanwhile.

A scenario is a function of `scenarios`; its lines are TAP without numbers. An administrator is a client that makes a new
connection for each request, as kubectl does. Waits end when satisfied; what is judged is answers and CPU seconds, not time."""
import json, os, socket, ssl, sys, threading, time

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
    comes_to_rest(name)


def send_all(s, data):
    try:
        s.sendall(data)
    except OSError:
        pass


def pipelining():
    for tls in True, False:
        for size in 400_000, 1_000_000:
            pipelined(tls, size)


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
        comes_to_rest(name)


scenarios = [pipelining, pipelined_and_gone]

if __name__ == "__main__":
    wanted = sys.argv[5:]
    for scenario in scenarios:
        if not wanted or scenario.__name__ in wanted:
            scenario()
