#!/usr/bin/env python3
"""rights.py REQUESTS USER ABSENT_GROUPS < `kubectl get clusterroles,roles -A -o json`: compares the rules that USER's
Roles give with the requests of request_recorder.py that were made as USER itself. Prints "missing ..." for a request that no
rule allows and "more ..." for a rule, or a part of one, that no request needs; nothing when they are exact."""
import json
import sys
from urllib.parse import unquote

# Not asked for in a request of its own: the server asks for them when these are written.
IMPLIED = {("escalate", "clusterroles"): {("patch", "clusterroles")},
           ("bind", "clusterroles"): {("patch", "clusterrolebindings"), ("patch", "rolebindings")}}


def parse(method, target, kind):
    path, _, query = target.partition("?")
    parts = [unquote(p) for p in path.strip("/").split("/")]
    if len(parts) < 3 and not (parts[0] == "api" and len(parts) == 3):
        return None
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    if parts[0] not in ("api", "apis") or not rest:
        return None
    space = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        space, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    if len(rest) > 2:
        resource += "/" + rest[2]
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method)
    if method == "GET":
        verb = "get" if name else "watch" if "watch=" in query else "list"
    verbs = [verb, "create"] if kind == "application/apply-patch+yaml" else [verb]
    return [(v, group, resource, space, name) for v in verbs]


def atoms(role):
    """(verb, group, resource, namespace, name) of what a Role allows; "" for any."""
    space = role["metadata"].get("namespace", "")
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield verb, group, resource, space, name


def allows(atom, request):
    verb, group, resource, space, name = atom
    return (verb == request[0] and group in (request[1], "*") and resource in (request[2], "*") and
            space in (request[3], "") and name in (request[4], ""))


requests_file, user, absent = sys.argv[1:4]
absent = set(absent.split(","))
needed = set()
for line in open(requests_file, encoding="utf-8"):
    method, target, kind, who = line.split()
    if who != "-":
        _, _, space, name = who.split(":")
        needed.add(("impersonate", "", "serviceaccounts", space, name))
    else:
        needed.update(parse(method, target, kind) or [])
roles = [r for r in json.load(sys.stdin)["items"] if r["metadata"]["name"] in (user, user + "-records", user + "-webhook")]
given = sorted({a for r in roles for a in atoms(r)})
for request in sorted(needed):
    verb = request[0]
    if not any(allows(a, request) for a in given):
        print("missing", *request)
for atom in given:
    verb, group, resource = atom[:3]
    wide = resource == "*"
    used = [r for r in needed if allows(atom, r)]
    if wide:  # for what no other rule gives
        used = [r for r in used if not any(allows(a, r) for a in given if a != atom)]
    for other in IMPLIED.get((verb, resource), ()):
        used += [r for r in needed if (r[0], r[2]) == other]
    if not used and group not in absent:
        print("more", *atom)
