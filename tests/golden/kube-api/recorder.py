"""What the recorders of admission share: requests to a real kube-apiserver, one line of JSON each, and webhooks that are answered.

A recorder is started with URL TOKEN. The server's informers see a policy or a configuration some time after the answer: that is
what is waited for."""
import base64
import http.server
import json
import os
import ssl
import sys
import tempfile
import threading
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'e2e'))
import tls_server  # noqa: E402

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
PORT = 39443  # of the webhooks
GROUP = 'admissionregistration.k8s.io/v1'
JSON, MERGE, PATCH, APPLY = 'application/json', 'application/merge-patch+json', 'application/json-patch+json', 'application/apply-patch+yaml'
CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
calls, answers = [], {}  # of the webhooks: what they were asked; their name -> what they say
authority = ['', 'Q0E=']  # the webhooks', as it is recorded


class Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        text = self.rfile.read(int(self.headers['Content-Length']))
        review = json.loads(text)
        answer = answers[self.path.split('?')[0].strip('/')]
        answer = answer(review) if callable(answer) else answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        if isinstance(body, dict):
            body = json.dumps(body if 'kind' in body else {'kind': review['kind'], 'apiVersion': review['apiVersion'],
                                                           'response': dict({'uid': 'UID'}, **body)})
        calls.append({'target': self.path, 'review': review, 'status': status, 'answer': body})
        body = body.replace('"UID"', '"%s"' % review['request']['uid']).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def listen():
    """The webhooks, at https://127.0.0.1:PORT/NAME; their authority, as caBundle has it."""
    with tempfile.TemporaryDirectory() as root:
        tls_server.certificates(root)
        server = tls_server.server(root, Hook, PORT)
        with open(root + '/ca.crt', 'rb') as f:
            authority[0] = base64.b64encode(f.read()).decode()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return authority[0]


def recorded(text):
    return text.replace(*authority) if text and authority[0] else text


def send(method, path, text=None, kind=JSON):
    r = urllib.request.Request(url + path, data=text and text.encode(), method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': kind, 'User-Agent': 'test/1'})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            return a.status, json.load(a), a.headers.get_all('Warning') or []
    except urllib.error.HTTPError as e:
        return e.code, json.load(e), e.headers.get_all('Warning') or []


def member(o, path):
    for k in path.replace('[', '.').replace(']', '').split('.'):
        if isinstance(o, list):
            o = o[int(k)] if int(k) < len(o) else None
        else:
            o = o.get(k) if isinstance(o, dict) else None
    return o


def ask(method, path, body=None, kind=JSON, fields=()):
    calls.clear()
    text = json.dumps(body) if body is not None else None
    code, answer, warnings = send(method, path, text, kind)
    row = {'method': method, 'path': path, 'body': recorded(text), 'type': kind, 'code': code, 'warnings': warnings}
    if code >= 400:
        row['message'] = recorded(answer['message'])
        row['fields'] = {k: answer.get(k) for k in ('reason', 'details')}
    elif fields:
        row['fields'] = {k: json.loads(recorded(json.dumps(member(answer, k)))) for k in fields}
    if calls:
        row['calls'] = list(calls)
    print(json.dumps(row), flush=True)
    return code


def named(kind, name, **more):
    return dict({'apiVersion': GROUP, 'kind': kind, 'metadata': {'name': name}}, **more)


def rule(resources=('configmaps',), groups=('',), operations=('CREATE', 'UPDATE'), versions=('v1',), **more):
    return dict({'apiGroups': list(groups), 'apiVersions': list(versions), 'operations': list(operations),
                 'resources': list(resources)}, **more)


def space(ns, **labels):
    ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': ns, 'labels': labels}})


def in_space(ns):
    return {'matchLabels': {'kubernetes.io/metadata.name': ns}}


def maps(ns):
    return '/api/v1/namespaces/%s/configmaps' % ns


def a_map(name, labels=None, **data):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': dict({'name': name}, **({'labels': labels} if labels else {})), 'data': data}


def definition(plural, group, schema, **conversion):
    """Of a namespaced kind at v1, which is stored, and v2."""
    spec = {'group': group, 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': plural[:-1].capitalize()},
            'versions': [{'name': v, 'served': True, 'storage': v == 'v1', 'schema': {'openAPIV3Schema': schema}} for v in ('v1', 'v2')]}
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.' + group},
            'spec': dict(spec, **conversion)}
