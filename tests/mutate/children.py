"""Programs that mutate.py starts, each in a process group of its own, and what becomes of them when it is stopped.

A script of the tests starts others, which outlive it when it alone is killed: its group is. Stopped by hand (Ctrl-C, kill) the
groups that still run are killed, too, and the temporary files go.
"""
import _thread
import atexit
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import namedtuple

Done = namedtuple("Done", "returncode stdout stderr")  # returncode None: it took too long
WAIT = 10  # times as long by the clock as by the processor: others use the machine, too, and come first

running = set()
lock = threading.Lock()


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(words, seconds=None, clock=None, **more):
    """Its output and status. seconds: of the processor; a busy machine ends no program. clock: without regard to that."""
    def limit():
        if seconds:
            # soft alone: the hard one would be that of ALM's children, which ask for theirs and could not start
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    with lock:
        p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit, start_new_session=True, **more)
        running.add(p.pid)
    try:
        out, told = p.communicate(timeout=clock or (WAIT * seconds if seconds else None))
        return Done(p.returncode, out, told)
    except subprocess.TimeoutExpired:
        return Done(None, b"", b"")
    finally:
        kill_group(p.pid)  # what it left behind
        p.wait()
        with lock:
            running.discard(p.pid)


def run_well(words):
    """For a tool that must not fail."""
    done = run(words)
    if done.returncode:
        raise RuntimeError(f"{words[0]}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done


def stop_cleanly(*folders):
    """From now on SIGINT and SIGTERM end the programs as well; temporary files are in one folder, which goes, as do these."""
    root = tempfile.mkdtemp(prefix="alm-mutate-")
    tempfile.tempdir = root

    def stop(number):
        with lock:  # to the end: no other starts
            for pid in running:
                kill_group(pid)
            for folder in (root, *folders):
                shutil.rmtree(folder, ignore_errors=True)
            os._exit(128 + number)

    def heard(number, _):
        # in the main thread, which may hold the lock, between a program's start and its name in running
        _thread.start_new_thread(stop, (number,))

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heard)
    atexit.register(shutil.rmtree, root, ignore_errors=True)
