#!/usr/bin/env python3
"""odd.py URL TOKEN >odd.jsonl: what a real kube-apiserver makes of what is null or empty, or set for one version of several.

One line a request, in order (recorder.py); tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36."""
import json
import time

import recorder
from recorder import APPLY, CRD, MERGE, ask

SPACE = '/namespaces/default/'
OWNED = ('metadata.managedFields[0].fieldsV1',)


def crd(versions, plural='odds'):
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.odd.example.com'}, 'spec': {
        'group': 'odd.example.com', 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': plural[:-1].capitalize()}, 'versions': versions}}


def version(name, paths, properties, storage=True):
    o = {'name': name, 'served': True, 'storage': storage, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {
        'type': 'object', 'properties': {k: {'type': t} for k, t in properties.items()}}}}}}
    return dict(o, selectableFields=[{'jsonPath': p} for p in paths]) if paths else o


# Fields that lists may select by, of one version and of several: what they have in common stands in another place than what they have not.
ONE, TWO = {'a': 'string', 'n': 'number'}, {'b': 'string'}
for path in ('.spec.a', '.spec.zz', '.spec.n', '.zz', '', '.', '.spec.a[0]', '.metadata.name'):
    for versions in ([version('v1', [path], ONE)], [version('v1', [path], ONE), version('v2', [path], ONE, False)],
                     [version('v1', [path], ONE), version('v2', None, ONE, False)], [version('v1', [path], ONE), version('v2', [path], TWO, False)],
                     [version('v1', [path], ONE), version('v2', None, TWO, False)], [version('v1', [path], ONE), version('v2', ['.spec.b'], TWO, False)]):
        ask('POST', CRD + '?dryRun=All', crd(versions))

# Labels of Pods that are none.
POD = {'restartPolicy': 'Never', 'containers': [{'name': 'a', 'image': 'i'}]}
for labels in (None, {}, {'a': 'b'}):
    for more in ({}, {'manualSelector': True}, {'manualSelector': True, 'selector': {'matchLabels': {'a': 'b'}}}):
        ask('POST', '/apis/batch/v1' + SPACE + 'jobs?dryRun=All', {'metadata': {'name': 'j'}, 'spec': dict(more, template={'metadata': {'labels': labels}, 'spec': POD})})
    for plural in ('deployments', 'daemonsets', 'statefulsets', 'replicasets'):
        for selector in (None, {'matchLabels': {'a': 'b'}}):
            ask('POST', '/apis/apps/v1' + SPACE + plural + '?dryRun=All', {'metadata': {'name': 'j'}, 'spec': {
                'serviceName': 's', 'selector': selector, 'template': {'metadata': {'labels': labels}, 'spec': {'containers': POD['containers']}}}})
    ask('POST', '/api/v1' + SPACE + 'replicationcontrollers?dryRun=All', {'metadata': {'name': 'j'}, 'spec': {
        'selector': {'a': 'b'}, 'template': {'metadata': {'labels': labels}, 'spec': {'containers': POD['containers']}}}})

# What points at nothing and is written as null is owned.
VOLUMES = '/api/v1/persistentvolumes'
FILE, SCALE = {'secretName': 's', 'shareName': 'x'}, {'gateway': 'g', 'system': 's', 'volumeName': 'v', 'secretRef': {'name': 'a'}}


def volume(**source):
    return {'metadata': {'name': 'v'}, 'spec': dict({'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce']}, **source)}


for namespace in (None, '', 'a', 'A'):
    ask('POST', VOLUMES + '?dryRun=All', volume(azureFile=dict(FILE, secretNamespace=namespace)), fields=OWNED)
    ask('PATCH', VOLUMES + '/v?dryRun=All&fieldManager=m', dict(volume(azureFile=dict(FILE, secretNamespace=namespace)), apiVersion='v1', kind='PersistentVolume'),
        APPLY, OWNED)
ask('POST', VOLUMES + '?dryRun=All', volume(azureFile=FILE), fields=OWNED)
for reference in (None, {}, {'name': 'a'}, {'name': 'a', 'namespace': None}):
    ask('POST', VOLUMES + '?dryRun=All', volume(scaleIO=dict(SCALE, secretRef=reference)), fields=OWNED)

# Rules of restarts that are none.
PODS = '/api/v1' + SPACE + 'pods'
ask('POST', PODS, {'metadata': {'name': 'base'}, 'spec': POD})
for rules in (None, [], [{}]):
    for more in ({}, {'restartPolicy': 'Always'}):
        container = dict(more, name='b', image='i', restartPolicyRules=rules)
        for where in ('containers', 'initContainers', 'ephemeralContainers'):
            spec = dict(POD, **{where: (POD['containers'] if where == 'containers' else []) + [container]})
            ask('POST', PODS + '?dryRun=All', {'metadata': {'name': 'p'}, 'spec': spec})
            ask('POST', '/apis/batch/v1' + SPACE + 'jobs?dryRun=All', {'metadata': {'name': 'p'}, 'spec': {'template': {'spec': spec}}})
ask('PATCH', PODS + '/base/ephemeralcontainers?dryRun=All', {'spec': {'ephemeralContainers': [{'name': 'b', 'image': 'i', 'restartPolicyRules': []}]}},
    'application/strategic-merge-patch+json')

# Finalizers that are wrong.
NAMESPACES = '/api/v1/namespaces'
ask('POST', NAMESPACES, {'metadata': {'name': 'fin'}})
ask('POST', '/api/v1' + SPACE + 'configmaps', {'metadata': {'name': 'fin'}})
LISTS = (['a', 'b'], ['-', '_'], ['a', 'a'], ['orphan', 'foregroundDeletion'], ['a', 'foregroundDeletion', 'e.io/x', 'orphan'], ['a/b/c', ''])
for names in LISTS:
    for path in (NAMESPACES, '/api/v1' + SPACE + 'configmaps', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'):
        body = crd([version('v1', None, ONE)], 'fins') if 'custom' in path else {'metadata': {'name': 'new'}}
        ask('POST', path + '?dryRun=All', dict(body, metadata=dict(body['metadata'], finalizers=names)))
        if 'custom' not in path:
            ask('PATCH', path + '/fin?dryRun=All', {'metadata': {'finalizers': names}}, MERGE)
    ask('PATCH', NAMESPACES + '/fin/status?dryRun=All', {'metadata': {'finalizers': names}}, MERGE)
    for more in (['kubernetes'], ['a'], ['-', 'b', 'e.io/-'], []):
        ask('PUT', NAMESPACES + '/fin/finalize?dryRun=All', {'metadata': {'name': 'fin', 'finalizers': names}, 'spec': {'finalizers': more}})
        ask('POST', NAMESPACES + '?dryRun=All', {'metadata': {'name': 'new', 'finalizers': names}, 'spec': {'finalizers': more}})

# A status that comes with what asks: who sent it owns it, and what the answer does not say stays.
STATUS = {'authenticated': True, 'user': {'username': 'u', 'uid': 'x', 'groups': ['g'], 'extra': {'a': ['b']}}, 'error': 'e', 'audiences': ['z']}
ACCESS = {'user': 'u', 'resourceAttributes': {'verb': 'get', 'resource': 'pods', 'namespace': 'default'}}
SAID = ('status', 'metadata.managedFields[0].fieldsV1')
for status in (STATUS, {'authenticated': True}, {'error': 'e'}, {'user': {}}, {}, None):
    ask('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {'token': 'none'}, 'status': status}, fields=SAID)
for status in ({'allowed': True, 'denied': True, 'reason': 'r', 'evaluationError': 'e'}, {'reason': 'r'}, {}, None):
    for path in ('subjectaccessreviews', 'namespaces/default/localsubjectaccessreviews'):
        ask('POST', '/apis/authorization.k8s.io/v1/' + path, {'spec': ACCESS, 'status': status}, fields=SAID)


def raw(method, path, text, kind):
    code, answer, warnings = recorder.send(method, path, text, kind)
    row = {'method': method, 'path': path, 'body': text, 'type': kind, 'code': code, 'warnings': warnings, 'fields': {'data': answer.get('data')}}
    if code >= 400:
        row.update(message=answer['message'], fields={'reason': answer.get('reason')})
    print(json.dumps(row), flush=True)


# YAML that says something twice, or is none; and pairs of surrogates, which are no YAML.
MAPS = '/api/v1' + SPACE + 'configmaps'
HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
for text in (HEAD + 'data: {a: b}\ndata: {a: c}\n', HEAD + 'data:\n  a: b\n  a: c\n  b: d\n  b: e\nkind: ConfigMap\n', HEAD + 'bogus: 1\nbogus: 2\n',
             '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v","k":"w"}}', HEAD + 'data: {k: [1}\n', HEAD + '---\nx: y\n', HEAD + 'data:\n  k: v\n l: v\n',
             HEAD + r'data: {k: "\ud83d\ude00"}', HEAD + r'data: {k: "\ud83d"}', HEAD + r'data: {k: "\U0001f600"}', HEAD + r"data: {k: '\ud83d\ude00'}"):
    for validation in ('', '&fieldValidation=Strict', '&fieldValidation=Ignore'):
        raw('POST', MAPS + '?dryRun=All' + validation, text, 'application/yaml')
        if 'bogus' not in text:  # of a client's fault the code is another one
            raw('PATCH', MAPS + '/a?dryRun=All&fieldManager=m' + validation, text, APPLY)
for kind in ({}, {'kind': 'ConfigMap'}, {'apiVersion': 'v1'}, {'apiVersion': 'v1', 'kind': 'Pod'}, {'apiVersion': 'apps/v1', 'kind': 'ConfigMap'}):
    raw('PATCH', MAPS + '/a?dryRun=All&fieldManager=m', json.dumps(dict(kind, metadata={'name': 'a'})), APPLY)
for text in ('- a', 'x', '1', 'true', 'null', '---\n'):
    raw('PATCH', MAPS + '/a?dryRun=All&fieldManager=m', text, APPLY)

# Rules that compare what is not alike: when they are written, and when they are asked.
GROUP = '/apis/odd.example.com/v1' + SPACE
FIELDS = {'l': {'type': 'array', 'maxItems': 3, 'items': {'type': 'integer'}}, 'o': {'type': 'object', 'properties': {'x': {'type': 'string'}}},
          'p': {'type': 'object', 'properties': {'x': {'type': 'string'}}}, 'm': {'type': 'object', 'maxProperties': 3, 'additionalProperties': {'type': 'integer'}},
          's': {'type': 'string', 'maxLength': 9, 'nullable': True}, 'n': {'type': 'integer'}, 'd': {'type': 'number'}, 'b': {'type': 'boolean'},
          't': {'type': 'string', 'format': 'date-time'}, 'u': {'type': 'string', 'format': 'duration'},
          'lo': {'type': 'array', 'maxItems': 3, 'items': {'type': 'object', 'properties': {'x': {'type': 'string', 'maxLength': 9}}}}}


def ruled(plural, rules):
    o = crd([version('v1', None, {})], plural)
    spec = o['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec']
    spec.update({'properties': FIELDS, 'x-kubernetes-validations': [{'rule': r, 'message': r} for r in rules]})
    return o


for rule in ('self.n == self.d', 'self.d == 1', 'self.n == 1u', 'self.d > 1', 'self.n == null', 'null == self.s', 'self.l == null', 'self.m != null', 'self.o != null',
             'self.t != null && null != self.u', 'self.l == [1.5]', 'self.l == [1]', '[null] == [1]', '[1] == [null]', '1 in [1.5]', '1 in [null]', 'null in [1]', 'null in self.m',
             '1 in self.m', '"a" in self.m', '"a" in {"a": 1}', 'self.m["a"] == 1', 'self.m[1] == 1', 'self.lo == self.lo', 'self.lo[0] == self.lo[1]',
             '(self.b ? 1 : 1.5) == 1.0', '(self.b ? null : 1) == 1', '(self.b ? [1] : [1.5]) == [1]', '(self.b ? [] : [1]) == [1]', '[1] + [1.5] == [1]', '[] + [1] == [1]',
             'sets.contains(self.l, [1.5])', 'sets.contains(self.l, [1])', 'type(self.n) == 1', 'type(self.l) == 1', 'int == 1', 'type(null) == 1',
             'optional.of(1) == optional.of(1.5)', 'optional.none() == optional.of(1)', 'optional.none() == null', 'quantity("1") == null', 'dyn(self.l) == dyn(7)'):
    ask('POST', CRD + '?dryRun=All', ruled('rules', [rule]))
VALUES = ('self.l', 'self.m', 'self.o', 'self.s', 'self.n', 'self.d', 'self.b', 'self.t', 'self.u', '7', '7.0', '"x"', 'true', 'null', '[7]', '{"a": 1}', '7u')
PAIRS = [(x, y) for x in VALUES for y in VALUES]
for number, operation in enumerate(('dyn(%s) == dyn(%s)', 'dyn(%s) != dyn(%s)', 'dyn(%s) in dyn(%s)', 'dyn(%s) < dyn(%s)', 'dyn(%s) + dyn(%s) == 7')):
    for part in range(0, len(PAIRS), 40):
        plural = 'rules%s%ss' % ('abcde'[number], 'abcdefgh'[part // 40])
        # What a list gives with another one is a list of its own here.
        rules = [operation % p for p in PAIRS[part:part + 40] if '+' not in operation or not set(p) <= {'self.l', '[7]'}]
        ask('POST', CRD, ruled(plural, rules))
        time.sleep(3)
        ask('POST', GROUP + plural + '?dryRun=All', {'apiVersion': 'odd.example.com/v1', 'kind': plural[:-1].capitalize(), 'metadata': {'name': 'a'}, 'spec': {
            'l': [7], 'm': {'a': 1}, 'o': {'x': 'y'}, 's': 'x', 'n': 7, 'd': 1.5, 'b': True, 't': '2020-01-01T00:00:00Z', 'u': '1s'}})

# An autoscaler of v2 that is written in v1, where what that has no field for stands in annotations: who owns what in either form.
# Who writes later has a later name: entries of one second are in the order of their names.
ONE_FORM, OTHER_FORM = ['/apis/autoscaling/%s%shorizontalpodautoscalers' % (v, SPACE) for v in ('v1', 'v2')]
NOTE = 'autoscaling.alpha.kubernetes.io/'
TARGET = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}
BOTH = ('spec', 'metadata.annotations') + tuple('metadata.managedFields[%d].%s' % (i, k) for i in range(4) for k in ('manager', 'operation', 'apiVersion', 'subresource', 'fieldsV1'))


def metric(name, percent):
    return {'type': 'Resource', 'resource': {'name': name, 'target': {'type': 'Utilization', 'averageUtilization': percent}}}


def applied(v, name, **spec):
    return {'apiVersion': 'autoscaling/' + v, 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': name}, 'spec': spec}


for name, more in (('full', {'metrics': [metric('memory', 50), metric('cpu', 60)], 'behavior': {'scaleDown': {'policies': [{'type': 'Pods', 'value': 1, 'periodSeconds': 60}]}}}),
                   ('bare', {}), ('cpu', {'metrics': [metric('cpu', 60)]})):
    ask('POST', OTHER_FORM + '?fieldManager=a', {'metadata': {'name': name}, 'spec': dict({'minReplicas': 1, 'maxReplicas': 5, 'scaleTargetRef': TARGET}, **more)}, fields=BOTH)
    ask('PATCH', OTHER_FORM + '/%s/status?fieldManager=b' % name, {'status': {
        'currentReplicas': 1, 'desiredReplicas': 2, 'conditions': [{'type': 'AbleToScale', 'status': 'True', 'lastTransitionTime': '2020-01-01T00:00:00Z', 'reason': 'r', 'message': 'm'}],
        'currentMetrics': [{'type': 'Resource', 'resource': {'name': 'cpu', 'current': {'averageUtilization': 3, 'averageValue': '1'}}}]}}, MERGE)
    for body in ({'spec': {'maxReplicas': 7}}, {'spec': {'targetCPUUtilizationPercentage': 77}}, {'spec': {'targetCPUUtilizationPercentage': None}}, {'metadata': {'annotations': {'a': 'b'}}},
                 {'metadata': {'annotations': {NOTE + 'metrics': None}}}, {'metadata': {'annotations': {NOTE + 'behavior': None}}}, {'metadata': {'annotations': {NOTE + 'metrics': '[]'}}},
                 {'metadata': {'annotations': {NOTE + 'conditions': None}}}):
        for path in (ONE_FORM + '/' + name, ONE_FORM + '/%s/status' % name):
            ask('PATCH', path + '?dryRun=All&fieldManager=z', body, MERGE, BOTH)
    for force in ('', '&force=true'):
        for body in ({'maxReplicas': 9}, {'maxReplicas': 9, 'targetCPUUtilizationPercentage': 44}):
            ask('PATCH', ONE_FORM + '/' + name + '?dryRun=All&fieldManager=z' + force, applied('v1', name, scaleTargetRef=TARGET, **body), APPLY, BOTH)
    ask('PUT', ONE_FORM + '/' + name + '?dryRun=All&fieldManager=z', {'metadata': {'name': name}, 'spec': {'maxReplicas': 9, 'scaleTargetRef': TARGET}}, fields=BOTH)
    # And the other way round.
    ask('PATCH', ONE_FORM + '/' + name + '?fieldManager=first&force=true', applied('v1', name, maxReplicas=9, scaleTargetRef=TARGET, targetCPUUtilizationPercentage=44), APPLY, BOTH)
    for body in ({'spec': {'metrics': [metric('memory', 50)]}}, {'spec': {'metrics': [metric('cpu', 44)]}}, {'spec': {'metrics': [metric('cpu', 45)]}}, {'spec': {'behavior': None}}):
        ask('PATCH', OTHER_FORM + '/' + name + '?dryRun=All&fieldManager=z', body, MERGE, BOTH)
    for force in ('', '&force=true'):
        ask('PATCH', OTHER_FORM + '/' + name + '?dryRun=All&fieldManager=z' + force, applied('v2', name, scaleTargetRef=TARGET, maxReplicas=9, metrics=[metric('cpu', 45)]), APPLY, BOTH)
