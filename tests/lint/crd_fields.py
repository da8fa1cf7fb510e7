#!/usr/bin/env python3
"""Every spec field of a CRD that a controller serves is read by code of the product, and so is every annotation and
label of crds/marks.h. Prints what is not, and exits 1: a field that is accepted and ignored is a promise broken.

A field counts as read where its whole path is a literal ("spec.upgrade.soak"), or where a literal of its name stands in
a file that has the whole path of its parent too (obj_get(upgrade, "to")), or in the file that READERS names for what
is below a field. unsupported.c counts, as what it has is refused with a reason.
"""
import glob
import re
import sys

SERVED = ("apptype", "strategy", "catalog", "bundle")
BY_TABLES = ("rollout",)  # alm/unit/rollout.c: tables that refuse what they do not know
WRITTEN = ("install",)  # by ALM alone: nothing is done by what it says
SOURCES = ("alm", "catalog", "installers")
# FIELD: the file that reads what is below it, of other sources of the same form, too.
READERS = {"bundle spec.config.from": "alm/source/config_from.c"}

# PATH: why no code reads it.
EXCEPTIONS = {
    "apptype spec.displayName": "for people: kubectl get -o yaml, describe",
    "apptype spec.description": "for people, as displayName",
    "apptype spec.keywords": "for people, as displayName",
    "apptype spec.links": "for people, as displayName",
    "apptype spec.links.name": "for people, as displayName",
    "apptype spec.links.url": "for people, as displayName",
    "apptype spec.resources.secretRef.name": "of each resource, in a loop (alm/sources/inplace.c)",
    "apptype spec.resources.secretRef.namespace": "as secretRef.name",
    "apptype spec.resources.outputs.name": "of each output, in a loop (alm/sources/inplace.c)",
    "apptype spec.resources.outputs.type": "as outputs.name",
    "apptype spec.resources.outputs.description": "as outputs.name",
    "bundle spec.approvals.prune.reason": "for people, and kept in the log",
    "bundle spec.approvals.prune.by": "for people, and kept in the log",
    "strategy spec.replaces": "for people, as its description says: the package decides the path",
}


# Written by ALM for people and their tools.
MARKS = {
    "ANNOTATION_INTENT": "tells which file or key an object of alm run is from",
    "ANNOTATION_REQUIRED_BY": "tells who made an AppType that nobody wrote",
}


def fields(text):
    """Paths below the schema's properties.spec, list items under the name of the list."""
    stack, skip = [], None  # (indent, key)
    for line in text.splitlines():
        m = re.match(r"^( *)(- )?([A-Za-z$][\w$.-]*):(.*)$", line)
        indent = len(line) - len(line.lstrip())
        if skip is not None:
            if not line.strip() or indent > skip:
                continue
            skip = None
        if not m:
            continue
        indent += len(m[2] or "")
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, m[3]))
        if re.match(r"^ *[>|]", m[4]):
            skip = indent
        keys = [k for _, k in stack]
        if "openAPIV3Schema" not in keys:
            continue
        keys = keys[keys.index("openAPIV3Schema") + 1 :]
        path, i = [], 0
        while i < len(keys):
            if keys[i] == "properties" and i + 1 < len(keys):
                path.append(keys[i + 1])
                i += 2
            elif keys[i] in ("items", "additionalProperties"):
                i += 1
            else:
                break
        if i == len(keys) and keys[-2:-1] == ["properties"] and path[:1] == ["spec"] and len(path) > 1:
            yield ".".join(path)


def literals(text):
    """Adjacent ones joined, macros of the file among them: KEYS_REF ".name"."""
    for name, value in re.findall(r'^#define +(\w+) +("[^"\n]*")', text, re.M):
        text = re.sub(rf"(?<!define )\b{name}\b", lambda _, v=value: v, text)
    text = re.sub(r'"[ \t\n]*"', lambda m: "" if m[0] != '""' else m[0], text)
    return set(re.findall(r'"((?:[^"\\\n]|\\.)*)"', text))


def main():
    bad = []
    files = {}
    for root in SOURCES:
        for name in glob.glob(f"{root}/**/*.c", recursive=True) + glob.glob(f"{root}/**/*.h", recursive=True):
            with open(name, encoding="utf-8") as f:
                files[name] = f.read()
    said = {name: literals(text) for name, text in files.items()}
    known = sorted(name[len("crds/") : -len(".yaml")] for name in glob.glob("crds/*.yaml"))
    for name in known:
        if name not in SERVED + BY_TABLES + WRITTEN:
            bad.append(f"crds/{name}.yaml: is not in the list of this program: a kind that no controller acts on is not installed")
    used = set()
    for kind in SERVED:
        with open(f"crds/{kind}.yaml", encoding="utf-8") as f:
            paths = list(fields(f.read()))
        if len(paths) < 5 or len(set(paths)) != len(paths):
            bad.append(f"crds/{kind}.yaml: {len(paths)} fields were found: is it in block style?")
        for path in paths:
            parent, leaf = path.rsplit(".", 1)
            read = any(path in s or (parent != "spec" and parent in s and leaf in s) for s in said.values())
            read = read or any(p.startswith(path + ".") for p in set().union(*said.values()))
            key = f"{kind} {path}"
            read = read or any(key.startswith(above + ".") and leaf in said[name] for above, name in READERS.items())
            if key in EXCEPTIONS:
                used.add(key)
                if any(path in s for s in said.values()):
                    bad.append(f"{key}: is read; it needs no exception")
            elif not read:
                bad.append(f"crds/{kind}.yaml: {path} is accepted, and no code reads it")
    bad += [f"{key}: there is no such field" for key in EXCEPTIONS if key not in used]
    with open("crds/marks.h", encoding="utf-8") as f:
        marks = re.findall(r"^#define ((?:ANNOTATION|LABEL|\w+)_\w+) +\"app\.coreos\.com/", f.read(), re.M)
    if len(marks) < 10:
        bad.append(f"crds/marks.h: only {len(marks)} marks were found")
    for mark in marks:
        # set, and looked at: by a function of alm/obj/meta.h, or as a member of a table or an expression
        asked = re.compile(r"(meta_annotation|meta_label|meta_has_finalizer|obj_str|obj_get|obj_has|cstr_\w+|is_\w+)\s*\([^;]*\b" + mark + r"\b")
        if mark not in MARKS and not any(asked.search(text) for text in files.values()):
            bad.append(f"crds/marks.h: {mark} is documented, and no code reads it")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
