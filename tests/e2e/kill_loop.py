"""kill_loop.py ALM DATA KILLS: a server that is killed again and again loses nothing that it has acknowledged.

Each round starts `alm server` over the same folder, waits until it is ready, writes objects until a random moment, kills
the process with SIGKILL in the middle of that, starts it again and reads every name that was ever acknowledged. Prints
"kills N acknowledged N lost N slowest recovery N ms"; what is lost is named on stderr.
"""
import base64
import http.client
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

alm, data, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
MAPS = "/api/v1/namespaces/default/configmaps"
rng = random.Random(7)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, port):
        self.began = time.monotonic()
        self.port = port
        self.log = open(os.path.join(os.path.dirname(data), "server.log"), "a")
        self.process = subprocess.Popen(
            [alm, "server", "--data-dir", data, "--listen", f"127.0.0.1:{port}"],
            stdout=self.log, stderr=self.log)
        self.wait()
        self.ready_ms = (time.monotonic() - self.began) * 1000

    def wait(self):
        while time.monotonic() - self.began < 60:
            if self.process.poll() is not None:
                raise SystemExit(f"alm server ended with {self.process.returncode}: see server.log")
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.01)
        raise SystemExit("alm server is not ready after a minute")

    def connect(self):
        text = open(os.path.join(data, "kubeconfig")).read()
        ca = re.search(r"certificate-authority-data: *\"?([A-Za-z0-9+/=]+)", text)
        self.token = re.search(r"token: *\"?([^\"\s]+)", text).group(1)
        context = ssl.create_default_context(cadata=base64.b64decode(ca.group(1)).decode())
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)

    def ask(self, method, path, body=None, connection=None):
        c = connection or self.connect()
        c.request(method, path, body and json.dumps(body), {
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        r = c.getresponse()
        return r.status, r.read()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def write(server, first, acknowledged):
    """Until the connection breaks; a name is acknowledged when the whole answer is there."""
    try:
        c = server.connect()
        for i in range(first, first + 100000):
            name = f"m{i}"
            status, _ = server.ask("POST", MAPS, {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"v": "x" * 200}}, c)
            if status == 201:
                acknowledged.append(name)
    except (OSError, http.client.HTTPException):
        pass


def stored(server):
    names, token = set(), ""
    while True:
        status, text = server.ask("GET", f"{MAPS}?limit=500" + (f"&continue={token}" if token else ""))
        if status != 200:
            raise SystemExit(f"list: {status}")
        page = json.loads(text)
        names |= {o["metadata"]["name"] for o in page["items"]}
        token = page["metadata"].get("continue", "")
        if not token:
            return names


port = free_port()
server = Server(port)
slowest, lost, everything = 0.0, set(), []
for i in range(kills):
    acknowledged = []
    writers = [threading.Thread(target=write, args=(server, (2 * i + k) * 1000000, acknowledged)) for k in (0, 1)]
    for w in writers:
        w.start()
    end = time.monotonic() + 30
    while not acknowledged and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(rng.uniform(0.0, 0.1))  # the moment of the kill, not a wait for something
    server.kill()
    for w in writers:
        w.join()
    everything += acknowledged
    server = Server(port)
    slowest = max(slowest, server.ready_ms)
    if i % 100 == 99 or i == kills - 1 or len(everything) < 2000:
        missing = set(everything) - stored(server)
        lost |= missing
        if missing:
            print(f"kill {i}: lost {sorted(missing)[:5]}", file=sys.stderr)
server.process.send_signal(signal.SIGTERM)
server.process.wait()
print(f"kills {kills} acknowledged {len(everything)} lost {len(lost)} slowest recovery {slowest:.0f} ms")
