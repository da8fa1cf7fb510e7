#!/usr/bin/env python3
"""circles.py BUILD/obj OBJECT...: prints how many circles there are, and fails on more than are known.

Of headers that include each other there is none. Files that call each other (what nm says that object files define and
use) stand in fewer circles than LINKED, and none has more files than LARGEST: a circle that is cut lowers the number.
"""
import os
import re
import subprocess
import sys

INCLUDED = 0
LINKED = 12
LARGEST = 9

sys.setrecursionlimit(10000)


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    order, low, stack, out = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in order:
            visit(node)
    return out


def included():
    files = subprocess.run(
        ["git", "ls-files", "alm/*.h", "catalog/*.h", "crds/*.h", "installers/*.h"], check=True, capture_output=True, text=True
    ).stdout.split()
    graph = {}
    for name in files:
        with open(name, encoding="utf-8") as f:
            graph[name] = [i for i in re.findall(r'^#include "([^"]+)"', f.read(), re.M) if i in files]
    return circles(graph)


def linked(root, objects):
    defined, used = {}, {}
    for line in subprocess.run(["nm", "-go", *objects], check=True, capture_output=True, text=True).stdout.splitlines():
        name, rest = line.split(":", 1)
        parts = rest.split()
        if parts[0] == "U":
            used.setdefault(name, set()).add(parts[1])
        else:
            defined[parts[2]] = name
    graph = {o: sorted({defined[s] for s in used.get(o, ()) if s in defined} - {o}) for o in objects}
    return [[os.path.relpath(o, root)[:-2] for o in c] for c in circles(graph)]


def main():
    headers, files = included(), linked(sys.argv[1], sys.argv[2:])
    largest = max(map(len, files), default=0)
    print(f"lint: circles: {len(headers)} of headers, {len(files)} of files that call each other, the largest of {largest}")
    bad = len(headers) > INCLUDED or len(files) > LINKED or largest > LARGEST
    if bad:
        for c in headers + sorted(files, key=len):
            print(f"  {len(c)}:", *c)
        print(f"more than {INCLUDED}, {LINKED} and {LARGEST} (tests/lint/circles.py): cut the new one")
    return bad


sys.exit(main())
