#!/usr/bin/env python3
"""required.py URL TOKEN >required.jsonl: what a real kube-apiserver says of objects of built-in kinds that lack a field.

Of each object of VALID every field is left out once, and once emptied. One line a request: path, body, code, and the
message of a refusal. tests/unit/alm/apiserver/test_required.c sends the same to ours. Recorded on 1.36.3.
"""
import copy
import json
import ssl
import sys
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
POD = {'containers': [{'name': 'c', 'image': 'i:1', 'ports': [{'containerPort': 80, 'name': 'http'}],
                       'env': [{'name': 'A', 'value': '1'}, {'name': 'B', 'valueFrom': {'secretKeyRef': {'name': 's', 'key': 'k'}}}],
                       'volumeMounts': [{'name': 'v', 'mountPath': '/v'}],
                       'livenessProbe': {'httpGet': {'path': '/', 'port': 'http'}}}],
       'initContainers': [{'name': 'i', 'image': 'i:1'}],
       'volumes': [{'name': 'v', 'configMap': {'name': 'm'}}], 'restartPolicy': 'Always'}
TEMPLATE = {'metadata': {'labels': {'a': 'b'}}, 'spec': POD}
ONCE = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i:1'}]}}
SELECTOR = {'matchLabels': {'a': 'b'}}
RBAC = '/apis/rbac.authorization.k8s.io/v1/'
RULE = {'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']}
NS = 'namespaces/default/'
VALID = [
    ('/apis/apps/v1/' + NS + 'deployments', {'spec': {'replicas': 1, 'selector': SELECTOR, 'template': TEMPLATE, 'strategy': {
        'type': 'RollingUpdate', 'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': 0}}}}),
    ('/apis/apps/v1/' + NS + 'statefulsets', {'spec': {'serviceName': 's', 'selector': SELECTOR, 'template': TEMPLATE,
        'volumeClaimTemplates': [{'metadata': {'name': 'd'}, 'spec': {
            'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}]}}),
    ('/apis/apps/v1/' + NS + 'daemonsets', {'spec': {'selector': SELECTOR, 'template': TEMPLATE}}),
    ('/apis/apps/v1/' + NS + 'replicasets', {'spec': {'selector': SELECTOR, 'template': TEMPLATE}}),
    ('/api/v1/' + NS + 'pods', {'spec': POD}),
    ('/apis/batch/v1/' + NS + 'jobs', {'spec': {'backoffLimit': 1, 'template': ONCE}}),
    ('/apis/batch/v1/' + NS + 'cronjobs', {'spec': {'schedule': '* * * * *', 'concurrencyPolicy': 'Forbid',
                                                   'jobTemplate': {'spec': {'template': ONCE}}}}),
    ('/api/v1/' + NS + 'services', {'spec': {'selector': {'a': 'b'}, 'ports': [{'port': 80, 'targetPort': 'http', 'name': 'p'}]}}),
    ('/apis/networking.k8s.io/v1/' + NS + 'ingresses', {'spec': {'rules': [{'host': 'a.b', 'http': {'paths': [
        {'path': '/', 'pathType': 'Prefix', 'backend': {'service': {'name': 's', 'port': {'number': 80}}}}]}}],
        'tls': [{'hosts': ['a.b'], 'secretName': 't'}]}}),
    ('/apis/networking.k8s.io/v1/' + NS + 'networkpolicies', {'spec': {'podSelector': SELECTOR, 'policyTypes': ['Ingress'],
        'ingress': [{'from': [{'podSelector': SELECTOR}], 'ports': [{'port': 80, 'protocol': 'TCP'}]}]}}),
    ('/apis/policy/v1/' + NS + 'poddisruptionbudgets', {'spec': {'minAvailable': 1, 'selector': SELECTOR}}),
    ('/apis/autoscaling/v2/' + NS + 'horizontalpodautoscalers', {'spec': {'minReplicas': 1, 'maxReplicas': 2,
        'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'metrics': [
            {'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 80}}}]}}),
    (RBAC + NS + 'roles', {'rules': [RULE]}),
    (RBAC + 'clusterroles', {'rules': [RULE, {'nonResourceURLs': ['/x'], 'verbs': ['get']}]}),
    (RBAC + NS + 'rolebindings', {'subjects': [{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'd'}, {
        'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}],
        'roleRef': {'kind': 'Role', 'name': 'r', 'apiGroup': 'rbac.authorization.k8s.io'}}),
    (RBAC + 'clusterrolebindings', {'subjects': [{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'd'}],
        'roleRef': {'kind': 'ClusterRole', 'name': 'r', 'apiGroup': 'rbac.authorization.k8s.io'}}),
    ('/api/v1/' + NS + 'configmaps', {'data': {'a': 'b'}, 'binaryData': {'c': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'type': 'kubernetes.io/tls', 'data': {'tls.crt': 'YQ==', 'tls.key': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'type': 'kubernetes.io/basic-auth', 'data': {'username': 'YQ==', 'password': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'type': 'kubernetes.io/ssh-auth', 'data': {'ssh-privatekey': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'type': 'kubernetes.io/dockerconfigjson', 'data': {'.dockerconfigjson': 'e30='}}),
    ('/api/v1/' + NS + 'persistentvolumeclaims', {'spec': {'accessModes': ['ReadWriteOnce'],
                                                          'resources': {'requests': {'storage': '1Gi'}}}}),
]


def paths(o, way=()):
    for k, v in o.items() if isinstance(o, dict) else enumerate(o):
        yield way + (k,)
        if isinstance(v, (dict, list)):
            yield from paths(v, way + (k,))


def ask(path, body):
    text = json.dumps(body)
    r = urllib.request.Request(url + path + '?dryRun=All', data=text.encode(), method='POST',
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            code, answer = a.status, json.load(a)
    except urllib.error.HTTPError as e:
        code, answer = e.code, json.load(e)
    row = {'path': path, 'body': text, 'code': code}
    if code >= 400:
        row['message'] = answer['message']
    print(json.dumps(row))


for path, valid in VALID:
    valid = dict(valid, metadata={'name': 'x'})
    ask(path, valid)
    for way in paths({k: v for k, v in valid.items() if k != 'metadata'}):
        for empty in (False, True):
            o = copy.deepcopy(valid)
            at = o
            for k in way[:-1]:
                at = at[k]
            if not empty:
                del at[way[-1]]
            elif isinstance(at[way[-1]], (str, dict, list)):
                at[way[-1]] = type(at[way[-1]])()
            else:
                at[way[-1]] = -1
            ask(path, o)
