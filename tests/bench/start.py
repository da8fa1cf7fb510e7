"""start.py ALM DIR: ms from the start of `alm up` to its first answered request, with a new data folder and
with the same one again, and in the same round the bare cost of as many small flushed writes; medians of seven."""
import os, shutil, socket, ssl, subprocess, sys, time

alm, folder = sys.argv[1], sys.argv[2]
# Flushes before the first answer: SQLite's new file (4) and log (2), two commits, CA and key, token, folder,
# two keys of the audit log, kubeconfig. `strace -e trace=fsync,fdatasync` counts them.
FLUSHES = 15
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port):
    with socket.create_connection(("127.0.0.1", port)) as raw, context.wrap_socket(raw) as s:
        s.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return s.recv(100).startswith(b"HTTP/1.1 200")


def start():
    port = free_port()
    begin = time.monotonic()
    p = subprocess.Popen([alm, "up", "--data-dir", folder, "--listen", f"127.0.0.1:{port}",
                          "--metrics-listen", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while time.monotonic() - begin < 30:
        try:
            if ask(port):
                break
        except OSError:
            pass
        time.sleep(0.001)
    ms = (time.monotonic() - begin) * 1000
    p.terminate()
    p.wait()
    return ms


def flushes():
    begin = time.monotonic()
    for i in range(FLUSHES):
        with open(f"{folder}.flush{i}", "wb") as f:
            f.write(b"x" * 500)
            f.flush()
            os.fsync(f.fileno())
    ms = (time.monotonic() - begin) * 1000
    for i in range(FLUSHES):
        os.unlink(f"{folder}.flush{i}")
    return ms


rounds = []
for _ in range(7):
    shutil.rmtree(folder, ignore_errors=True)
    rounds.append((start(), start(), flushes()))
new, same, bare = (sorted(column)[3] for column in zip(*rounds))
print(f"start to first answered request, new data folder:   {new:.0f} ms (limit 100)")
print(f"start to first answered request, same data folder:  {same:.0f} ms (limit 100)")
print(f"{FLUSHES} small flushed writes alone, in the same rounds:     {bare:.0f} ms")
