#!/bin/sh
# Stopped by hand, mutate.py leaves nothing behind: no program that it started, none that those started, no temporary file.
set -u
here=$(dirname "$0")
python3 - "$here" <<'EOF'
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

bad = 0
for n, number in enumerate((signal.SIGINT, signal.SIGTERM), 1):
    with tempfile.TemporaryDirectory() as folder:
        code = f"""
import sys
sys.path.insert(0, {os.path.abspath(sys.argv[1])!r})
import children, subprocess, tempfile, time
class Slow(subprocess.Popen):  # the signal comes when the program runs, but its name is not kept yet
    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        time.sleep(0.2)
subprocess.Popen = Slow
children.stop_cleanly()
tempfile.mkdtemp()
children.run(["sh", "-c", "sleep 1000 & echo $$ $! >pids.new && mv pids.new pids && wait"])
"""
        env = {**os.environ, "TMPDIR": folder}
        p = subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=env)
        while p.poll() is None and not pathlib.Path(folder, "pids").exists():
            time.sleep(0.01)
        pids = list(map(int, pathlib.Path(folder, "pids").read_text().split()))
        p.send_signal(number)
        status = p.wait()

        def runs(pid):
            try:
                return pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
            except (FileNotFoundError, ProcessLookupError):
                return False

        end = time.monotonic() + 60  # what is killed goes when the machine comes to it
        while (left := [pid for pid in pids if runs(pid)]) and time.monotonic() < end:
            time.sleep(0.02)
        files = sorted(x.name for x in pathlib.Path(folder).iterdir() if x.name.startswith("alm-mutate-"))
        well = status == 128 + number and len(pids) == 2 and not left and not files
        print(f"{'ok' if well else 'not ok'} {n} - {number.name} ends it and all that it started")
        if not well:
            print(f"# status {status}, of {pids} there run {left}, files {files}")
            bad = 1
print("1..2")
sys.exit(bad)
EOF
# it prints its plan, 1..N
