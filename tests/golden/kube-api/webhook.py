#!/usr/bin/env python3
"""webhook.py URL TOKEN >webhook.jsonl: what a real kube-apiserver makes of writes under webhooks, and what it asks them.

One line a request, in order: method, path, body, code, warnings, of a refusal message, reason and details, and the calls: target,
the review that was sent, status and text of the answer. tests/unit/alm/apiserver/admission/test_hooks_recorded.c sends the same to ours, and
answers the same. Recorded on 1.36. The webhooks listen on PORT of 127.0.0.1; a request calls at most one of validating ones, as
the real server calls those all at once. Its informers see a configuration some time after the answer; that is what is waited for.
"""
import base64
import json
import time

from recorder import APPLY, CRD, GROUP, MERGE, PATCH, PORT, a_map, answers, ask, definition, in_space, listen, maps, rule, space

KINDS = {'v': 'ValidatingWebhookConfiguration', 'm': 'MutatingWebhookConfiguration'}
CA = listen()


def hook(name, ns=None, rules=None, path=None, **more):
    h = {'name': name + '.example.com', 'clientConfig': {'url': 'https://127.0.0.1:%d/%s' % (PORT, path or name), 'caBundle': CA},
         'rules': rules or [rule()], 'sideEffects': 'None', 'admissionReviewVersions': ['v1']}
    if ns:
        h['namespaceSelector'] = in_space(ns)
    h.update(more)
    return h


def configs(kind):
    return '/apis/%s/%ss' % (GROUP, KINDS[kind].lower())


def config(kind, name, *hooks, wait=1.5):
    code = ask('POST', configs(kind), {'apiVersion': GROUP, 'kind': KINDS[kind], 'metadata': {'name': name}, 'webhooks': list(hooks)},
               fields=('webhooks',))
    time.sleep(wait if code == 201 else 0)
    return code


def drop(kind, *names):
    for n in names:
        ask('DELETE', configs(kind) + '/' + n)
    time.sleep(1.2)


def cm(ns, name, query='', labels=None, **data):
    return ask('POST', maps(ns) + query, a_map(name, labels, **data), fields=('data',))


ALL = ('CREATE', 'UPDATE', 'DELETE')

# What is asked, and what an answer makes of a write.
space('h-say')
config('v', 'say', hook('say', 'h-say', [rule(operations=ALL)]))
answers['say'] = {'allowed': True}
cm('h-say', 'a', a='x')
cm('h-say', 'dry', '?dryRun=All&fieldManager=me&fieldValidation=Strict', a='x')
ask('POST', maps('h-say'), {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'generateName': 'gen-'}})
ask('PATCH', maps('h-say') + '/a', {'data': {'b': 'y'}}, MERGE, fields=('data',))
ask('PATCH', maps('h-say') + '/a', [{'op': 'add', 'path': '/data/c', 'value': 'z'}], PATCH, fields=('data',))
ask('PATCH', maps('h-say') + '/a?fieldManager=m2&force=true', a_map('a', d='w'), APPLY, fields=('data',))
ask('PATCH', maps('h-say') + '/new?fieldManager=m2', a_map('new', d='w'), APPLY, fields=('data',))
ask('PUT', maps('h-say') + '/a', a_map('a', a='z'), fields=('data',))
ask('DELETE', maps('h-say') + '/a?propagationPolicy=Background')
ask('DELETE', maps('h-say') + '/new', {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'gracePeriodSeconds': 0, 'dryRun': ['All']})
ask('DELETE', maps('h-say') + '?fieldSelector=metadata.name=new')
for deny in ({}, {'message': 'because'}, {'reason': 'Teapot'}, {'code': 418}, {'code': 200, 'message': 'fine'}, {'code': 422, 'reason': 'Invalid', 'message': 'wrong'},
             {'message': 'm', 'details': {'name': 'n', 'kind': 'k', 'causes': [{'reason': 'r', 'message': 'x', 'field': 'f'}]}},
             {'status': 'Success', 'message': 's'}, {'metadata': {'resourceVersion': '7'}, 'message': 'meta'}, {'code': 403, 'reason': 'Forbidden'}):
    answers['say'] = {'allowed': False, 'status': deny} if deny else {'allowed': False}
    cm('h-say', 'b')
answers['say'] = {'allowed': True, 'status': {'message': 'unused'}, 'warnings': ['first', 'sec"ond', ''], 'auditAnnotations': {'k': 'v'}}
cm('h-say', 'w')
answers['say'] = {'allowed': False, 'warnings': ['w' * 300], 'status': {'message': 'no'}}
cm('h-say', 'x')
ask('DELETE', maps('h-say') + '/w')
ask('PATCH', maps('h-say') + '/w', {'data': {'b': 'y'}}, MERGE)
cm('h-say', 'bad name')
cm('h-say', 'w')
# What is no answer.
for wrong in ('', '{}', 'text', '[]', '{"kind":"AdmissionReview"}', {'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1'},
              {'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1beta1', 'response': {'uid': 'UID', 'allowed': True}},
              {'kind': 'Pod', 'apiVersion': 'v1', 'response': {'uid': 'UID', 'allowed': True}},
              {'allowed': 'yes'}, {'allowed': True, 'patch': 'W10='}, {'allowed': True, 'patchType': 'JSONPatch'},
              (404, 'no page\n'), (500, 'broken'), (500, {'allowed': True}), (201, {'allowed': True}), (302, ''), (401, ''), (403, 'no'), (503, ''), (429, 'slow')):
    answers['say'] = wrong
    cm('h-say', 'y', '?dryRun=All')
drop('v', 'say')
config('v', 'say', hook('say', 'h-say', failurePolicy='Ignore'))
for wrong in ('', '{}', (404, 'no page\n'), (500, 'broken'), {'allowed': False}):
    answers['say'] = wrong
    cm('h-say', 'y', '?dryRun=All')
drop('v', 'say')
config('v', 'say', hook('say', 'h-say', admissionReviewVersions=['v1beta1', 'v1'], timeoutSeconds=3))
for a in ({'allowed': True}, {'allowed': False}, {'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1beta1', 'response': {'allowed': True}},
          {'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1', 'response': {'uid': 'UID', 'allowed': True}}, '{"response":{"allowed":true}}'):
    answers['say'] = a
    cm('h-say', 'y', '?dryRun=All')
drop('v', 'say')

# Where it is not reached.
config('v', 'gone', hook('gone', 'h-say', clientConfig={'service': {'namespace': 'h-say', 'name': 'none', 'path': '/x'}, 'caBundle': CA}))
cm('h-say', 'y', '?dryRun=All')
drop('v', 'gone')

# Rules and conditions.
space('h-rule', team='red')
answers['rule'] = {'allowed': False, 'status': {'message': 'no'}}
n = 0


def tried(rules, **more):
    global n
    n += 1
    name = 'rule-%d' % n
    config('v', name, hook(name, 'h-rule', rules, path='rule', **more))
    cm('h-rule', 'a', '?dryRun=All')
    cm('h-rule', 'b', '?dryRun=All', {'tier': 'gold'}, x='y')
    ask('PATCH', '/api/v1/namespaces/h-rule?dryRun=All', {'metadata': {'annotations': {'a': str(n)}}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/h-rule/deployments/d?dryRun=All', {'spec': {'paused': True}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/h-rule/deployments/d/scale?dryRun=All', {'spec': {'replicas': 3}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/h-rule/deployments/d/status?dryRun=All', {'status': {'observedGeneration': n}}, MERGE)
    drop('v', name)


ask('POST', '/apis/apps/v1/namespaces/h-rule/deployments', {
    'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'},
    'spec': {'replicas': 0, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
        'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}})
tried([rule()])
tried([rule(['*'], ['*'], ['*'], ['*'])])
tried([rule(['*/*'], ['*'], ['*'], ['*'])])
tried([rule(['deployments/scale', 'namespaces'], ['apps', ''], ['UPDATE'])])
tried([rule(['*'], ['*'], ['*'], ['*'], scope='Cluster')])
tried([rule(['*'], ['*'], ['*'], ['*'], scope='Namespaced')])
tried([rule(['*'], ['*'], ['*'], ['*'])], objectSelector={'matchLabels': {'tier': 'gold'}})
tried([rule()], matchConditions=[{'name': 'x-is-y', 'expression': "object.data.x == 'y'"}])
tried([rule()], failurePolicy='Ignore', matchConditions=[{'name': 'x-is-y', 'expression': "object.data.x == 'y'"}])
tried([rule()], matchConditions=[{'name': 'a', 'expression': "request.name != 'a'"}, {'name': 'b', 'expression': "authorizer.path('/x').check('get').allowed()"}])

# Mutations.
space('h-mut')


def patched(*ops):
    return {'allowed': True, 'patchType': 'JSONPatch', 'patch': base64.b64encode(json.dumps(ops).encode()).decode()}


config('m', 'mut', hook('mut', 'h-mut', [rule(operations=ALL)]))
config('v', 'mut', hook('seen', 'h-mut', [rule(operations=ALL)]))
answers['seen'] = {'allowed': True}
answers['mut'] = patched({'op': 'add', 'path': '/data/made', 'value': 'here'})
cm('h-mut', 'a', a='x')
ask('POST', maps('h-mut'), {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'generateName': 'gen-'}, 'data': {}})
ask('PATCH', maps('h-mut') + '/a', {'data': {'b': 'y', 'made': None}}, MERGE, fields=('data',))
ask('PUT', maps('h-mut') + '/a', a_map('a', a='z'), fields=('data',))
ask('PATCH', maps('h-mut') + '/a?fieldManager=m2&force=true', a_map('a', d='w'), APPLY, fields=('data',))
ask('GET', maps('h-mut') + '/a', fields=('data',))
ask('DELETE', maps('h-mut') + '/a?dryRun=All')
answers['mut'] = {'allowed': True}
for ops in ([], [{'op': 'add', 'path': '/nothing/there', 'value': 1}], [{'op': 'test', 'path': '/data/a', 'value': 'no'}], [{'op': 'replace', 'path': '/data', 'value': 7}],
            [{'op': 'add', 'path': '/unknown', 'value': 7}], [{'op': 'replace', 'path': '/metadata/name', 'value': 'other'}],
            [{'op': 'replace', 'path': '/metadata/namespace', 'value': 'default'}], [{'op': 'remove', 'path': '/metadata/managedFields'}],
            [{'op': 'jump', 'path': '/x'}],
            [{'op': 'add', 'path': '/metadata/labels', 'value': {'bad key': 'x'}}], [{'op': 'add', 'path': '/metadata/labels', 'value': {'l': 'x'}}]):
    answers['mut'] = patched(*ops)
    cm('h-mut', 'try', '?dryRun=All', a='x')
for wrong in (dict(patched(), patch='!!'), dict(patched(), patch='e30='), dict(patched(), patchType='Merge'), dict(patched({'op': 'add', 'path': '/data/b', 'value': 'c'}), patchType='Merge'), {'allowed': True, 'patchType': 'JSONPatch'},
              {'allowed': True, 'patch': 'W10='}, dict(patched({'op': 'add', 'path': '/data/b', 'value': 'c'}), allowed=False)):
    answers['mut'] = wrong
    cm('h-mut', 'try', '?dryRun=All', a='x')
drop('m', 'mut')
# One after the other, and again.
config('m', 'two', hook('first', 'h-mut', reinvocationPolicy='IfNeeded'), hook('second', 'h-mut'), hook('third', 'h-mut', reinvocationPolicy='IfNeeded'))
answers['first'] = patched({'op': 'add', 'path': '/data/first', 'value': 'x'})
answers['second'] = patched({'op': 'add', 'path': '/data/second', 'value': 'x'})
answers['third'] = {'allowed': True}
cm('h-mut', 'again', '?dryRun=All', a='x')
answers['second'] = {'allowed': True}
cm('h-mut', 'again', '?dryRun=All', a='x')
answers['third'] = patched({'op': 'add', 'path': '/data/third', 'value': 'x'})
cm('h-mut', 'again', '?dryRun=All', a='x')
answers['second'] = {'allowed': False, 'status': {'message': 'stop'}}
cm('h-mut', 'again', '?dryRun=All', a='x')
drop('m', 'two')
drop('v', 'mut')
# Defaults, status and a Scale.
config('m', 'kinds', hook('kinds', 'h-mut', [rule(['deployments', 'deployments/status', 'deployments/scale', 'secrets', 'services'], ['apps', ''])]))
answers['kinds'] = patched({'op': 'add', 'path': '/metadata/labels', 'value': {'seen': 'yes'}})
DEPLOYMENT = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'}, 'spec': {'replicas': 0, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
    'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}
ask('POST', '/apis/apps/v1/namespaces/h-mut/deployments', DEPLOYMENT)
answers['kinds'] = patched({'op': 'replace', 'path': '/spec/replicas', 'value': 0}, {'op': 'add', 'path': '/spec/template/spec/containers/0/ports',
                                                                                'value': [{'containerPort': 80}]})
ask('PATCH', '/apis/apps/v1/namespaces/h-mut/deployments/d', {'spec': {'replicas': 2}}, MERGE, fields=('spec',))
answers['kinds'] = patched({'op': 'replace', 'path': '/spec/replicas', 'value': 5})
ask('PATCH', '/apis/apps/v1/namespaces/h-mut/deployments/d/scale', {'spec': {'replicas': 2}}, MERGE, fields=('spec',))
ask('PATCH', '/apis/apps/v1/namespaces/h-mut/deployments/d/status', {'status': {'observedGeneration': 77}}, MERGE, fields=('spec',))
answers['kinds'] = {'allowed': True}
ask('POST', '/api/v1/namespaces/h-mut/secrets', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 's'}, 'stringData': {'a': 'b'}}, fields=('data', 'type'))
drop('m', 'kinds')
config('v', 'kinds', hook('kinds', 'h-mut', [rule(['deployments', 'pods/eviction', 'serviceaccounts/token', 'namespaces'], ['apps', ''], ALL)]))
ask('POST', '/apis/apps/v1/namespaces/h-mut/deployments?dryRun=All', dict(DEPLOYMENT, metadata={'name': 'e'}))
ask('DELETE', '/apis/apps/v1/namespaces/h-mut/deployments/d', fields=('status',))
drop('v', 'kinds')

# Versions.
SCHEMA = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}, 'kept': {'type': 'string', 'default': 'd'}}}}}
ask('POST', CRD, definition('things', 'hook.example.com', SCHEMA))
time.sleep(3)
answers['ver'] = patched({'op': 'replace', 'path': '/spec/size', 'value': 9}, {'op': 'add', 'path': '/spec/odd', 'value': 1})
for policy in ('Equivalent', 'Exact'):
    config('m', 'ver', hook('ver', 'h-mut', [rule(['things'], ['hook.example.com'], versions=['v2'])], matchPolicy=policy))
    for version in ('v1', 'v2'):
        ask('POST', '/apis/hook.example.com/%s/namespaces/h-mut/things?dryRun=All' % version,
            {'apiVersion': 'hook.example.com/' + version, 'kind': 'Thing', 'metadata': {'name': 't'}, 'spec': {'size': 1}}, fields=('apiVersion', 'spec'))
    drop('m', 'ver')
ask('DELETE', CRD + '/things.hook.example.com')

# They do not govern themselves.
config('v', 'own', hook('rule', None, [rule(['*'], ['admissionregistration.k8s.io'], ALL)]))
config('v', 'own-2', hook('rule', 'none'))
drop('v', 'own-2', 'own')

# What is no configuration.
WRONG = [
    {}, {'name': ''}, {'name': 'short'}, {'name': 'a.b'}, {'name': 'A.example.com'}, {'clientConfig': {}}, {'clientConfig': None},
    {'clientConfig': {'url': ''}}, {'clientConfig': {'url': 'http://a.example.com/x'}}, {'clientConfig': {'url': 'https://u:p@a.example.com/x'}},
    {'clientConfig': {'url': 'https://a.example.com/x?a=b'}}, {'clientConfig': {'url': 'https://a.example.com/x#y'}}, {'clientConfig': {'url': 'https:///x'}},
    {'clientConfig': {'url': 'a b'}}, {'clientConfig': {'url': 'https://[::1'}}, {'clientConfig': {'url': 'https://a.example.com', 'caBundle': '!!'}},
    {'clientConfig': {'url': 'https://a.example.com', 'caBundle': 'bm9uZQ=='}}, {'clientConfig': {'url': 'https://a.example.com', 'service': {'name': 'a', 'namespace': 'b'}}},
    {'clientConfig': {'service': {}}}, {'clientConfig': {'service': {'name': 'a'}}}, {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': 'x'}}},
    {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': '/x//y'}}}, {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': '/x/../y'}}},
    {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': '/'}}}, {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': '/a_B/'}}},
    {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'path': ''}}}, {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'port': 0}}},
    {'clientConfig': {'service': {'name': 'a', 'namespace': 'b', 'port': 70000}}}, {'clientConfig': {'service': {'name': 'a', 'namespace': 'b'}}},
    {'sideEffects': None}, {'sideEffects': 'Some'}, {'sideEffects': 'Unknown'}, {'sideEffects': 'Maybe'}, {'sideEffects': 'NoneOnDryRun'},
    {'admissionReviewVersions': None}, {'admissionReviewVersions': []}, {'admissionReviewVersions': ['v2']}, {'admissionReviewVersions': ['v1', 'v1']},
    {'admissionReviewVersions': ['V 1']}, {'admissionReviewVersions': ['']}, {'timeoutSeconds': 0}, {'timeoutSeconds': 31}, {'timeoutSeconds': 30}, {'timeoutSeconds': -1},
    {'failurePolicy': 'Maybe'}, {'failurePolicy': ''}, {'matchPolicy': 'Near'}, {'rules': None}, {'rules': []}, {'rules': [{}]},
    {'rules': [rule(operations=[])]}, {'rules': [rule(operations=['GET'])]}, {'rules': [rule(operations=['CONNECT'])]}, {'rules': [rule(operations=['*', 'CREATE'])]},
    {'rules': [rule(groups=[])]}, {'rules': [rule(groups=['*', 'x'])]}, {'rules': [rule(versions=[])]}, {'rules': [rule(versions=[''])]},
    {'rules': [rule(['*', 'x'])]}, {'rules': [rule(['a/*', 'a/b'])]}, {'rules': [rule([])]}, {'rules': [rule([''])]}, {'rules': [rule(scope='World')]},
    {'objectSelector': {'matchExpressions': [{'key': 'a', 'operator': 'In'}]}}, {'namespaceSelector': {'matchLabels': {'a b': 'c'}}},
    {'matchConditions': [{'name': 'a', 'expression': '1'}]}, {'matchConditions': [{'name': '', 'expression': 'true'}]},
    {'matchConditions': [{'name': 'a b', 'expression': 'true'}]}, {'matchConditions': [{'name': 'a', 'expression': ''}]},
    {'matchConditions': [{'name': 'a', 'expression': 'true'}, {'name': 'a', 'expression': 'true'}]}, {'matchConditions': [{'name': 'a', 'expression': 'params.x'}]},
    {'matchConditions': [{'name': 'a', 'expression': 'namespaceObject.metadata.name == "x"'}]}, {'matchConditions': [{'name': 'a', 'expression': 'object.'}]},
    {'unknown': 1}, {'reinvocationPolicy': 'IfNeeded'}, {'reinvocationPolicy': 'Always'},
]
for kind in ('v', 'm'):
    for i, wrong in enumerate(WRONG):
        h = {k: v for k, v in dict(hook('wrong', 'none', timeoutSeconds=5), **wrong).items() if v is not None}
        if config(kind, 'wrong-%d' % i, h, wait=0) == 201:
            ask('DELETE', configs(kind) + '/wrong-%d' % i)
    if config(kind, 'twice', hook('x', 'none'), hook('x', 'none'), wait=0) == 201:
        ask('DELETE', configs(kind) + '/twice')
    config(kind, 'none', wait=0)
    ask('DELETE', configs(kind) + '/none')
    config(kind, 'plain', {'name': 'a.example.com', 'clientConfig': {'service': {'name': 'a', 'namespace': 'b'}}, 'sideEffects': 'None',
                           'admissionReviewVersions': ['v1'], 'rules': [rule(['none'])]}, wait=0)
    ask('PATCH', configs(kind) + '/plain', {'metadata': {'labels': {'a': 'b'}}}, MERGE, fields=('webhooks',))
    ask('PUT', configs(kind) + '/plain', {'apiVersion': GROUP, 'kind': KINDS[kind], 'metadata': {'name': 'plain'}, 'webhooks': []}, fields=('webhooks',))
    ask('DELETE', configs(kind) + '/plain')
