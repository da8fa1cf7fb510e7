"""Which test runs which line: every test once in a build with --coverage, kept as JSON beside that build.

A test is a unit test program, one simulation scenario or an end-to-end script. The map is made anew when a source or a test is
newer; that of the scripts, which takes half an hour, is a file of its own.
gcov counts the first line of a statement only: what stands on a later one is run by the tests of the first, and a table
outside of all functions by all tests of its file.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import children

BUILD = "build-coverage"
SLOW = ("week",)  # scenarios that take minutes and run no line of their own
# Of these scripts a whole run is minutes, or they look at files of the tree and start no program of ours.
LONG = """test_kill_loop test_bundle_steps_killed test_fuzz_corpus test_embed test_release_size test_image test_exhaustion
test_first_week test_real_controllers""".split()
# run.sh leaves there the kubectl and the python3 that it takes
PATH = f"{pathlib.Path('build/test-logs/bin').resolve()}:{os.environ['PATH']}"
ENV = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "tap", "LC_ALL": "C", "TZ": "UTC", "PATH": PATH}
RUN_S = 300
SCRIPT_S = 1200


def command_of(test, build):
    """["build/tests/test_map"] for "test_map", sim's arguments for "sim:story"."""
    kind, _, name = test.partition(":")
    if kind == "sim":
        return [f"{build}/sim", "--scenario", name, "--fault", "none"]
    return [f"tests/e2e/{name}.sh"] if kind == "e2e" else [f"{build}/tests/{test}"]


def scenarios():
    said = subprocess.run([f"{BUILD}/sim", "--help"], capture_output=True, text=True, check=False)
    lines = (said.stdout + said.stderr).partition("scenarios:\n")[2].splitlines()
    return [name for name in (line.split()[0] for line in lines if line.strip()) if name not in SLOW]


def tests_of():
    units = sorted(p.stem for p in pathlib.Path("tests/unit").rglob("test_*.c"))
    return units + [f"sim:{s}" for s in scenarios()]


def scripts():
    return [f"e2e:{p.stem}" for p in sorted(pathlib.Path("tests/e2e").glob("test_*.sh")) if p.stem not in LONG]


def newest():
    roots = ("alm", "catalog", "crds", "installers", "tests/unit", "tests/sim", "tests/lib")
    return max(p.stat().st_mtime for r in roots for p in pathlib.Path(r).rglob("*.[ch]"))


def lines_of(prefix):
    """({file: [line]} of what ran, of all that gcov counts), from the counts below prefix."""
    ran, known = {}, {}
    for count in pathlib.Path(prefix).rglob("*.gcda"):
        notes = pathlib.Path("/", count.relative_to(prefix)).with_suffix(".gcno")
        if "/obj/tests/" in str(count) or not notes.exists():
            continue
        os.symlink(notes, count.with_suffix(".gcno"))
        out = subprocess.run(["gcov", "--json-format", "--stdout", count.name], cwd=count.parent, capture_output=True, check=False)
        for text in out.stdout.splitlines():
            for f in json.loads(text)["files"]:
                if f["file"].endswith(".c") and not f["file"].startswith("/"):
                    known.setdefault(f["file"], set()).update(x["line_number"] for x in f["lines"])
                    ran.setdefault(f["file"], set()).update(x["line_number"] for x in f["lines"] if x["count"])
    return {f: sorted(lines) for f, lines in ran.items() if lines}, known


def one(test):
    prefix = tempfile.mkdtemp(prefix="alm-cover-")
    try:
        env = {**ENV, "GCOV_PREFIX": prefix, "BUILD": BUILD}
        limit = SCRIPT_S if test.startswith("e2e:") else RUN_S
        # the map is of the others: a killed program leaves no counts
        if children.run(command_of(test, BUILD), clock=limit, env=env).returncode is None:
            print(f"# {test} has not ended after {limit} s, and is not in the map", flush=True)
            return test, {}, {}
        return (test, *lines_of(prefix))
    finally:
        shutil.rmtree(prefix)


class Coverage:
    """The map: {test: {file: [line]}}, and {file: [line]} of all lines that gcov counts."""

    def __init__(self, ran, known, order=None):
        """order: of a test, where it comes among others; those first that run the least."""
        size = {} if order else {t: sum(map(len, files.values())) + 10**6 * t.startswith("sim:") for t, files in ran.items()}
        self.known = {f: set(lines) for f, lines in known.items()}
        self.by_line, self.by_file = {}, {}
        for test in sorted(ran, key=order or (lambda t: (size[t], t))):
            for f, lines in ran[test].items():
                self.by_file.setdefault(f, []).append(test)
                for line in lines:
                    self.by_line.setdefault((f, line), []).append(test)

    def tests_of(self, path, line, text):
        """Those that run the line; first those that run the least."""
        lines, known = text.splitlines(), self.known.get(path, ())
        for at in range(line, 0, -1):
            if at in known:
                return self.by_line.get((path, at), [])
            if at < line and lines[at - 1].startswith("}"):
                break
        return self.by_file.get(path, [])


def made(file, tests, jobs):
    """{test: {file: [line]}} and {file: [line]} of these tests, from the file if it is newer than all sources."""
    if not file.exists() or file.stat().st_mtime < newest():
        print(f"# {file} is made", flush=True)
        make = ["make", f"BUILD={BUILD}", "CC=" + os.environ.get("CC", "gcc"), "OPT=-O0 --coverage", "LDSAN=--coverage", "WERROR=",
                "STATIC=", "all", "unit", "sim"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ran, known = {}, {}
        with ThreadPoolExecutor(jobs) as pool:
            for test, hit, lines in pool.map(one, tests()):
                ran[test] = hit
                for f, more in lines.items():
                    known.setdefault(f, set()).update(more)
        known = {f: sorted(lines) for f, lines in known.items()}
        file.write_bytes(gzip.compress(json.dumps([ran, known]).encode()))
    return json.loads(gzip.decompress(file.read_bytes()))


def load(jobs):
    return Coverage(*made(pathlib.Path(BUILD, "map2.json.gz"), tests_of, jobs))


def load_scripts(jobs):
    return Coverage(*made(pathlib.Path(BUILD, "scripts.json.gz"), scripts, jobs))
