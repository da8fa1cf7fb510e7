#!/usr/bin/env python3
"""diff_manifests.py [--out FILE] [--only REGEX] FOLDER URL TOKEN URL TOKEN: manifests that others wrote against two API servers.

The first is a real kube-apiserver, the second ours. Each YAML and JSON file below FOLDER is read; what has an apiVersion, a kind and a
name is an object (a kind List is its items). Definitions and namespaces are made on both; of all others a POST, a server-side apply
and an apply with fieldValidation=Strict are sent with ?dryRun=All; custom resources are made, labelled, applied, and deleted again.
What is no plain YAML (templates) is passed over and counted. Answers are compared as diff_api.py does. Needs python3-yaml."""
import argparse
import collections
import json
import os
import re
import sys
import time

import yaml

sys.path.insert(0, __file__.rsplit('/', 1)[0])
from diff_api import APPLY, JSON, MERGE, Server, compared, reason, signature  # noqa: E402

CRD = 'CustomResourceDefinition'


def objects_of(path):
    """Of one file; raises yaml.YAMLError."""
    with open(path, encoding='utf-8') as f:
        docs = list(yaml.load_all(f, Loader=yaml.CSafeLoader))
    for d in docs:
        for o in d.get('items') or [] if isinstance(d, dict) and d.get('kind') == 'List' else [d]:
            if isinstance(o, dict) and isinstance(o.get('apiVersion'), str) and isinstance(o.get('kind'), str) and isinstance(
                    o.get('metadata'), dict) and isinstance(o['metadata'].get('name') or o['metadata'].get('generateName'), str):
                yield json.loads(json.dumps(o, default=str))


def read_all(folder, only):
    found, unread, seen = [], 0, set()
    for at, dirs, files in os.walk(folder):
        dirs.sort()
        for name in sorted(files):
            path = os.path.join(at, name)
            if not os.path.isfile(path) or not name.endswith(('.yaml', '.yml', '.json')) or not re.search(only, path):
                continue
            try:
                for o in objects_of(path):
                    text = json.dumps(o, sort_keys=True)
                    if text not in seen and len(text) < 1 << 20:
                        found.append((path[len(folder):], o))
                    seen.add(text)
            except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError, RecursionError):
                unread += 1
    return found, unread


class Resources:
    """Where the objects of a kind are, as the first server tells."""
    def __init__(self, server):
        self.server, self.known = server, {}

    def path(self, o):
        gv, kind = o['apiVersion'], o['kind']
        if gv not in self.known:
            root = '/api/' + gv if '/' not in gv else '/apis/' + gv
            code, doc, _ = self.server.send('GET', root)
            if code != 200:
                return None
            self.known[gv] = {x['kind']: (root, x['name'], x['namespaced'], x['verbs']) for x in doc['resources'] if '/' not in x['name']}
        if kind not in self.known[gv]:
            return None
        root, plural, namespaced, verbs = self.known[gv][kind]
        ns = o['metadata'].get('namespace') or 'default'
        return None if 'create' not in verbs else root + ('/namespaces/%s/' % ns if namespaced else '/') + plural


class Run:
    def __init__(self, real, ours):
        self.real, self.ours = real, ours
        self.n, self.found, self.example, self.meant = 0, collections.Counter(), {}, collections.Counter()

    def table(self, path, where):
        """What kubectl get shows."""
        self.n += 1
        there, here = [s.send('GET', path, accept=TABLE) for s in (self.real, self.ours)]
        x, y = [without_age(t[1]) for t in (there, here)]
        if there[0] == here[0] and x == y:
            return
        sig = '%s TABLE %d/%d %s' % (path.split('/')[-1 if path.endswith('s') else -2], there[0], here[0], next((k for k in x if x[k] != y[k]), ''))
        self.found[sig] += 1
        self.example.setdefault(sig, (where, ('GET', path), (there[0], x, []), (here[0], y, [])))

    def ask(self, how, req, where):
        self.n += 1
        there, here = self.real.send(*req), self.ours.send(*req)
        if there[0] == 0 and here[0] != 0:
            return there
        if there[0] == 500 and here[0] == 400 and re.search('typed patch object|to convert new object', there[1].get('message') or ''):
            there = (400,) + there[1:]  # a client's fault is none of the server here
        x, y = [(c, ready(o), w) for c, o, w in compared(there, here)]
        if not (req[2] or {}).get('metadata', {}).get('name') and x[0] == y[0] == 201:
            x, y = [(c, json.loads(json.dumps(o).replace('"%s"' % o['metadata']['name'], '"DRAWN"')), w) for c, o, w in (x, y)]
        if x == y:
            return there
        why = reason(req, how, x, y)
        if not why and x[0] == y[0] == 422 and by_text(x[1]) == by_text(y[1]):
            why = 'causes of the properties of a custom resource come in the order of a Go map, another one each time'
        if why:
            self.meant[why] += 1
            return there
        sig = signature(req[1].split('?')[0].split('/')[-1 if how == 'POST' else -2], how, x, y)
        self.found[sig] += 1
        self.example.setdefault(sig, (where, req, x, y))
        return there


TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'


def without_age(table):
    """Both were made a moment ago, each in its moment."""
    rows = [[re.sub(r'^(\d+[smhd])+$|^<invalid>$', 'AGE', str(c)) for c in r['cells']] for r in table.get('rows') or []]
    columns = [{k: v for k, v in c.items() if k != 'description'} for c in table.get('columnDefinitions') or []]
    return {'columns': columns, 'rows': rows}


def by_text(answer):
    return sorted(str(c) for c in (answer.get('details') or {}).get('causes') or [])


def ready(o):
    """A definition is served at once here, and some turns of a loop later there: without its status."""
    if o.get('kind') != CRD:
        return o
    m = dict(o['metadata'], managedFields=[f for f in o['metadata'].get('managedFields') or [] if f.get('manager') != 'kube-apiserver'])
    return dict({k: v for k, v in o.items() if k != 'status'}, metadata=m)


def made(o):
    """As it is written down, without what only its server sets."""
    m = {k: v for k, v in o['metadata'].items() if k not in ('resourceVersion', 'uid', 'managedFields')}
    return dict(o, metadata=m)


def play(run, where, o, path, custom):
    name = o['metadata'].get('name')
    ways = [('POST', path, JSON), ('APPLYNEW', '%s/%s' % (path, name), APPLY)]
    for how, at, kind in ways[:2 if name else 1]:
        for strict in ('', '&fieldValidation=Strict'):
            q = '?dryRun=All' + strict + ('&fieldManager=m' if kind == APPLY else '')
            run.ask(how, ('POST' if how == 'POST' else 'PATCH', at + q, o, kind), where)
    if not custom or not name or run.ask('POST', ('POST', path, o, JSON), where)[0] != 201:
        return
    one = '%s/%s' % (path, name)
    run.ask('MERGE', ('PATCH', one, {'metadata': {'labels': {'x': 'y'}}}, MERGE), where)
    run.ask('APPLY', ('PATCH', one + '?fieldManager=m', o, APPLY), where)
    run.ask('GET', ('GET', one, None, JSON), where)
    for at in (one, path):
        run.table(at, where)
    for s in (run.real, run.ours):
        s.send('DELETE', one)
        s.send('PATCH', one, {'metadata': {'finalizers': None}}, MERGE)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--out')
    p.add_argument('--only', default='')
    p.add_argument('folder')
    p.add_argument('servers', nargs=4)
    a = p.parse_args()
    real, ours = Server(*a.servers[:2]), Server(*a.servers[2:])
    found, unread = read_all(a.folder, a.only)
    run, resources, skipped, custom = Run(real, ours), Resources(real), collections.Counter(), set()
    namespaces = {o['metadata'].get('namespace') for _, o in found if isinstance(o['metadata'].get('namespace'), str)}
    for s in (real, ours):
        for ns in sorted(x for x in namespaces if x):
            s.send('POST', '/api/v1/namespaces', {'metadata': {'name': ns}})
    for where, o in found:
        if o['kind'] == CRD and resources.path(o):
            play(run, where, made(o), resources.path(o), False)
            if real.send('POST', resources.path(o), made(o))[0] == 201:
                ours.send('POST', resources.path(o), made(o))
                custom.add(((o.get('spec') or {}).get('group'), ((o.get('spec') or {}).get('names') or {}).get('kind')))
    time.sleep(2 if custom else 0)  # until they are established
    for where, o in found:
        path = resources.path(o) if o['kind'] != CRD else ''
        if path:
            play(run, where, made(o), path, (o['apiVersion'].split('/')[0], o['kind']) in custom)
        elif path is None:
            skipped['%s %s' % (o['apiVersion'], o['kind'])] += 1
    for o in [o for _, o in found if o['kind'] == CRD]:
        for s in (real, ours):
            s.send('DELETE', '%s/%s' % (resources.path(o), o['metadata'].get('name')))
    print('%d objects, %d files that are no YAML, %d of kinds nobody serves' % (len(found), unread, sum(skipped.values())))
    print('%d requests, %d differ in %d classes, %d more are explained' % (run.n, sum(run.found.values()), len(run.found), sum(run.meant.values())))
    for why, count in run.meant.most_common():
        print('explained', count, why)
    for sig, count in run.found.most_common():
        print(count, sig)
    if a.out:
        with open(a.out, 'w') as f:
            for sig, count in run.found.most_common():
                where, req, x, y = run.example[sig]
                f.write(json.dumps({'class': sig, 'n': count, 'file': where, 'request': req, 'there': x, 'here': y}) + '\n')


if __name__ == '__main__':
    main()
