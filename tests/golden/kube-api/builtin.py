#!/usr/bin/env python3
"""builtin.py URL TOKEN >builtin.jsonl: what a real kube-apiserver says of these bodies of built-in kinds.

One line a request: method, path, type, body, code, and either the message of the refusal, its warnings, or the parts of
the object that a server alone decides. tests/unit/alm/apiserver/test_builtin.c sends the same to ours. Recorded on 1.36.3.
"""
import copy
import json
import re
import ssl
import sys
import urllib.request

DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
CORE = '/api/v1/namespaces/default/'
STRICT = '?dryRun=All&fieldValidation=Strict'
# Of the object; the rest (metadata, status) is made by controllers and clocks as well.
PARTS = ('spec', 'data', 'binaryData', 'type', 'immutable', 'rules', 'subjects', 'roleRef', 'webhooks', 'template',
         'provisioner', 'parameters', 'value')
NAMED = ['10.0.0.%d' % i for i in (5, 77, 78, 79, 80, 99)]
url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()


def neutral(text):
    """Addresses of the recorded server (10.0.0.0/24) as ours, and what it chose by itself as ANY."""
    text = re.sub(r'10\.0\.0\.(\d+)', lambda m: '10.96.0.' + m[1] if m[0] in NAMED else 'ANY', text)
    return re.sub(r'((?:n|healthCheckN)odePort": )3(?!0080|0001)\d{4}', r'\1"ANY"', text)


def ask(method, path, body, kind='application/json'):
    text = body if isinstance(body, str) else json.dumps(body)
    r = urllib.request.Request(url + path, data=text.encode(), method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': kind})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            code, answer, headers = a.status, json.load(a), a.headers
    except urllib.error.HTTPError as e:
        code, answer, headers = e.code, json.load(e), e.headers
    if code == 422 and ': Invalid value: ' in answer['message'] and 'spec.template' in answer['message']:
        return  # validation is no matter of types
    row = {'method': method, 'path': path, 'type': kind, 'body': text, 'code': code}
    if code >= 400:
        row['message'] = answer['message']
    else:
        row['parts'] = {k: answer[k] for k in PARTS if k in answer}
    if headers.get_all('Warning'):
        row['warnings'] = [w.split(' ', 2)[2] for w in headers.get_all('Warning')]
    print(neutral(json.dumps(row)))


def deployment(name='x'):
    return {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': name},
            'spec': {'selector': {'matchLabels': {'a': 'b'}}, 'template': {
                'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}


def at(o, path):
    """spec.x in the Deployment, t.x in its pod, c.x in its container: the map, and the last name."""
    way = path.split('.')
    way[:1] = {'t': ['spec', 'template', 'spec'], 'c': ['spec', 'template', 'spec', 'containers', 0]}.get(way[0], way[:1])
    for k in way[:-1]:
        o = o[k] if isinstance(k, int) else o.setdefault(k, {})
    return o, way[-1]


def with_(*pairs, query=STRICT):
    d = deployment()
    for path, value in pairs:
        o, k = at(d, path)
        o[k] = value
    ask('POST', DEPLOYMENTS + query, d)


LEAVES = ['spec', 'spec.replicas', 'spec.paused', 'spec.selector', 'spec.selector.matchLabels', 'spec.template', 'spec.strategy',
          'spec.strategy.rollingUpdate', 't.containers', 't.volumes', 't.nodeSelector', 't.hostNetwork', 't.securityContext',
          't.terminationGracePeriodSeconds', 't.tolerations', 't.affinity', 't.hostAliases', 'c.command', 'c.env', 'c.ports',
          'c.image', 'c.resources', 'c.resources.limits', 'c.livenessProbe', 'c.securityContext', 'c.stdin', 'c.volumeMounts',
          'metadata.labels']
VALUES = ['x', 7, 1.5, True, [], {}, ['x'], [{}], {'k': 1}, {'k': 'v'}, [1], None]


def types():
    for path in LEAVES:
        for value in VALUES:
            d = deployment()
            o, k = at(d, path)
            # what only validation refuses is no matter of types
            if value in ({}, [], [{}], None, {'k': 'v'}) or (value == 'x' and path in ('c.image',)):
                continue
            if value == True and path in ('spec.paused', 't.hostNetwork', 'c.stdin') or value == 7 and 'replicas' in path:
                continue
            if isinstance(value, dict) and path not in ('spec.selector.matchLabels', 't.nodeSelector', 'metadata.labels',
                                                        'c.resources.limits'):
                continue
            if value == 7 and path == 't.terminationGracePeriodSeconds' or value == ['x'] and path == 'c.command':
                continue
            o[k] = value
            ask('POST', DEPLOYMENTS + STRICT, d)
    for n in ('1.0', '1e0', '99999999999', '-1.5', '2147483648'):
        ask('POST', DEPLOYMENTS + STRICT, json.dumps(deployment()).replace('"selector"', '"replicas":%s,"selector"' % n, 1))
    for port in (True, 1.5, {}, [], '80', 80, 99999999999):
        with_(('c.livenessProbe', {'httpGet': {'port': port}}))
    for time in ('x', '', '2020', '2020-13-01T00:00:00Z', '2020-01-01', '2020-01-01T00:00:00', '2020-01-01T00:00:00ZZ',
                 '2020-01-01 00:00:00Z', '2020-01-01T25:00:00Z', 1, '2020-01-01T00:00:00.5+01:00'):
        with_(('status', {'conditions': [{'type': 'x', 'status': 'True', 'lastUpdateTime': time}]}))
    for time in ('x', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.123Z', '2020-01-01T00:00:00.123456+01:00',
                 '2020-01-01T00:00:00.123456789Z', '2020-01-01T00:00:00.000000Z'):
        ask('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases' + STRICT,
            {'metadata': {'name': 'x'}, 'spec': {'renewTime': time}})


def unknown():
    many = [('spec.replica', 1), ('c.imagePullPolicyy', 'x'), ('c.ports', [{'containerPort': 80, 'x': 1}]),
            ('metadata.labelss', {}), ('specc', {}), ('t.containerz', [])]
    for i in range(len(many)):
        with_(many[i])
    with_(*many[:3])
    for mode in ('Warn', 'Ignore'):
        with_(*many[:2], query='?dryRun=All&fieldValidation=' + mode)
    with_(('spec.template.metadata', {'labels': {'a': 'b'}, 'labelss': {}}))
    with_(('c.Image', 'x'))
    with_(('t.volumes', [{'name': 'v', 'emptyDirr': {}}]))
    text = json.dumps(deployment())
    ask('POST', DEPLOYMENTS + STRICT, text.replace('"name": "c"', '"name":"c","name":"d"').replace(
        '"selector"', '"replicas":1,"replicas":2,"selector"', 1))
    ask('POST', DEPLOYMENTS + STRICT, text.replace('{"a": "b"}', '{"a":"b","a":"b"}'))
    for path, body in (('configmaps', {'dataa': {}}), ('secrets', {'stringdata': {}}), ('services', {'spec': {'port': 80}}),
                       ('serviceaccounts', {'secretz': []}), ('pods', {'spec': {'container': []}})):
        ask('POST', CORE + path + STRICT, dict(body, metadata={'name': 'x'}))
    ask('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles' + STRICT,
        {'metadata': {'name': 'x'}, 'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resourcess': ['pods']}]})


def canonical():
    with_(('c.resources', {'limits': {'cpu': 0.5, 'memory': '1024Mi', 'nvidia.com/gpu': 1e3}, 'requests': {'cpu': '0.1'}}))
    with_(('spec.replicas', None), ('spec.paused', None), ('spec.strategy', None), ('c.args', [None]), ('c.command', None))
    with_(('c.env', [{'name': 'A', 'value': None}]), ('c.stdin', False), ('t.hostNetwork', False), ('t.volumes', []),
          ('t.nodeSelector', {}), ('c.workingDir', ''), ('spec.minReadySeconds', 0))
    with_(('t.volumes', [{'name': 'a', 'emptyDir': {'sizeLimit': '1024Mi'}}]), ('t.overhead', None))
    for body in ({'data': {'a': None}, 'binaryData': {}}, {'data': {'a': 1}}, {'data': []}, {'binaryData': {'a': '!!'}},
                 {'binaryData': {'a': 1}}, {'binaryData': {'a': 'YQ='}}, {'binaryData': {'a': 'YQ=='}}, {'immutable': 'x'},
                 {'binaryData': {'a': 'Y\nQ=='}}, {'binaryData': {'a': 'YQ==YQ=='}}, {'binaryData': {'a': 'YWJj!'}}):
        ask('POST', CORE + 'configmaps' + STRICT, dict(body, metadata={'name': 'x'}))
    ask('POST', CORE + 'configmaps' + STRICT, 'null')
    ask('POST', CORE + 'configmaps' + STRICT, {'kind': 'ConfigMap', 'metadata': {'name': 'x'}})
    ask('POST', CORE + 'configmaps' + STRICT, {'apiVersion': 'v1', 'metadata': {'name': 'x'}})


def patches():
    ask('POST', DEPLOYMENTS, deployment('patched'))
    p = DEPLOYMENTS + '/patched' + STRICT
    for kind in ('merge-patch', 'strategic-merge-patch'):
        kind = 'application/' + kind + '+json'
        ask('PATCH', p, {'spec': {'template': {'spec': {'hostNetwork': False, 'terminationGracePeriodSeconds': 5}}}}, kind)
        ask('PATCH', DEPLOYMENTS + '/patched?dryRun=All&fieldValidation=Warn', {'spec': {'replica': 1}}, kind)
        ask('PATCH', DEPLOYMENTS + '/patched?dryRun=All&fieldValidation=Ignore', {'spec': {'replica': 1}}, kind)
    smp = 'application/strategic-merge-patch+json'

    def pod(**spec):
        return {'spec': {'template': {'spec': spec}}}
    for spec in ({'containers': [{'name': 'c', 'env': [{'name': 'A', 'value': '1'}]}, {'name': 'd', 'image': 'j'}]},
                 {'containers': [{'name': 'c', '$patch': 'delete'}, {'name': 'd', 'image': 'j'}]},
                 {'volumes': [{'name': 'v', 'emptyDir': {}}], 'containers': [
                     {'name': 'c', 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}]}]},
                 {'tolerations': [{'key': 'a', 'operator': 'Exists'}]}, {'imagePullSecrets': [{'name': 's'}]},
                 {'hostAliases': [{'ip': '1.2.3.4', 'hostnames': ['h']}]},
                 {'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'z', 'whenUnsatisfiable': 'DoNotSchedule',
                                                'labelSelector': {'matchLabels': {'a': 'b'}}}]}):
        ask('PATCH', p, pod(**spec), smp)


SERVICES = [
    {}, {'type': 'NodePort'}, {'type': 'LoadBalancer'}, {'clusterIP': 'None'}, {'clusterIP': '10.0.0.77'},
    {'type': 'ExternalName', 'externalName': 'x.y'}, {'clusterIP': '10.0.0.77'}, {'clusterIP': 'xx'},
    {'clusterIPs': ['10.0.0.78']}, {'clusterIP': '10.0.0.79', 'clusterIPs': ['10.0.0.80']},
    {'clusterIP': 'None', 'selector': {'a': 'b'}, 'ports': []}, {'type': 'NodePort', 'ports': [{'port': 80, 'nodePort': 30080}]},
    {'type': 'NodePort', 'ports': [{'port': 80, 'nodePort': 30080}]}, {'type': 'NodePort', 'ports': [{'port': 80, 'nodePort': 80}]},
    {'type': 'NodePort', 'ports': [{'port': 80, 'name': 'a'}, {'port': 80, 'name': 'b', 'protocol': 'UDP'}]},
    {'type': 'LoadBalancer', 'externalTrafficPolicy': 'Local'}, {'type': 'LoadBalancer', 'allocateLoadBalancerNodePorts': False},
    {'ipFamilyPolicy': 'PreferDualStack'}, {'ipFamilyPolicy': 'RequireDualStack'}, {'ipFamilies': ['IPv6']},
    {'ports': [{'port': 80, 'nodePort': 30081}]}, {'clusterIP': ''}, {'clusterIP': 'None', 'type': 'NodePort'}, {'ports': []},
    {'ports': [{'port': 70000}]}, {'ports': [{'port': 0}]}, {'type': 'X'}, {'ports': [{'port': 80}, {'port': 81}]},
    {'ports': [{'port': 80, 'name': 'a'}, {'port': 81, 'name': 'a'}]}, {'ports': [{'port': 80, 'targetPort': 0}]},
    {'ports': [{'port': 80, 'targetPort': 70000}]}, {'ports': [{'port': 80, 'protocol': 'X'}]}, {'sessionAffinity': 'X'},
    {'ports': [{'port': 80, 'name': 'A_b'}]}, {'type': 'ExternalName'}, {'type': 'ExternalName', 'externalName': 'a_b'},
    {'selector': {'a b': 'c'}}, {'externalTrafficPolicy': 'Local'}, {'type': 'NodePort', 'externalTrafficPolicy': 'X'},
    {'internalTrafficPolicy': 'X'}, {'ipFamilyPolicy': 'X'}, {'loadBalancerClass': 'x'},
    {'type': 'NodePort', 'ports': [{'port': 80, 'name': 'a', 'nodePort': 30001}, {'port': 81, 'name': 'b', 'nodePort': 30001}]}]
# Of service sN: what a merge patch makes of it.
CHANGES = [
    (0, {'clusterIP': '10.0.0.99'}), (0, {'clusterIP': None, 'clusterIPs': None, 'ipFamilies': None}), (0, {'type': 'NodePort'}),
    (0, {'ports': [{'port': 80}]}), (0, {'type': 'ClusterIP'}), (0, {'type': 'ExternalName', 'externalName': 'x.y'}),
    (5, {'type': 'ClusterIP', 'externalName': None}), (3, {'clusterIP': '', 'clusterIPs': []}), (1, {'clusterIP': '10.0.0.5'}),
    (1, {'ports': [{'port': 82, 'name': 'y'}, {'port': 80, 'name': 'x'}]}), (1, {'type': 'ClusterIP'}), (2, {'type': 'ClusterIP'})]


def services():
    path = CORE + 'services'
    for i in range(len(SERVICES)):
        ask('POST', path, {'metadata': {'name': 's%d' % i}, 'spec': {'ports': [{'port': 80}], **SERVICES[i]}})
    for i, spec in CHANGES:
        ask('PATCH', path + '/s%d' % i, {'spec': spec}, 'application/merge-patch+json')


JSON_PATCHES = [
    [{'op': 'replace', 'path': '/data/c', 'value': '3'}], [{'op': 'replace', 'path': '/metadata/labels/x', 'value': '3'}],
    [{'op': 'replace', 'path': '/metadata/managedFields/9', 'value': {}}], [{'op': 'test', 'path': '/data/c', 'value': None}],
    [{'op': 'test', 'path': '/data/c', 'value': 'x'}], [{'op': 'test', 'path': '/metadata/labels/x', 'value': None}],
    [{'op': 'test', 'path': '/data/a', 'value': None}], [{'op': 'test', 'path': '/data/c'}], [{'op': 'test', 'path': '/data/a'}],
    [{'op': 'copy', 'from': '/data/c', 'path': '/data/d'}], [{'op': 'copy', 'from': '/data/c', 'path': '/data/a'}],
    [{'op': 'copy', 'from': '/metadata/labels/c', 'path': '/data/a'}], [{'op': 'move', 'from': '/data/c', 'path': '/data/a'}],
    [{'op': 'remove', 'path': '/data/c'}], [{'op': 'add', 'path': '/data/c'}], [{'op': 'replace', 'path': '/data/a'}],
    [{'op': 'replace', 'path': '/data/c'}], [{'op': 'add', 'path': '/metadata/labels/x', 'value': '1'}],
    [{'op': 'test', 'path': '/metadata/managedFields/9', 'value': None}],
    [{'op': 'replace', 'path': '/metadata/labels', 'value': {'a': 'b'}}, {'op': 'test', 'path': '/metadata/labels/a', 'value': 'b'}]]


def json_patches():
    ask('POST', CORE + 'configmaps', {'metadata': {'name': 'patched'}, 'data': {'a': '1', 'b': '2'}})
    for p in JSON_PATCHES:
        ask('PATCH', CORE + 'configmaps/patched' + STRICT, p, 'application/json-patch+json')


def migration():
    """From kubectl apply to kubectl apply --server-side, and who may not."""
    path = CORE + 'configmaps'
    apply = 'application/apply-patch+yaml'

    def config(name, **data):
        return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'namespace': 'default'}, 'data': data}
    for name in ('moved', 'edited'):
        o = config(name, a='1', b='x')
        note = json.dumps(config(name, a='1', b='x'))
        o['metadata']['annotations'] = {'kubectl.kubernetes.io/last-applied-configuration': note}
        ask('POST', path + '?fieldManager=kubectl-client-side-apply', o)
    ask('PATCH', path + '/moved?fieldManager=other', config('moved', a='2'), apply)
    ask('PATCH', path + '/moved?fieldManager=kubectl', config('moved', a='2'), apply)
    ask('PATCH', path + '/edited?fieldManager=kubectl-edit', {'data': {'a': '9'}}, 'application/merge-patch+json')
    ask('PATCH', path + '/edited?fieldManager=kubectl', config('edited', a='2'), apply)
    ask('PATCH', path + '/edited?fieldManager=kubectl', config('edited', b='y'), apply)


types()
unknown()
canonical()
patches()
json_patches()
migration()
services()
