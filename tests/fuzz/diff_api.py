#!/usr/bin/env python3
"""diff_api.py [--seed N] [--runs N] [--rich] [--kinds REGEX] URL TOKEN URL TOKEN: generated writes of built-in kinds against two API servers.

The first is a real kube-apiserver, the second ours. Objects of every kind that both serve are changed by the types of the first
one's OpenAPI (values at the edges, of other types, left out, twice, unknown) and sent as POST, PUT and each type of PATCH, with
?dryRun=All (--rich: objects in which most fields stand). Codes, messages, causes, warnings and what would be stored are compared; the
differences come out grouped by class, most frequent first, each with one example."""
import argparse
import collections
import copy
import http.client
import json
import random
import re
import ssl
import sys
import time
import urllib.parse

sys.path.insert(0, __file__.rsplit('/', 1)[0])
from api_bases import BASES  # noqa: E402
from api_bases_rich import RICH  # noqa: E402

JSON, MERGE, PATCH, STRATEGIC, APPLY = ('application/json', 'application/merge-patch+json', 'application/json-patch+json',
                                        'application/strategic-merge-patch+json', 'application/apply-patch+yaml')


class Server:
    def __init__(self, url, token):
        self.host, self.token, self.c = urllib.parse.urlparse(url).netloc, token, None

    def send(self, method, path, body=None, kind=JSON, accept='*/*'):
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        for again in (0, 1):
            try:
                if not self.c:
                    self.c = http.client.HTTPSConnection(self.host, context=ssl._create_unverified_context(), timeout=60)
                self.c.request(method, path, text and text.encode(), {'Authorization': 'Bearer ' + self.token, 'Content-Type': kind, 'Accept': accept})
                r = self.c.getresponse()
                data = r.read()
                warnings = [w.split(' ', 2)[2].strip('"') for w in r.headers.get_all('Warning') or []]
                try:
                    return r.status, json.loads(data), warnings
                except ValueError:
                    return r.status, {'text': data.decode(errors='replace')}, warnings
            except (http.client.HTTPException, OSError):
                self.c = None
                if again:
                    return 0, {'text': 'no answer'}, []


class Types:
    def __init__(self, server):
        self.schemas, self.server, self.seen = {}, server, set()

    def load(self, group_version):
        if group_version in self.seen:
            return
        self.seen.add(group_version)
        code, doc, _ = self.server.send('GET', '/openapi/v3/' + group_version)
        if code == 200:
            self.schemas.update(doc['components']['schemas'])

    def of_kind(self, group, version, kind):
        for name, s in self.schemas.items():
            for g in s.get('x-kubernetes-group-version-kind', ()):
                if (g['group'], g['version'], g['kind']) == (group, version, kind) and name.endswith('.' + kind):
                    return s
        return {}

    def resolve(self, s):
        while s:
            ref = s.get('$ref') or next((x['$ref'] for x in s.get('allOf', ()) if '$ref' in x), None)
            if not ref:
                return s
            s = self.schemas.get(ref.rsplit('/', 1)[1], {})
        return {}


NAMES = ['a', 'x', 'a-b', 'a.b', 'A', 'a_b', '-a', 'a-', 'é', 'a/b', 'example.com/a', 'x' * 63, 'x' * 64, 'x' * 254, '', ' ', '1', '*', '0', 'TCP',
         'UDP', 'Always', 'Never', 'RollingUpdate', 'Recreate', 'ClusterIP', 'http', 'cpu', 'memory', '10.0.0.1', '::1', '10.0.0.0/8', '1Gi', '100m',
         '50%', '150%', 'ReadWriteOnce', 'Exists', 'In', 'NoSchedule', 'kubernetes.io/hostname', '/', '/a/../b', 'a:b', 'a\nb', 'true', 'b', 'default',
         '2020-01-01T00:00:00Z', '-1', '1e3', 'https://a.b/c', 'v1', 'apps/v1', 'Pod', 'pods', 'Deployment', 'get', 'requests.cpu', 'None', 'IPv4']
NUMBERS = [0, 1, -1, 2, 80, 65535, 65536, 100, 101, 30000, 2147483647, 2147483648, -2147483648, 9223372036854775807, 1.5, 3600, 86401]
QUANTITIES = ['1', '1Gi', '100m', '-1', '1.5', '1e3', 'x', '', '0', 1, 1.5, '1000000Ti', '0.1m', '1Ki', '12E', '+1', '1.', '.5', '01', True, [], {}]
ANY = ['x', 7, 1.5, True, [], {}, ['x'], [{}], {'k': 1}, {'k': 'v'}, None, '', [None]]


class Generator:
    def __init__(self, types, r):
        self.types, self.r = types, r

    def value(self, s, name='', depth=0):
        """A value of the type, mostly."""
        r, s = self.r, self.types.resolve(s)
        if r.random() < 0.08:
            return copy.deepcopy(r.choice(ANY))
        if 'enum' in s and r.random() < 0.8:
            return r.choice(s['enum'])
        if s.get('x-kubernetes-int-or-string') or s.get('format') == 'int-or-string':
            return r.choice(NUMBERS + NAMES)
        one = s.get('oneOf')
        if one and {'type': 'string'} in one:
            return copy.deepcopy(r.choice(QUANTITIES))
        kind = s.get('type')
        if kind == 'string':
            if s.get('format') == 'date-time':
                return r.choice(['2020-01-01T00:00:00Z', '2020-01-01', 'x', '2020-01-01T00:00:00.5+01:00', '2020-01-01T00:00:00.123456Z', None])
            if s.get('format') == 'byte':
                return r.choice(['YQ==', 'YQ', 'a', '', 'YWI=', '!', 'YQ==\n'])
            return r.choice(NAMES)
        if kind == 'integer':
            return r.choice(NUMBERS)
        if kind == 'number':
            return r.choice(NUMBERS)
        if kind == 'boolean':
            return r.choice([True, False])
        if kind == 'array':
            return [self.value(s.get('items', {}), name, depth + 1) for _ in range(r.choice([0, 1, 1, 2]))]
        props = s.get('properties')
        if kind == 'object' and props:
            if depth > 5:
                return {}
            o = {k: self.value(props[k], k, depth + 1) for k in s.get('required', ()) if k in props}
            for k in r.sample(sorted(props), min(len(props), r.choice([0, 1, 1, 2]))):
                o[k] = self.value(props[k], k, depth + 1)
            return o
        if kind == 'object' and 'additionalProperties' in s:
            return {r.choice(NAMES): self.value(s['additionalProperties'], '', depth + 1) for _ in range(r.choice([0, 1, 1, 2]))}
        return copy.deepcopy(r.choice(ANY))

    def places(self, o, s, way=()):
        """Of all that stands in o: (way to it, its type); and the fields that could stand beside."""
        s = self.types.resolve(s)
        if isinstance(o, dict):
            props = s.get('properties') or {}
            for k in sorted(set(o) | set(props)):
                if k in ('apiVersion', 'kind', 'managedFields') and not way or k == 'managedFields':
                    continue
                sub = props.get(k) or s.get('additionalProperties') or {}
                sub = sub if isinstance(sub, dict) else {}
                yield way + (k,), sub
                if k in o:
                    yield from self.places(o[k], sub, way + (k,))
        elif isinstance(o, list):
            for i, x in enumerate(o):
                yield way + (i,), s.get('items', {})
                yield from self.places(x, s.get('items', {}), way + (i,))

    def change(self, o, s):
        r = self.r
        places = [p for p in self.places(o, s) if r.random() < (0.15 if p[0][0] in ('metadata', 'status') else 1)]
        if not places:
            return
        way, sub = r.choice(places)
        if way == ('metadata',) or way == ('metadata', 'name') and r.random() < 0.7:
            return
        at = o
        for k in way[:-1]:
            at = at[k]
        what, k = r.random(), way[-1]
        if what < 0.12:
            if isinstance(at, list) or k in at:
                del at[k]
        elif what < 0.17 and isinstance(at, list):
            at.append(copy.deepcopy(at[k]))
        elif what < 0.20 and isinstance(at, dict):
            at[k + 'x'] = self.value(sub)
        elif what < 0.26:
            at[k] = copy.deepcopy(r.choice(ANY))
        else:
            at[k] = self.value(sub, str(k))

    def changed(self, base, s, most=2):
        o = copy.deepcopy(base)
        for _ in range(self.r.randint(1, most)):
            self.change(o, s)
        return o

    def diff(self, a, b):
        """A merge patch."""
        if not isinstance(a, dict) or not isinstance(b, dict):
            return b
        p = {k: None for k in a if k not in b}
        for k, v in b.items():
            if k not in a:
                p[k] = v
            elif a[k] != v:
                p[k] = self.diff(a[k], v)
        return p

    def json_patch(self, a, b, way=''):
        ops = []
        if isinstance(a, dict) and isinstance(b, dict):
            for k in list(a) + [k for k in b if k not in a]:
                at = way + '/' + k.replace('~', '~0').replace('/', '~1')
                if k not in b:
                    ops.append({'op': 'remove', 'path': at})
                elif k not in a:
                    ops.append({'op': 'add', 'path': at, 'value': b[k]})
                elif a[k] != b[k]:
                    ops += self.json_patch(a[k], b[k], at)
            return ops
        return [{'op': 'replace', 'path': way, 'value': b}]


# What a server draws for itself.
def neutral(text):
    text = re.sub(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'UID', text)
    text = re.sub(r'202[67]-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)', 'TIME', text)
    text = re.sub(r'10\.(0\.\d+|9\.0|9[6-9]\.\d+|1[01]\d\.\d+)\.\d+', 'ADDR', text)
    text = text.replace('https://kubernetes.default.svc.cluster.local', 'https://kubernetes.default.svc')  # as each is set up
    text = re.sub(r'"Duplicate value: 3\d{4}"', '"Duplicate value: 30000"', text)
    return re.sub(r'(odePort"?: ?(?:Duplicate value: )?)3\d{4}', r'\g<1>30000', text)


def emptied(o):
    """Go's server shows null where a time, a list or a pointer has none: ours leaves it out."""
    if isinstance(o, dict):
        return {k: emptied(v) for k, v in o.items() if v is not None}
    return [emptied(x) for x in o] if isinstance(o, list) else o


# What a patch made of an object is told with the object, whose members ours has in another order.
def shortened(message):
    return re.sub(r'patch: Invalid value: "\{.*": ', 'patch: Invalid value: OBJECT: ', message or '', flags=re.S) if 'patch: ' in (message or '') else message


# Differences that are meant, and why. Each takes a text away in both answers; what is equal then is counted apart.
EXPLAINED = (
    ('a value is shown as the API names its fields, not as the Go struct of the server does',
     r'Invalid value: (null|\{.*?\}|\[.*?\]): (?=[a-z`])', 'Invalid value: VALUE: '),
    ('an empty map is shown as one that is not there', r'Unsupported value: (null|\{\}): ', 'Unsupported value: VALUE: '),
    ('a struct is shown as the API names its fields, not as Go does', r'Unsupported value: \{.*?\}: (?=supported)', 'Unsupported value: VALUE: '),
    ('no diff of the Go structs follows a refusal', r'(\n@@ [^\n]*(\n[ +-][^\n]*)*)+\n?', ''),
)


def alike(o):
    """A refusal without what EXPLAINED takes away."""
    o = copy.deepcopy(o)
    for where in [o] + ((o.get('details') or {}).get('causes') or []):
        for _, pattern, by in EXPLAINED:
            where['message'] = re.sub(pattern, by, where.get('message') or '', flags=re.S)
    return o


def explained(a, b):
    """The reason why the two differ, or None."""
    for why, pattern, by in EXPLAINED:
        a, b = [re.sub(pattern, by, x, flags=re.S) for x in (a, b)]
        if re.sub(r'\s', '', a) == re.sub(r'\s', '', b):
            return why
    return None


def without_syntax(there, here):
    """Of a text that is no CEL at all ANTLR tells what it expected, token by token, and then what it makes of the rest: ours tells
    one place. Are the two the same but for that?"""
    told = []
    for o in (there, here):
        told.append([re.sub(r'ERROR: <input>:\d+:\d+: Syntax error: .*', 'SYNTAX', '%s: %s' % (c.get('field'), c.get('message')), flags=re.S)
                     for c in (o.get('details') or {}).get('causes') or []])
    return any('SYNTAX' in x for x in told[0]) and explained(*['\n\n'.join(x) for x in told]) is not None


def as_one_run(text):
    """Causes of one field and of its keys that stand side by side, in one order: a Go map has another one each time. Of a request
    without the limit that it needs the limits are told, and of sources of a metric their names."""
    def of(c):
        field = re.sub(r'(?<=^status\.capacity)\..*|(?<=^status\.allocatable)\..*', '', c.get('field') or '')
        key = re.search(r'\[([^]]*)\]$', field)
        if key and (not key[1].isdigit() or re.search(r'\.(requests|limits)\[', field) or ': "%s": ' % key[1] in c.get('message', '')):  # of a map, not of a list
            field = field[:key.start()]
        field = re.sub(r'(openAPIV3Schema(?:\.\w+)*?\.properties)\[.*', r'\1', field)  # a map of schemas
        if (c.get('message') or '').endswith('Limit must be set for non overcommitable resources'):
            field = re.sub('limits$', 'requests', field)
        if (c.get('message') or '').endswith('must populate the given metric source only'):
            field = re.sub(r'\.\w+$', '', field)
        return re.sub(r'(\.(attributes|capacity))\b.*', r'\1', re.sub(r'\[[^]]*\]', '[]', field))
    out, run = [], []
    for c in text + [{}]:
        if run and of(run[0]) != of(c):
            out += sorted(run, key=lambda x: (x.get('field'), x.get('message') or ''))
            run = []
        run.append(c)
    return out


def differ_in_order(a, b):
    """Why two refusals are the same but for the order of the keys of a map."""
    a, b = alike(a), alike(b)
    x, y = [(o.get('details') or {}).get('causes') or [] for o in (a, b)]
    words = [sorted(re.split(', | is invalid: ', re.sub(r'[][]', '', o.get('message') or ''))) for o in (a, b)]
    if x != y and words[0] == words[1] and as_one_run(x) == as_one_run(y):
        return 'causes of the keys of one map come in the order of a Go map, another one each time'
    if x != y and (a.get('details') or {}).get('kind') == 'Thing' and sorted(map(str, x)) == sorted(map(str, y)):
        return 'causes of the properties of a custom resource come in the order of a Go map, another one each time'
    fault = r'to convert new object .*json: cannot unmarshal \w+ into Go struct field JSONSchemaProps\.([\w.]+ of type [\w.]+)$'
    if a.get('message') != b.get('message') and all(re.search(fault, o.get('message') or '') for o in (a, b)):
        return 'of several faults of a schema one is told, the first in the order of a Go map'
    lines = [set(re.split('\n  (?=\\.)|(?<=\\)): (?=\\.)', o.get('message') or '')[1:]) for o in (a, b)]
    if lines[0] < lines[1] and any(x.endswith('not declared in schema') for x in lines[0]):
        return 'a field that is not declared ends the search in its map there, in the order of a Go map; here all are told'
    return None


def same_nothing(there, here):
    """A list without items is null there where the field is always shown (what is stored is protobuf, which has no empty list)."""
    if isinstance(there, dict) and isinstance(here, dict):
        for k in there:
            if there[k] is None and here.get(k) == []:
                here[k] = None
            same_nothing(there[k], here.get(k))
    elif isinstance(there, list) and isinstance(here, list):
        for x, y in zip(there, here):
            same_nothing(x, y)


def in_status(body):
    """Has the status a list with an item that has no type?"""
    status = body.get('status') if isinstance(body, dict) else None
    return isinstance(status, dict) and any(isinstance(x, dict) and 'type' not in x for v in status.values() if isinstance(v, list) for x in v)


def is_sub(path):
    return path.split('?')[0].endswith('/status')


def without_reprinting(req, there):
    """A PATCH of a ControllerRevision prints its raw data anew, with other blanks, and the real server takes that for a change of the
    data. Its answer without that cause, or None if that was the only one or the request changes the data."""
    method, path, body, kind = req
    causes = (there.get('details') or {}).get('causes') or []
    rest = [c for c in causes if not (c.get('field') == 'data' and c.get('message', '').endswith('field is immutable'))]
    if method != 'PATCH' or '/controllerrevisions/' not in path or len(rest) == len(causes):
        return there, False
    touched = [x.get('path', '').split('/')[1] for x in body] if isinstance(body, list) else list(body)
    stored = next(b['data'] for p, b in BASES + RICH if p.endswith('/controllerrevisions') and named(p, b)['metadata']['name'] in path)
    if kind == APPLY and body.get('data') == stored:
        touched.remove('data')
    data = body.get('data') if kind == MERGE else None
    if isinstance(data, dict) and all(v is None and k not in stored for k, v in data.items()):
        touched.remove('data')  # it takes away what is not there
    return (None if not rest else rest), 'data' not in touched


# Causes that are told there alone.
THERE_ALONE = (
    # 1000000Ti counted in thousandths is more than 64 bits hold
    ('an amount of which the thousandths overflow is no integer there', r'"1000000Ti": must be an integer$'),
    ('the plugin that names the account of a Pod is off there',
     r'serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set$'),
)


def without_some(there, here):
    """Why the two are the same but for causes that are told there alone; None."""
    a, b = [(o[1].get('details') or {}).get('causes') or [] for o in (there, here)]
    told = lambda causes: '\n\n'.join('%s: %s' % (c.get('field'), c.get('message')) for c in causes)  # noqa: E731
    for why, pattern in THERE_ALONE:
        rest = [c for c in a if not re.search(pattern, told([c]))]
        if there[0] == 422 and len(rest) < len(a) and (here[0] < 300 and not rest or here[0] == 422 and (rest == b or as_one_run(rest) == as_one_run(b) or explained(told(rest), told(b)))):
            return why
    if there[0] == 201 and here[0] == 403 and re.search(r'maximum \w+ usage per \w+ is \w+, but request is 12E$', here[1].get('message') or ''):
        return 'an amount of more than 64 bits is below any bound of a LimitRange there'
    return None


def overflown(warnings):
    return [w for w in warnings if not w.endswith('fractional byte value \\"1000000Ti\\" is invalid, must be an integer')]


def without_deletion(o):
    """An object that server-side apply creates keeps the time of its deletion there, which an object that POST creates does not: ours
    would be one that is being deleted."""
    o = copy.deepcopy(o)
    m = o.get('metadata', {})
    for key in ('deletionTimestamp', 'deletionGracePeriodSeconds'):
        m.pop(key, None)
        for f in m.get('managedFields') or []:
            f.get('fieldsV1', {}).get('f:metadata', {}).pop('f:' + key, None)
    for f in m.get('managedFields') or []:
        if f.get('fieldsV1', {}).get('f:metadata') == {}:
            del f['fieldsV1']['f:metadata']
    m['managedFields'] = [f for f in m.get('managedFields') or [] if f.get('fieldsV1')]
    return o


def without_keys(o):
    """Secrets of an account without a name: nothing is tracked of the whole account there, whose lists are maps by their names."""
    o = copy.deepcopy(o)
    if o.get('kind') == 'ServiceAccount' and any(not x.get('name') for x in o.get('secrets') or []):
        o['metadata'].pop('managedFields', None)
    return o


def without_tracking(req, o):
    """A list where a text with a format is wanted, or a new object's status, which is not taken, that is none: both sides let it pass, but
    nothing is tracked of the whole object there, as its types are read otherwise. Ours keeps what was tracked."""
    o = copy.deepcopy(o)
    is_wrong = isinstance(req[2], dict) and not isinstance(req[2].get('status', {}), dict)
    came = {'status': req[2][-1].get('value')} if req[3] == PATCH and req[2] and req[2][-1].get('path') == '/status' else req[2]
    if o.get('kind') == 'Thing' and (is_wrong or isinstance((o.get('spec') or {}).get('when'), list)) or not is_sub(req[1]) and in_status(came):
        o['metadata'].pop('managedFields', None)
    return o


def in_a_go_map(req, there, here):
    """A converter of maps stops at the first value of a wrong type, in the order of a Go map. Does the request have more than one, of which
    each server tells another one?"""
    a, b = [re.sub(r'JSONSchemaProps(\.\w+)* of', 'JSONSchemaProps of', o.get('message') or '') for o in (there, here)]
    if '/customresourcedefinitions' not in req[1] or req[3] not in (APPLY, STRATEGIC):
        return False
    tail = r': (unrecognized type: \w+|cannot restore \w+ from:? \w+)$'
    stops = all(re.search(tail, x) for x in (a, b))
    return a == b and 'Go struct field JSONSchemaProps' in a or stops and re.sub(tail, '', a) == re.sub(tail, '', b)


def without_protection(o):
    """A volume, a claim and a VolumeAttributesClass have a finalizer from their admission on there, which a controller takes away again;
    here nobody would. What is wrong with others behind it is told by their places."""
    text = json.dumps(o)
    return json.loads(re.sub(r'metadata\.finalizers\[(\d+)\]', lambda m: 'metadata.finalizers[%d]' % (int(m.group(1)) - 1), text))


def without_drawn_name(req, o):
    """A name that the server draws is told with what is wrong with it."""
    prefix = isinstance(req[2], dict) and not (req[2].get('metadata') or {}).get('name') and (req[2].get('metadata') or {}).get('generateName')
    drawn = r'"' + re.escape(json.dumps(prefix or '')[1:-1]) + r'[bcdfghjklmnpqrstvwxz2456789]{5}(?=\\?")'
    return json.loads(re.sub(drawn, '"DRAWN', json.dumps(o))) if prefix else o


CONTROLLERS = ('kube-controller-manager', 'kube-apiserver', 'api-priority-and-fairness-config-consumer-v1')
PROTECTION = ('kubernetes.io/pvc-protection', 'kubernetes.io/pv-protection', 'kubernetes.io/vac-protection')


def of_no_field(req, answer):
    """Is what is unknown there in the status of subresources, a struct without fields, which server-side apply takes as anything?"""
    found = re.findall(r'unknown field "(.*?)"', answer.get('message') or '')
    return '/customresourcedefinitions/' in req[1] and found and all('.subresources.status.' in x for x in found)


def without_controllers(o):
    """Without what controllers write on one of the sides, and the finalizers that one would have to take away again."""
    o = copy.deepcopy(o)
    m = o.get('metadata', {})
    for key, keep in (('finalizers', lambda x: x not in PROTECTION), ('managedFields', lambda x: x.get('manager') not in CONTROLLERS)):
        m[key] = [x for x in m.get(key) or [] if keep(x)]
        if not m[key]:
            del m[key]
    if o.get('kind') in ('ResourceQuota', 'ValidatingAdmissionPolicy'):
        o.pop('status', None)
    if o.get('kind') == 'ResourceQuota':
        for f in m.get('managedFields') or []:  # who has a part of it depends on what was there
            if f.get('subresource') == 'status':
                f['fieldsV1'] = {}
    if o.get('kind') == 'ValidatingAdmissionPolicy':  # whether a controller has looked at its types is no matter
        for f in m.get('managedFields') or []:
            for key in ('f:typeChecking', 'f:observedGeneration'):  # whose it is, where it is as it was
                f.get('fieldsV1', {}).get('f:status', {}).pop(key, None)
            if f.get('fieldsV1', {}).get('f:status') == {}:
                del f['fieldsV1']['f:status']
        m['managedFields'] = [f for f in m.get('managedFields') or [] if f.get('fieldsV1')]
    for f in m.get('managedFields') or []:
        if o.get('kind') == 'FlowSchema':  # who began the list is a loop there
            f.get('fieldsV1', {}).get('f:status', {}).get('f:conditions', {}).pop('.', None)
        if o.get('kind') in ('VolumeAttributesClass', 'PersistentVolumeClaim', 'PersistentVolume'):  # and here who set the first finalizer
            f.get('fieldsV1', {}).get('f:metadata', {}).get('f:finalizers', {}).pop('.', None)
    if o.get('kind') == 'CustomResourceDefinition' and isinstance(o.get('status'), dict):  # the names are accepted afterwards there
        o['status'].pop('acceptedNames', None)
    for kind, condition in (('APIService', 'Available'), ('FlowSchema', 'Dangling')):  # of the server's own loops
        status = o.get('status')
        if o.get('kind') == kind and isinstance(status, dict) and isinstance(status.get('conditions'), list):
            status['conditions'] = [c for c in status['conditions'] if c.get('type') != condition]
            if not status['conditions']:
                del status['conditions']
    return o


def messages(answer):
    return '\n\n'.join([re.sub('^.*? is invalid: ', '', answer.get('message') or '', flags=re.S)] + [
        '%s: %s' % (c.get('field'), c.get('message')) for c in (answer.get('details') or {}).get('causes') or ()])


def bare(answer, code):
    if code >= 400:
        o = copy.deepcopy({k: answer.get(k) for k in ('message', 'reason', 'details', 'text') if k in answer})
        o['message'] = shortened(o.get('message'))
        for c in (o.get('details') or {}).get('causes') or ():
            if c.get('field') == 'patch':
                c['message'] = shortened('patch: ' + (c.get('message') or ''))
        head, *lines = (o['message'] or '').split('\n  .')
        if lines:  # the order of a Go map: another one each time
            o['message'] = '\n  .'.join([head] + sorted(lines))
        if re.search('typed patch object|to convert new object', o['message'] or ''):  # a client's fault is none of the server here
            o['reason'] = 'BadRequest'
        return o
    o = emptied(answer)
    m = o.get('metadata', {})
    for k in ('uid', 'resourceVersion', 'creationTimestamp', 'selfLink', 'generation'):
        m.pop(k, None)
    for k in ('clusterIP', 'clusterIPs'):
        if o.get('kind') == 'Service' and k in o.get('spec', {}) and 'ADDR' in neutral(json.dumps(o['spec'][k])):
            del o['spec'][k]
    for f in m.get('managedFields') or []:
        f.pop('time', None)
    if m.get('managedFields'):
        m['managedFields'].sort(key=lambda f: json.dumps(f, sort_keys=True))
    return o


def first_difference(a, b, way=''):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted(set(a) | set(b)):
            if k not in a or k not in b:
                return '%s.%s %s' % (way, k, 'missing there' if k not in a else 'missing here')
            d = first_difference(a[k], b[k], way + '.' + k)
            if d:
                return d
        return None
    if isinstance(a, list) and isinstance(b, list):
        for i, (x, y) in enumerate(zip(a, b)):
            d = first_difference(x, y, way + '[]')
            if d:
                return d
        return None if len(a) == len(b) else way + '[] lengths'
    return None if a == b else way + ' differs'


def causes(answer):
    m = re.sub(r'"[^"]*"', 'Q', answer.get('message') or answer.get('text') or '')
    m = re.sub(r'\d+', 'N', m)
    return m


def signature(kind, how, there, here):
    """A class of differences."""
    (code, a, wa), (mine, b, wb) = there, here
    if code != mine or code >= 400:
        pa = set((c.get('field'), c.get('reason'), re.sub(r'"[^"]*"|\d+', '_', c.get('message', ''))) for c in (a.get('details') or {}).get('causes') or ())
        pb = set((c.get('field'), c.get('reason'), re.sub(r'"[^"]*"|\d+', '_', c.get('message', ''))) for c in (b.get('details') or {}).get('causes') or ())
        only = lambda x, y: '; '.join(sorted('%s %s' % (re.sub(r'\[[^]]*\]', '[]', c[0] or ''), c[2][-90:]) for c in x - y))[:260]  # noqa: E731
        text = 'there only: %s | here only: %s' % (only(pa, pb), only(pb, pa))
        if pa == pb:
            text = (causes(a)[:140] if code >= 400 else 'ok') + ' | ' + (causes(b)[:140] if mine >= 400 else 'ok')
        return '%s %d/%d %s' % (kind, code, mine, text)
    if wa != wb:
        return '%s %s warnings %s | %s' % (kind, how, causes({'message': '; '.join(x for x in wa if x not in wb)})[:150], causes({'message': '; '.join(x for x in wb if x not in wa)})[:150])
    return '%s %s object %s' % (kind, how if 'managedFields' in (first_difference(a, b) or '') else '', first_difference(a, b))


def for_ours(req):
    """A server has the Service of its own API at the first of its addresses, so each is asked for its own first one."""
    method, path, body, kind = req
    return (method, path, json.dumps(body).replace('"10.0.0.1"', '"10.96.0.1"') if '/services' in path else body, kind)


def in_range(req):
    """A dry run gives out any port of nodes there, also one that a write would be refused for: the same with one of their range."""
    text = json.dumps(req[2])
    for pattern in (r'("nodePort": )-?\d+', r'(/nodePort", "value": )-?\d+'):
        text = re.sub(pattern, r'\g<1>32700', text)
    return (req[0], req[1], json.loads(text), req[3])


def is_review(path):
    return path.endswith('reviews')


def named(path, body):
    return body if is_review(path) else dict(body, metadata=dict({'name': 'base'}, **body.get('metadata', {})))


def compared(there, here):
    """Both answers as they are compared."""
    if there[0] == here[0] < 300:
        same_nothing(there[1], here[1])
    return [(c, json.loads(neutral(json.dumps(bare(d, c)))), w) for c, d, w in (there, here)]


def reason(req, how, x, y):
    """Why two answers that differ (compared()) may, or None."""
    why = explained(messages(x[1]), messages(y[1])) if x[0] == y[0] >= 400 else None
    if x[0] == y[0] >= 400 and not why:
        why = differ_in_order(x[1], y[1])
    if x[0] == y[0] == 422 and not why and without_syntax(x[1], y[1]):
        why = 'a text that is no CEL at all is told with one place, not with all that ANTLR expected'
    if x[0] == y[0] and x[0] in (201, 422) and x[2] == y[2] and not why and without_drawn_name(req, x[1]) == without_drawn_name(req, y[1]):
        why = 'a name that each server draws for itself'
    if x[0] == y[0] == 422 and not why and '/volumeattributesclasses' in req[1] and without_protection(x[1]) == y[1]:
        why = 'finalizers of a VolumeAttributesClass stand behind one that only one side has'
    if x[0] == 500 and y[0] == 400 and 'does not contain declared merge key' in (y[1].get('message') or '') and re.search(
            'does not contain declared merge key|list element types are not identical', x[1].get('message') or ''):
        why = 'an item of a strategic merge patch without its key is a fault of the client here'
    if x[0] == 500 and y[0] != 500 and how == 'STRATEGIC' and 'does not contain declared merge key' in (x[1].get('message') or '') and not is_sub(req[1]) and in_status(req[2]):
        why = 'a status that is not written is merged all the same there, and fails'
    if x[0] == 500 and y[0] == 422 and how == 'STRATEGIC' and re.match('list element types are not identical: ', x[1].get('message') or ''):
        why = 'items of another type in a strategic merge patch are a fault of the client here'
    why = why or without_some(x, y)
    if x[2] != y[2] == overflown(x[2]):
        x = x[:2] + y[2:]
        why = THERE_ALONE[0][0] if x == y else why
    if how in ('STRATEGIC', 'APPLY', 'APPLYSTATUS') and x[0] == y[0] == 422 and not why and re.search('/persistentvolume(claim)?s/', req[1]) and explained(
            messages(without_protection(x[1])), messages(y[1])):
        why = 'finalizers of volumes and claims stand behind one that their admission has put there'
    no_path = re.match(r'resource name may not be (?=empty$)|invalid resource name "(.*)": \[', x[1].get('message') or '')
    if '/apiservices/' in req[1] and x[0] == y[0] == 422 and re.sub(r'conditions.\d.', 'conditions[]', messages(x[1])) == re.sub(r'conditions.\d.', 'conditions[]', messages(y[1])):
        why = 'a condition that a controller keeps stands before those that are applied'
    if x[:2] == y[:2] and sorted(x[2]) == sorted(y[2]) and any('finalizer' in w for w in x[2]):
        why = 'warnings of finalizers come in the order of a Go map, another one each time'
    if x[0] == 500 and y[0] == 403 and no_path and 'RuntimeClass "%s" not found' % (no_path[1] or '') in y[1].get('message'):
        why = 'a class whose name can stand in no path is a fault of the server there'
    if x[0] == 201 and y[0] == 422 and re.search(r' is invalid: spec\.clusterIPs: Invalid value: \["[\w.:]+"\]: failed to allocate IP \S+: provided IP is already allocated$', y[1].get('message') or ''):
        why = 'a dry run of a new Service does not ask there whether its address is taken'
    if x[0] == 500 and y[0] == 422 and re.match(r'duplicate nodePort: ', x[1].get('message') or '') and 'provided port is already allocated' in (y[1].get('message') or ''):
        why = 'a port of nodes that is asked for twice is a fault of the server there'
    if x[0] == 500 and 'unable to find api field in struct RawExtension' in (x[1].get('message') or ''):
        why = 'a strategic merge patch of raw data looks for its types there'
    if x[0] == y[0] >= 400 and not why and in_a_go_map(req, x[1], y[1]):
        why = 'the first of several values of a wrong type in a map of schemas, in the order of a Go map'
    if x[0] == 500 and y[0] < 300 and how == 'STRATEGIC' and re.match(r'unable to find api field in struct \w+ for the json field "\w+x"$', x[1].get('message') or ''):
        why = 'an unknown list in two items of one key of a strategic merge patch is a fault of the server there'
    if x[0] == 422:
        rest, is_fault = without_reprinting(req, x[1])
        mine = None if y[0] < 300 else (y[1].get('details') or {}).get('causes')
        if is_fault and (y[0] < 300) == (rest is None) and as_one_run(rest or []) == as_one_run(mine or []):
            why = 'a PATCH of a ControllerRevision changes the blanks of its data there, which is refused as a change'
    if x[0] == y[0] < 300 and x[2] == y[2] and without_controllers(x[1]) == without_controllers(y[1]):
        why = 'what a controller writes, and finalizers that only one takes away'
    if x[0] == y[0] == 201 and x[2] == y[2] and how == 'APPLYNEW' and not why and without_deletion(without_controllers(x[1])) == without_deletion(without_controllers(y[1])):
        why = 'server-side apply that creates keeps metadata.deletionTimestamp and its seconds there'
    if x[0] == y[0] < 300 and x[2] == y[2] and not why and without_keys(x[1]) == without_keys(y[1]):
        why = 'managedFields of a ServiceAccount with a Secret without a name are dropped there'
    if how in ('APPLY', 'APPLYNEW') and y[0] == 400 and x[0] != 400 and of_no_field(req, y[1]):
        why = 'what is unknown in a struct without fields is dropped in silence by server-side apply there'
    if x[0] == y[0] < 300 and x[2] == y[2] and not why and without_tracking(req, without_controllers(x[1])) == without_tracking(req, without_controllers(y[1])):
        why = 'managedFields of a custom resource with a list for a text, or of a status that is not taken and is no object, or has a condition without its type, are dropped there'
    return why


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--runs', type=int, default=1000)
    p.add_argument('--kinds', default='')
    p.add_argument('--rich', action='store_true')
    p.add_argument('--out')
    p.add_argument('servers', nargs=4)
    a = p.parse_args()
    real, ours = Server(*a.servers[:2]), Server(*a.servers[2:])
    r = random.Random(a.seed)
    types = Types(real)
    gen = Generator(types, r)
    bases = []
    for path, body in RICH if a.rich else BASES:
        if a.kinds and not re.search(a.kinds, path):
            continue
        parts = path.strip('/').split('/')
        group_version = '/'.join(parts[:2] if parts[0] == 'api' else parts[:3])
        for _ in range(300):  # a definition that was just made
            if not parts[1].endswith('.example.com') or real.send('GET', '/openapi/v3/' + group_version)[0] == 200:
                break
            time.sleep(0.1)
        types.load(group_version)
        body = named(path, body)
        answers = [s.send('POST', path, body) for s in (real, ours)]
        if answers[0][0] not in (201, 409) or answers[1][0] not in (201, 409):
            print('BASE', path, answers[0][0], answers[1][0], causes(answers[0][1])[:200], '|', causes(answers[1][1])[:200])
            if answers[0][0] not in (201, 409):
                continue
        kind = None
        code, lists, _ = real.send('GET', '/' + group_version)
        for x in lists['resources']:
            if x['name'] == parts[-1]:
                kind = x['kind']
        group = '' if parts[0] == 'api' else parts[1]
        s = types.of_kind(group, parts[1] if parts[0] == 'api' else parts[2], kind)
        bases.append((path, kind, body, s, group_version.split('/', 1)[1]))
    found, example, meant, n = collections.Counter(), {}, collections.Counter(), 0
    for _ in range(a.runs):
        path, kind, body, s, gv = r.choice(bases)
        name = body.get('metadata', {}).get('name', 'base')
        strict = r.choice(['', '&fieldValidation=Strict', '&fieldValidation=Ignore'])
        how = r.choice(['POST', 'POST', 'POST', 'PUT', 'MERGE', 'PATCH', 'STRATEGIC', 'APPLY', 'APPLYNEW', 'STATUS', 'APPLYSTATUS'])
        o = gen.changed(body, s, 3 if how == 'POST' else 2)
        q = '?dryRun=All' + strict
        one = path + '/' + name
        if how == 'POST':
            if not is_review(path):
                o['metadata'] = dict(o.get('metadata') or {})
                if o['metadata'].get('name') == 'base':
                    o['metadata']['name'] = 'fresh'
            req = ('POST', path + q, o, JSON)
        elif how == 'PUT':
            req = ('PUT', one + q, o, JSON)
        elif how == 'MERGE':
            req = ('PATCH', one + q, gen.diff(body, o), MERGE)
        elif how == 'STRATEGIC':
            req = ('PATCH', one + q, gen.diff(body, o), STRATEGIC)
        elif how == 'PATCH':
            req = ('PATCH', one + q, gen.json_patch(body, o), PATCH)
        elif how == 'STATUS':
            st = types.resolve(types.resolve(s).get('properties', {}).get('status', {}))
            req = ('PATCH', one + '/status' + q, {'status': gen.value(st)}, MERGE)
        elif how == 'APPLYSTATUS':
            st = types.resolve(types.resolve(s).get('properties', {}).get('status', {}))
            o = dict(o if r.random() < 0.3 else {'metadata': {'name': name}}, apiVersion=gv, kind=kind, status=gen.value(st))
            req = ('PATCH', one + '/status' + q + '&fieldManager=m' + r.choice(['', '&force=true']), o, APPLY)
        else:
            if how == 'APPLYNEW':
                one = path + '/applied'
                o['metadata'] = dict(o.get('metadata') or {}, name='applied')
            o = dict(o, apiVersion=gv, kind=kind)
            req = ('PATCH', one + q + '&fieldManager=' + r.choice(['m', 'kubectl']) + r.choice(['', '&force=true']), o, APPLY)
        n += 1
        there, here = real.send(*req), ours.send(*for_ours(req))
        if here[0] == 422 and 'not in the valid range' not in (there[1].get('message') or '') and re.search(r'nodePort: Invalid value: -?\d+: provided port is not in the valid range', here[1].get('message') or ''):
            meant['a dry run gives out any port of nodes there: asked again for one in range'] += 1
            req = in_range(req)
            there, here = real.send(*req), ours.send(*for_ours(req))
        if there[0] == 0 and here[0] != 0:  # its handler has panicked
            meant['its handler has panicked there'] += 1
            continue
        if there[0] == 500 and here[0] == 400 and re.search('typed patch object|to convert new object', there[1].get('message') or ''):
            there = (400,) + there[1:]
        x, y = compared(there, here)
        if x == y:
            continue
        why = reason(req, how, x, y)
        if why:
            meant[why] += 1
            continue
        sig = signature(path.rsplit('/', 1)[1], how, x, y)
        found[sig] += 1
        if sig not in example or len(json.dumps(req[2])) < len(json.dumps(example[sig][0][2])):
            example[sig] = (req, x, y)
    print('%d requests, %d differ in %d classes, %d more are explained' % (n, sum(found.values()), len(found), sum(meant.values())))
    for why, count in meant.most_common():
        print('explained', count, why)
    for sig, count in found.most_common():
        print(count, sig)
    if a.out:
        with open(a.out, 'w') as f:
            for sig, count in found.most_common():
                req, x, y = example[sig]
                f.write(json.dumps({'class': sig, 'n': count, 'request': req, 'there': x, 'here': y}) + '\n')


if __name__ == "__main__":
    main()
