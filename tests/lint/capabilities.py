#!/usr/bin/env python3
"""Every test that tests/CAPABILITIES.md names is there, and so is each row A1..A35, N1..N14, P1..P25, L1..L44,
FL1..FL40, FR1..FR21 and the FT of TIMONI. Prints what is not and exits 1."""
import glob
import os
import re
import sys

PAGE = "tests/CAPABILITIES.md"
TIMONI = [22, 23, 25, 26, 28, 32]  # of what is built
WANTED = [f"A{i}" for i in range(1, 36)] + [f"N{i}" for i in range(1, 15)] + [f"P{i}" for i in range(1, 26)] + [f"L{i}" for i in range(1, 45)]
WANTED += [f"FL{i}" for i in range(1, 41)] + [f"FR{i}" for i in range(1, 22)] + [f"FT{i}" for i in TIMONI]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def unit_tests():
    return set(re.findall(r"static void (test_\w+)\(", "".join(read(p) for p in glob.glob("tests/unit/**/*.c", recursive=True))))


def faults_of(cell, units, sim):
    for name in re.findall(r"`(test_\w+?__\w+)`", cell):
        if name not in units:
            yield f"no unit test {name}"
    for name in re.findall(r"`(sim__\w+)`", cell):
        if not re.search(rf"\b{name}\b", sim):
            yield f"no run {name}"
    for name in re.findall(r"`(bench_\w+|\w+\.py)`", cell):
        if not glob.glob(f"tests/bench/{name}*"):
            yield f"no {name} in tests/bench"
    # `X.sh` "line", "line"
    for name, lines in re.findall(r'`(\w+)\.sh`((?:,? "[^"]*")*)', cell):
        path = f"tests/e2e/test_{name}.sh"
        text = read(path) if os.path.exists(path) else None
        if text is None:
            yield f"no {path}"
            continue
        for line in re.findall(r'"([^"]*)"', lines):
            if line not in text:
                yield f'{path} has no "{line}"'


def main():
    units, sim, rows, bad = unit_tests(), read("tests/sim/test_sim.sh"), [], []
    for line in read(PAGE).splitlines():
        cells = line.split(" | ")
        row = re.match(r"\| (F[LRT]\d+|[ANPL]\d+) ", line)
        if not row:
            continue
        rows.append(row[1])
        if len(cells) < 4 and not line.endswith("| |"):
            bad.append(f"{row[1]}: want four cells")
        elif "`" not in cells[2] and "*none*" not in cells[2]:
            bad.append(f"{row[1]}: names no test, and does not say *none*")
        bad += [f"{row[1]}: {x}" for x in faults_of(cells[2], units, sim)]
    if rows != WANTED:
        bad.append("want rows A1..A35, N1..N14, P1..P25, L1..L44, FL1..FL40, FR1..FR21, FT.., once each and in this order")
    print("".join(f"{PAGE}: {x}\n" for x in bad), end="")
    return 1 if bad else 0


sys.exit(main())
