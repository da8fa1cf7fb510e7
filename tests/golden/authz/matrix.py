#!/usr/bin/env python3
"""The authorization matrix: who gets which answer for every verb on every kind at every path.

    matrix.py run URL TOKEN_FILE [--kinds MATRIX] [--cafile F]    asks a server, of the kinds of a matrix or of all
    matrix.py compare WANT GOT [DIFFERS]    compares two matrices; without DIFFERS GOT is of a real server

The token is of a member of system:masters. Every write is a dry run of an object that is not there, so that asking
changes nothing and each answer stands for itself; what the roles need is made first. A line of a matrix is a kind and a
path; a word of it is an identity; a letter of the word is the answer to one of REQUESTS, in their order:

    +  it may (2xx, or refused for what the request says: 400, 409, 415, 422)       F  403 Forbidden
    N  it may, and the object is not there (404 Status)                             A  401 Unauthorized
    P  there is no such page (404)        M  405 Method Not Allowed                 x  anything else

DIFFERS: lines "COUNT KIND PATH IDENTITY REQUEST WANT GOT REASON", * for any. Each tells how many letters it explains,
exactly: the list can only shrink.
"""
import fnmatch
import http.client
import json
import ssl
import sys
import time

GROUP = 'matrix.example.com'
RBAC = '/apis/rbac.authorization.k8s.io/v1'
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
NAME = 'matrix-none'
DRY = 'dryRun=All'
# name, method, suffix, body (None: no body; 'object': a minimal one), content type
REQUESTS = [
    ('list', 'GET', '', None, None),
    ('watch', 'GET', '?watch=true&timeoutSeconds=1', None, None),
    ('get', 'GET', '/{name}', None, None),
    ('create', 'POST', '?' + DRY, 'object', 'application/json'),
    ('create-named', 'POST', '/{name}?' + DRY, 'object', 'application/json'),
    ('update', 'PUT', '/{name}?' + DRY, 'object', 'application/json'),
    ('patch', 'PATCH', '/{name}?' + DRY, '{}', 'application/merge-patch+json'),
    ('apply', 'PATCH', '/{name}?fieldManager=m&' + DRY, 'object', 'application/apply-patch+yaml'),
    ('delete', 'DELETE', '/{name}?' + DRY, None, None),
    ('deletecollection', 'DELETE', '?labelSelector=none%3Dnone&' + DRY, None, None),
    ('get-status', 'GET', '/{name}/status', None, None),
    ('update-status', 'PUT', '/{name}/status?' + DRY, 'object', 'application/json'),
    ('patch-status', 'PATCH', '/{name}/status?' + DRY, '{}', 'application/merge-patch+json'),
    ('get-scale', 'GET', '/{name}/scale', None, None),
    ('patch-scale', 'PATCH', '/{name}/scale?' + DRY, '{}', 'application/merge-patch+json'),
]
LEGACY = [
    ('old-watch', 'GET', '', None, None),
    ('old-watch-named', 'GET', '/{name}', None, None),
]
ALL = REQUESTS + LEGACY
BRIEF = {'list', 'get', 'create', 'delete'}  # asked in the namespace where nobody has rights
# What an object has to say to be valid, so that rights alone decide.
POD = {'containers': [{'name': 'c', 'image': 'i'}]}
ONCE = {**POD, 'restartPolicy': 'Never'}
LABELS = {'metadata': {'labels': {'a': 'b'}}}
WORKLOAD = {'selector': {'matchLabels': {'a': 'b'}}, 'template': {**LABELS, 'spec': POD}}
REF = {'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'view'}}
BODIES = {
    'pods': {'spec': POD},
    'podtemplates': {'template': {'spec': POD}},
    'replicationcontrollers': {'spec': {'selector': {'a': 'b'}, 'template': {**LABELS, 'spec': POD}}},
    'daemonsets': {'spec': WORKLOAD},
    'deployments': {'spec': WORKLOAD},
    'replicasets': {'spec': WORKLOAD},
    'statefulsets': {'spec': WORKLOAD},
    'jobs': {'spec': {'template': {'spec': ONCE}}},
    'cronjobs': {'spec': {'schedule': '* * * * *', 'jobTemplate': {'spec': {'template': {'spec': ONCE}}}}},
    'controllerrevisions': {'data': {}},
    'services': {'spec': {'ports': [{'port': 1}]}},
    'limitranges': {'spec': {'limits': []}},
    'events': {'involvedObject': {'namespace': 'NS'}, 'regarding': {'namespace': 'NS'}, 'type': 'Normal', 'action': 'A', 'reason': 'R',
               'eventTime': '2030-01-02T08:00:00.000000Z', 'reportingController': 'a/b', 'reportingComponent': 'a/b', 'reportingInstance': 'i'},
    'persistentvolumes': {'spec': {'accessModes': ['ReadWriteOnce'], 'capacity': {'storage': '1'}, 'hostPath': {'path': '/x'}}},
    'persistentvolumeclaims': {'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1'}}}},
    'roles': {'rules': []},
    'clusterroles': {'rules': []},
    'rolebindings': REF,
    'clusterrolebindings': REF,
    'validatingadmissionpolicies': {'spec': {'validations': [{'expression': 'true'}], 'matchConstraints': {'resourceRules': [
        {'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['pods']}]}}},
    'validatingadmissionpolicybindings': {'spec': {'policyName': 'p', 'validationActions': ['Deny']}},
    'horizontalpodautoscalers': {'spec': {'maxReplicas': 1, 'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}}},
    'endpointslices': {'addressType': 'IPv4', 'endpoints': []},
    'ingressclasses': {'spec': {'controller': 'a.b/c'}},
    'ingresses': {'spec': {'defaultBackend': {'service': {'name': 's', 'port': {'number': 1}}}}},
    'runtimeclasses': {'handler': 'h'},
    'csistoragecapacities': {'storageClassName': 'c'},
    'storageclasses': {'provisioner': 'p'},
    'volumeattachments': {'spec': {'attacher': 'a', 'nodeName': 'n', 'source': {'persistentVolumeName': 'v'}}},
}
# Identity -> headers. Anonymous has no credential; the account comes with its own token.
IDENTITIES = {
    'anonymous': None,
    'nobody': {'Impersonate-User': 'matrix-nobody'},
    'namespaced': {'Impersonate-User': 'matrix-namespaced'},
    'view': {'Impersonate-User': 'matrix-view'},
    'admin': {'Impersonate-User': 'matrix-admin'},
    'updater': {'Impersonate-User': 'matrix-updater'},
    'account': 'token',
}
PATHS = ['/version', '/healthz', '/readyz', '/metrics', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1',
         '/apis/nope.example.com', '/openapi/v2', '/openapi/v3', '/.well-known/openid-configuration', '/openid/v1/jwks', '/nope',
         '/apis/nope.example.com/v1/things', '/apis/nope.example.com/v1/namespaces/matrix-a/things/x', '/api/v1/nope',
         '/api/v1/namespaces/matrix-a', '/api/v1/namespaces/matrix-b', '/api/v1/namespaces/matrix-a/status',
         '/api/v1/namespaces/matrix-a/finalize', '/api/v1/namespaces/matrix-a/nodes/x/status',
         '/api/v1/namespaces/matrix-a/namespaces/matrix-b', '/api/v1/namespaces/matrix-a/configmaps/x/y',
         '/api/v1/namespaces/matrix-a/configmaps/x/y/z', '/api/v1/watch/namespaces/matrix-a',
         '/api/v1/namespaces/matrix-a/serviceaccounts/x/token']


class Server:
    def __init__(self, url, token, cafile=None):
        self.host = url.split('//')[1].rstrip('/')
        self.auth = {'Authorization': 'Bearer ' + token}
        self.ctx = ssl.create_default_context(cafile=cafile) if cafile else ssl._create_unverified_context()
        self.conn = None

    def ask(self, method, path, headers, body=None, content_type=None, stream=False):
        """(status, bytes of the answer, its Content-Type); of a stream the beginning."""
        headers = dict(headers)
        if body is not None:
            headers['Content-Type'] = content_type
        for attempt in (1, 2):
            try:
                if not self.conn:
                    self.conn = http.client.HTTPSConnection(self.host, context=self.ctx, timeout=60)
                self.conn.request(method, path, body, headers)
                r = self.conn.getresponse()
                kind = r.getheader('Content-Type') or ''
                if stream and r.status == 200:
                    self.conn.close()
                    self.conn = None
                    return 200, b'', kind
                return r.status, r.read(), kind
            except (http.client.HTTPException, ConnectionError):
                self.conn = None
                if attempt == 2:
                    raise

    def admin(self, method, path, body=None, ok=(200, 201, 409)):
        status, data, _ = self.ask(method, path, self.auth, json.dumps(body) if body is not None else None, 'application/json')
        if status not in ok:
            sys.exit(f'{method} {path}: {status} {data[:300]}')
        return json.loads(data)


def verdict(status, data, content_type):
    if status == 404:
        return 'N' if content_type.startswith('application/json') and json.loads(data).get('details', {}).get('name') else 'P'
    if status < 300 or status in (400, 409, 415, 422):
        return '+'
    return {401: 'A', 403: 'F', 405: 'M'}.get(status, 'x')


def crd(plural, kind, scope):
    schema = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
    version = {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema},
               'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n'}}}
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': f'{plural}.{GROUP}'},
            'spec': {'group': GROUP, 'scope': scope, 'names': {'plural': plural, 'kind': kind}, 'versions': [version]}}


def bind(s, user, role, ns=None, kind='ClusterRole'):
    subject = user if isinstance(user, dict) else {'kind': 'User', 'apiGroup': 'rbac.authorization.k8s.io', 'name': user}
    name = subject['name'] + '-' + role
    s.admin('POST', RBAC + (f'/namespaces/{ns}/rolebindings' if ns else '/clusterrolebindings'), {
        'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'RoleBinding' if ns else 'ClusterRoleBinding',
        'metadata': {'name': name}, 'subjects': [subject],
        'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': kind, 'name': role}})


def role(s, name, verbs, ns=None):
    s.admin('POST', RBAC + (f'/namespaces/{ns}/roles' if ns else '/clusterroles'), {
        'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'Role' if ns else 'ClusterRole', 'metadata': {'name': name},
        'rules': [{'verbs': verbs, 'apiGroups': ['*'], 'resources': ['*']}]})


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            sys.exit('the server does not come to rest')
        time.sleep(0.1)


def prepare(s):
    for ns in ('matrix-a', 'matrix-b'):
        s.admin('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': ns}})
    role(s, 'matrix-all', ['*'], 'matrix-a')
    bind(s, 'matrix-namespaced', 'matrix-all', 'matrix-a', 'Role')
    bind(s, 'matrix-view', 'view')
    bind(s, 'matrix-admin', 'cluster-admin')
    role(s, 'matrix-updater', ['get', 'update', 'patch'])
    bind(s, 'matrix-updater', 'matrix-updater')
    s.admin('POST', '/api/v1/namespaces/matrix-a/serviceaccounts',
            {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'matrix'}})
    bind(s, {'kind': 'ServiceAccount', 'namespace': 'matrix-a', 'name': 'matrix'}, 'edit', 'matrix-a')
    for one in (crd('hubs', 'Hub', 'Cluster'), crd('cogs', 'Cog', 'Namespaced')):
        s.admin('POST', CRDS, one)
    for plural in ('hubs', 'cogs'):
        until(lambda: s.ask('GET', f'/apis/{GROUP}/v1/{plural}', s.auth)[0] == 200)
    # aggregated roles are filled by a controller there
    until(lambda: s.admin('GET', RBAC + '/clusterroles/edit').get('aggregationRule') and
          s.ask('GET', '/api/v1/namespaces/matrix-a/configmaps', {**s.auth, 'Impersonate-User': 'matrix-view'})[0] == 200)
    token = s.admin('POST', '/api/v1/namespaces/matrix-a/serviceaccounts/matrix/token', {
        'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {}})['status']['token']
    until(lambda: s.ask('GET', '/api/v1/namespaces/matrix-a/configmaps', {'Authorization': 'Bearer ' + token})[0] == 200)
    return token


def served(s):
    """[(group/version, plural, kind, namespaced)] by discovery."""
    found = []
    groups = ['api/v1'] + ['apis/' + v['groupVersion'] for g in s.admin('GET', '/apis')['groups'] for v in g['versions']]
    for gv in groups:
        for r in s.admin('GET', '/' + gv)['resources']:
            if '/' not in r['name']:
                found.append((gv, r['name'], r['kind'], r['namespaced']))
    return sorted(found)


def headers_of(s, identity, account_token):
    what = IDENTITIES[identity]
    if what is None:
        return {}
    if what == 'token':
        return {'Authorization': 'Bearer ' + account_token}
    return {**s.auth, **what}


def body_of(gv, plural, kind, ns):
    version = gv.split('/', 1)[1]
    o = {'apiVersion': version, 'kind': kind, 'metadata': {'name': NAME}}
    o.update(json.loads(json.dumps(BODIES.get(plural, {})).replace('NS', ns or 'default')))
    if plural == 'events':  # each group has names of its own
        for field in ('involvedObject', 'reportingComponent') if 'events.k8s.io' in gv else ('regarding', 'reportingController'):
            o.pop(field)
    return json.dumps(o)


def row(s, gv, plural, kind, where, headers):
    """The letters of one kind at one path ('-' is the cluster's) for one identity."""
    ns = None if where == '-' else where
    place = f'/namespaces/{ns}/{plural}' if ns else f'/{plural}'
    out = ''
    for name, method, suffix, body, content_type in ALL:
        if where == 'matrix-b' and name not in BRIEF:
            out += '.'
            continue
        prefix = '/watch' if name.startswith('old-watch') else ''
        path = f'/{gv}{prefix}{place}' + suffix.replace('{name}', NAME)
        if body == 'object':
            body = body_of(gv, plural, kind, ns)
        out += verdict(*s.ask(method, path, headers, body, content_type, stream='watch' in name))
    return out


def run(url, token_file, kinds=None, cafile=None):
    s = Server(url, open(token_file).read().strip(), cafile)
    account = prepare(s)
    rows = served(s)
    if kinds:
        wanted = {tuple(key.split()[:2]) for key in load(kinds)}
        rows = [r for r in rows if (r[0], r[1]) in wanted]
    print('# requests: ' + ' '.join(r[0] for r in ALL))
    print('# identities: ' + ' '.join(IDENTITIES))
    for gv, plural, kind, _ in rows:
        for where in ('-', 'matrix-a', 'matrix-b'):
            words = [row(s, gv, plural, kind, where, headers_of(s, i, account)) for i in IDENTITIES]
            print(gv, plural, where, *words, flush=True)
    for path in PATHS:
        print(path, 'GET', '-', *[verdict(*s.ask('GET', path, headers_of(s, i, account), stream='/watch/' in path)) for i in IDENTITIES])


def load(path, real=False):
    """{kind and path: words}; real: without the kinds that the real server has not."""
    rows = {}
    for line in open(path):
        if real and line.startswith('# Kinds that it has not'):
            break
        if line.strip() and not line.startswith('#'):
            part = line.split()
            rows[' '.join(part[:3])] = part[3:]
    return rows


def differences(want, got):
    names, identities = [r[0] for r in ALL], list(IDENTITIES)
    for key, words in want.items():
        other = got.get(key)
        gv, plural, where = key.split()
        kind = gv if plural == 'GET' else f'{gv}/{plural}'
        for i, word in enumerate(words):
            for j, letter in enumerate(word):
                now = other[i][j] if other else '?'
                if now != letter:
                    yield kind, where, identities[i], names[j] if plural != 'GET' else 'get', letter, now


def compare(want, got, differs=None):
    rules = []
    for line in open(differs) if differs else []:
        if line.strip() and not line.startswith('#'):
            part = line.split(None, 7)
            rules.append({'count': int(part[0]), 'match': part[1:7], 'seen': 0, 'line': line.strip()})
    want, got = load(want, real=not differs), load(got)
    left = []
    for d in differences(want, got):
        rule = next((r for r in rules if all(fnmatch.fnmatchcase(x, p) for x, p in zip(d, r['match']))), None)
        if rule:
            rule['seen'] += 1
        else:
            left.append(d)
    unknown = sorted(set(got) - set(want))
    for key in unknown:
        print(f'no line for {key}: a kind that is served has one')
    for d in left[:40]:
        print('differs: %s %s %s %s: want %s got %s' % d)
    for r in rules:
        if r['seen'] != r['count']:
            print(f"{r['seen']} times, not {r['count']}: {r['line']}")
    letters = sum(len(w) - w.count('.') for words in want.values() for w in words)
    print(f'{letters} answers, {sum(r["seen"] for r in rules)} explained differences, {len(left)} others')
    return bool(left or unknown or any(r['seen'] != r['count'] for r in rules))


def main(args):
    option = {a[2:]: args[i + 1] for i, a in enumerate(args) if a.startswith('--')}
    plain = [a for i, a in enumerate(args) if not a.startswith('--') and (i == 0 or not args[i - 1].startswith('--'))]
    if plain[0] == 'run':
        run(*plain[1:], **option)
        return 0
    return compare(*plain[1:])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
