#!/usr/bin/env python3
"""table.py RESULT.json...: the Markdown table of RESULTS.md from what run.py (and judge.py) wrote."""

import json
import sys
from collections import Counter


def verdict(step):
    if step["ok"]:
        done = "waived" if step.get("waivers") or any("--accept" in c for c in step.get("followed", [])) else "ok"
        done += ", migrated" if any("migrate" in c for c in step.get("followed", [])) else ""
        return done + (", rbac" if step.get("rbac") else "")
    return "**stop**"


def findings(step):
    rules = Counter(f["rule"] for f in step.get("judged", []) if f.get("outcome") == "refuse")
    if step.get("dropped"):
        rules["ResourceDropped"] += len(step["dropped"])
    return ", ".join(f"{r} {n}" for r, n in sorted(rules.items()))


def row(r):
    steps = r["steps"]
    moves = [s for s in steps if s["step"].split()[0] in ("install", "upgrade")]
    first = moves[0]
    said = []
    for s in moves[1:]:
        refused = findings(s)
        said.append(f"{s['step'].split()[1]} {verdict(s)}" + (f" ({refused})" if refused else ""))
    created = sum(s.get("created", 0) for s in steps if s["step"] == "samples")
    lost = sum(len(s.get("crsLost", [])) for s in steps)
    other = [s for s in steps if s["step"].split()[0] in ("rollback", "delete")]
    rests = [s["rss"] for s in steps if s["step"] == "rest"]
    return [r["operator"], first["step"].split()[1] + ("" if first["ok"] else " **stop**"),
            f"{first.get('objects', '-')} / {first.get('crds', '-')}", "<br>".join(said),
            ", ".join(f"{s['step'].split()[0]} {verdict(s)}" for s in other),
            f"{created} / {lost}",
            f"{first['seconds']:.0f} / {max([s['seconds'] for s in moves[1:] if s['ok']] or [0]):.0f} / "
            f"{max([s['seconds'] for s in steps if s['step'] == 'delete'] or [0]):.0f}",
            f"{first['requests']} / {max([s['requests'] for s in moves[1:]] or [0])}",
            f"{max(s['rssPeak'] for s in steps):.0f} / {rests[0] if rests else 0:.0f}"]


def same(r):
    """What differs from helm template, in any version."""
    texts = [s for s in r["steps"] if "sameText" in s]
    missing = sorted({m for s in r["steps"] for m in s.get("missing", [])})
    differs = sorted({m for s in r["steps"] for m in s.get("differs", [])})
    return [r["operator"], f"{sum(s['sameText'] for s in texts)} of {len(texts)}",
            ", ".join(missing) or "-", ", ".join(differs) or "-"]


def losses(r):
    """Versions by (gate refused, real server loses): the CRD names of each."""
    if "losses" not in r:
        return None
    counts, odd, left = Counter(), [], []
    for s in r["steps"]:
        parts = s["step"].split()
        if parts[0] != "upgrade" or parts[1] not in r["losses"]:
            continue
        refused = {f["resource"].split("/")[0] for f in s.get("judged", []) if f.get("outcome") == "refuse"}
        lost = r["losses"][parts[1]]
        left += [f"{parts[1]} {name}" for name in sorted(set(s.get("dropped", [])) - set(lost))]
        for name in refused | set(lost):
            key = (name in refused, name in lost)
            counts[key] += 1
            if key[0] != key[1]:
                odd.append(f"{parts[1]} {name} " + ("refused, no loss seen" if key[0] else
                                                    "passed: " + "; ".join(lost[name])[:160]))
    return [r["operator"], str(counts[True, True]), "<br>".join(left) or "-", "<br>".join(odd) or "-"]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for cells in rows:
        print("| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    print()


def main():
    results = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            results.append(json.load(f))
    results.sort(key=lambda r: r["operator"])
    print("## Through the versions\n")
    table(["operator", "installed", "objects / CRDs", "upgrades (refused findings, before the waivers)", "then",
           "custom resources / lost", "seconds: install / slowest upgrade / delete", "requests: install / most of an upgrade",
           "MiB: peak / at rest"], [row(r) for r in results])
    print("## Every stop\n")
    table(["operator", "step", "what it says"],
          [[r["operator"], s["step"], s["stop"][:400]] for r in results for s in r["steps"] if s.get("stop")])
    print("## Against helm template and kubectl diff\n")
    table(["operator", "the same text", "missing in the cluster", "fields differ"], [same(r) for r in results])
    judged = [j for j in map(losses, results) if j]
    if judged:
        print("## The gate against a real API server\n")
        table(["operator", "CRDs refused, and the server loses something", "refused: kinds that nobody manages any more",
               "refused without a loss, or passed with one"], judged)


if __name__ == "__main__":
    main()
