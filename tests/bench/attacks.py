"""attacks.py PID URL METRICS DATA: how long a request of an administrator takes (a new TLS connection, a list of namespaces, a
write) under each attack of tests/e2e/http_attacks.py, against alone in the same rounds. The attackers are processes of their
own and use the same processors, so what they burn is in the ratio; the limit is 10, and 2 s."""
import multiprocessing, os, resource, socket, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import http_attacks as h

ROUNDS, ASKS = 3, 25
LIST = "/api/v1/namespaces/default/configmaps"


def once():
    start = time.monotonic()
    read = h.ask("GET", "/api/v1/namespaces")[0]
    write = h.ask("POST", LIST, h.config_map())[0]
    return time.monotonic() - start, (read, write) == (200, 201)


def forever(what):
    while True:
        try:
            what()
        except OSError:
            pass


def hold(socks):
    while True:
        time.sleep(1)
        del socks[:0]


def pipeline():
    with h.connect(window=4096) as s:
        s.settimeout(0.5)
        h.send_all(s, h.HEALTH * 20_000)


def pipeline_and_read():
    with h.connect() as s:
        for _ in range(20):
            s.sendall(h.HEALTH * 100)
            s.recv(1 << 20)


def arrive():
    with h.connect_raw() as s:
        s.sendall(b"\x16\x03\x01")


def handshake():
    h.connect().close()


def guess():
    with h.connect() as s:
        for i in range(20):
            s.sendall(h.head("GET", "/api", f"guess{i}"))
            h.answer(s)


def send_body():
    with h.connect() as s:
        s.settimeout(1)
        s.sendall(h.head("POST", "/api/v1/namespaces", "bobtoken", f"Content-Length: {3 << 20}"))
        h.send_all(s, b"a" * ((3 << 20) - 1))
        time.sleep(0.5)


def read_list():
    h.whole_list(LIST, "bobtoken")


def sit():
    hold(h.held([h.HEALTH] * 600)[0])


def say_nothing():
    hold([h.connect_raw() for _ in range(2000)])


def leave_lists():
    hold(h.held([h.head("GET", LIST, "bobtoken")] * 60, window=2048, read_heads=False)[0])


def leave_objects():
    hold(h.held([h.head("GET", LIST + "/big0", "bobtoken")] * 190, window=2048, read_heads=False)[0])


def watch():
    hold(h.held([h.head("GET", LIST + "?watch=1", "bobtoken")] * 500, window=2048, read_heads=False)[0])


# what, its processes, and whether it goes on without end or is there and stays
ATTACKS = [("pipelining, unread", pipeline, 4), ("pipelining", pipeline_and_read, 4), ("connecting", arrive, 4),
           ("TLS handshakes", handshake, 4), ("failed logins", guess, 4), ("bodies of 3 MiB", send_body, 8),
           ("lists of 28 MB", read_list, 4), ("2,000 silent connections", say_nothing, 1),
           ("600 idle connections", sit, 1), ("60 unread lists of 28 MB", leave_lists, 1),
           ("190 unread objects of 1.4 MB", leave_objects, 1), ("500 unread watches of 28 MB", watch, 1)]


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


def measure(attack, n):
    alone, under, failed, grown, before = [], [], 0, 0, h.rss_mib()
    for _ in range(ROUNDS):
        alone += [once()[0] for _ in range(ASKS)]
        workers = [multiprocessing.Process(target=forever, args=(attack,), daemon=True) for _ in range(n)]
        for w in workers:
            w.start()
        time.sleep(1.5)
        for _ in range(ASKS):
            took, ok = once()
            under.append(took)
            failed += not ok
        grown = max(grown, h.rss_mib() - before)
        for w in workers:
            w.kill()
            w.join()
    return alone, under, failed, grown


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for i in range(20):
        body = h.config_map(data={"a": "x" * 1_400_000})
        body["metadata"] = {"name": f"big{i}"}
        h.ask("POST", LIST, body)
    for name, attack, n in ATTACKS:
        alone, under, failed, grown = measure(attack, n)
        p99 = percentile(alone, 0.99), percentile(under, 0.99)
        print(f"{name:30} p50 {percentile(alone, 0.5) * 1000:6.1f} -> {percentile(under, 0.5) * 1000:6.1f} ms, "
              f"p99 {p99[0] * 1000:6.1f} -> {p99[1] * 1000:6.1f} ms, ratio {p99[1] / p99[0]:4.1f} (limit 10), "
              f"longest {max(under) * 1000:6.1f} ms (limit 2000), failed {failed} (limit 0), "
              f"RSS +{grown} MiB", flush=True)
