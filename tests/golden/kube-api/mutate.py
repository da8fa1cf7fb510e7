#!/usr/bin/env python3
"""mutate.py URL TOKEN >mutate.jsonl: what a real kube-apiserver makes of writes under MutatingAdmissionPolicies.

One line a request, in order: method, path, body, code, warnings, of a refusal message, reason and details, else what was made of
it, and the calls of webhooks. tests/unit/alm/apiserver/admission/test_mutating_policies.c sends the same to ours. Recorded on 1.36.
Taken out by hand: the fields of what several policies made (their order is random there), and two answers of Deployments: a uint
for a number (refused there), and a container without name, which ours refuses before it is merged and not when it is validated.
"""
import base64
import json
import time

from recorder import APPLY, CRD, GROUP, MERGE, PATCH, PORT, a_map, answers, ask, definition, in_space, listen, maps, named, rule, space

CA = listen()
POLICIES = '/apis/%s/mutatingadmissionpolicies' % GROUP
BINDINGS = '/apis/%s/mutatingadmissionpolicybindings' % GROUP


def apply(expression):
    return {'patchType': 'ApplyConfiguration', 'applyConfiguration': {'expression': expression}}


def patch(expression):
    return {'patchType': 'JSONPatch', 'jsonPatch': {'expression': expression}}


def bind(name, policy, ns, wait=2.0, **more):
    spec = {'policyName': policy, 'matchResources': {'namespaceSelector': in_space(ns)}}
    code = ask('POST', BINDINGS, named('MutatingAdmissionPolicyBinding', name, spec=dict(spec, **more)), fields=('spec',))
    time.sleep(wait if code == 201 else 0)
    return code


def policy(name, mutations, ns=None, rules=None, match=None, wait=2.0, **spec):
    """A policy with a binding of its name, in force in the namespace."""
    body = dict({'matchConstraints': dict({'resourceRules': rules or [rule()]}, **(match or {})), 'mutations': mutations,
                 'reinvocationPolicy': 'Never'}, **spec)
    code = ask('POST', POLICIES, named('MutatingAdmissionPolicy', name, spec=body), fields=('spec',))
    if code == 201 and ns:
        bind(name, name, ns, wait=wait)
    return code


def drop(*names):
    for n in names:
        ask('DELETE', BINDINGS + '/' + n)
        ask('DELETE', POLICIES + '/' + n)
    time.sleep(1.5)


MADE = ('data', 'binaryData', 'immutable')


def cm(ns, name, query='?dryRun=All', labels=None, fields=MADE, **data):
    return ask('POST', maps(ns) + query, a_map(name, labels, **data), fields=fields)


n = 0


def tried(mutation, ns='u-cm', wait=1.6, **spec):
    """One mutation, and two ConfigMaps."""
    global n
    n += 1
    name = 'try-%d' % n
    if policy(name, mutation if isinstance(mutation, list) else [mutation], ns, wait=wait, **spec) != 201:
        return
    cm(ns, 'a')
    cm(ns, 'b', x='y', z='w')
    drop(name)


space('u-cm', team='red')
# What an ApplyConfiguration merges.
tried(apply("Object{data: {'made': 'here'}}"))
tried(apply("Object{metadata: Object.metadata{labels: {'l': 'v'}, annotations: {'a': namespaceObject.metadata.labels.team}}}"))
tried(apply("Object{metadata: Object.metadata{name: 'other'}}"))
tried(apply("Object{immutable: true, data: {'n': string(size(object.metadata.name))}}"))
tried(apply("Object{}"))
tried(apply("Object{data: {}}"))
tried(apply("Object{data: null}"))
tried(apply("Object{data: {'x': null}}"))
tried(apply("Object{?data: has(object.data) ? optional.of({'had': 'data'}) : optional.none()}"))
tried(apply("Object{data: {?'seen': object.?data.x, 'always': 'yes'}}"))
tried(apply("Object{unknown: 1}"))
tried(apply("Object{data: {'n': 1}}"))
tried(apply("Object{data: 'text'}"))
tried(apply("Object{data: ['a']}"))
tried(apply("Object{immutable: 'yes'}"))
tried(apply("Object{data: Object.data{x: 'as a type'}}"))
tried(apply("Object{metadata: Object.wrong{labels: {'a': 'b'}}}"))
tried(apply("Object{metadata: Object.metadata{labels: Object.metadata.wrong{a: 'b'}}}"))
tried(apply("Object{kind: 'Secret', apiVersion: 'v2'}"))
tried(apply("Object{metadata: Object.metadata{finalizers: ['example.com/a']}}"))
tried(apply("Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u'}]}}"))
tried(apply("Object{metadata: Object.metadata{labels: {'bad key': 'x'}}}"))
tried(apply("Object{metadata: Object.metadata{managedFields: []}}"))
tried(apply("has(object.data) ? Object{data: {'c': 'd'}} : Object{}"))
tried(apply("object.data.x == 'y' ? Object{data: {'c': 'd'}} : Object{}"))
tried([apply("Object{data: {'one': '1'}}"), apply("Object{data: {'two': object.data.one + '2'}}"), patch("[JSONPatch{op: 'add', path: '/data/three', value: object.data.two}]")])
tried([apply("Object{data: {'one': object.data.x}}"), apply("Object{data: {'two': '2'}}")])
tried([apply("Object{data: {'one': object.data.x}}"), apply("Object{data: {'two': '2'}}")], failurePolicy='Ignore')
tried(apply("Object{data: {'v': variables.v}}"), variables=[{'name': 'v', 'expression': "has(object.data) ? object.data.x : 'none'"}])
tried(apply("Object{data: variables.d}"), variables=[{'name': 'd', 'expression': "{'from': 'variable'}"}])
tried(apply("variables.o"), variables=[{'name': 'o', 'expression': "Object{data: {'whole': 'variable'}}"}])
tried(apply("Object{metadata: variables.m}"), variables=[{'name': 'm', 'expression': "Object.metadata{labels: {'whole': 'variable'}}"}])

# What a JSONPatch does.
tried(patch("[JSONPatch{op: 'add', path: '/data', value: {'made': 'here'}}]"))
tried(patch("[JSONPatch{op: 'add', path: '/data/made', value: 'here'}]"))
tried(patch("[JSONPatch{op: 'replace', path: '/data/x', value: 'other'}]"))
tried(patch("[JSONPatch{op: 'remove', path: '/data/x'}]"))
tried(patch("[JSONPatch{op: 'test', path: '/data/x', value: 'y'}, JSONPatch{op: 'add', path: '/data/passed', value: 'yes'}]"))
tried(patch("[JSONPatch{op: 'test', path: '/data/x', value: 'no'}, JSONPatch{op: 'add', path: '/data/passed', value: 'yes'}]"))
tried(patch("[JSONPatch{op: 'move', from: '/data/x', path: '/data/moved'}]"))
tried(patch("[JSONPatch{op: 'copy', from: '/data/x', path: '/data/copied'}]"))
tried(patch("[JSONPatch{op: 'jump', path: '/data'}]"))
tried(patch("[JSONPatch{path: '/data'}]"))
tried(patch("[JSONPatch{op: 'add'}]"))
tried(patch("[JSONPatch{op: 'add', path: '/data'}]"))
tried(patch("[JSONPatch{op: 'add', path: '/data', value: null}]"))
tried(patch("[JSONPatch{op: 'add', path: '/nothing/there', value: 1}]"))
tried(patch("[JSONPatch{op: 'add', path: '/unknown', value: 1}]"))
tried(patch("[JSONPatch{op: 'add', path: '/data', value: 7}]"))
tried(patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {jsonpatch.escapeKey('a'): 'b'}}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/x~y'), value: 'c'}]"))
tried(patch("[JSONPatch{op: 'add', path: '/metadata', value: Object.metadata{name: object.metadata.name, labels: {'l': 'm'}}}]"))
tried(patch("[JSONPatch{op: 'add', path: '/metadata', value: Object{metadata: Object.metadata{labels: {'l': 'm'}}}.metadata}]"))
tried(patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: Object.wrong{l: Object.other{}}}]"))
tried(patch("[]"))
tried(patch("has(object.data) ? [JSONPatch{op: 'add', path: '/data/had', value: 'data'}] : []"))
tried(patch("object.data.map(k, JSONPatch{op: 'replace', path: '/data/' + jsonpatch.escapeKey(k), value: object.data[k] + '!'})"))
tried(patch("[JSONPatch{op: 'add', path: '/data/\"quoted\"', value: 'q'}]"))
tried(patch("[JSONPatch{op: 'replace', path: '/metadata/name', value: 'other'}]"))
tried(patch("[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['example.com/a']}]"))
tried(patch("[JSONPatch{op: 'add', path: '/data/big', value: string(9223372036854775807) + string(1.5) + string(true)}]"))
tried(patch("[JSONPatch{op: 'add', path: '/binaryData', value: {'b': base64.encode(b'bytes')}}]"))
tried(patch("[JSONPatch{op: 'add', path: '/binaryData', value: {'b': b'bytes'}}]"))
tried(patch("[JSONPatch{op: 'add', path: '/immutable', value: 1 < 2}]"))

# Conditions, failures.
tried(apply("Object{data: {'m': 'n'}}"), matchConditions=[{'name': 'x', 'expression': "has(object.data) && object.data.x == 'y'"}])
tried(apply("Object{data: {'m': 'n'}}"), matchConditions=[{'name': 'x', 'expression': "object.data.x == 'y'"}])
tried(apply("Object{data: {'m': 'n'}}"), failurePolicy='Ignore', matchConditions=[{'name': 'x', 'expression': "object.data.x == 'y'"}])
tried(apply("Object{data: {'m': object.data.x}}"), failurePolicy='Ignore')
tried(apply("Object{data: {'m': string(oldObject == null) + request.operation + request.userInfo.username + string(authorizer.path('/x').check('get').allowed())}}"))
tried(apply("Object{data: {'m': object.metadata.name.matches('a') || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, "
            "[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, "
            "[1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f > 0)))))) ? 'x' : 'y'}}"))

# Which writes.
space('u-op')
policy('ops', [apply("Object{metadata: Object.metadata{annotations: {'op': request.operation + (has(request.subResource) ? request.subResource : '')}}}")],
       'u-op', [rule(['*', '*/*'], ['', 'apps'], ['*'])])
META = ('data', 'metadata.annotations', 'spec.replicas')
cm('u-op', 'a', '', x='y', fields=META)
ask('PATCH', maps('u-op') + '/a', {'data': {'b': 'c'}}, MERGE, fields=META)
ask('PATCH', maps('u-op') + '/a', [{'op': 'add', 'path': '/data/d', 'value': 'e'}], PATCH, fields=META)
ask('PATCH', maps('u-op') + '/a?fieldManager=m2&force=true', a_map('a', f='g'), APPLY, fields=META)
ask('PATCH', maps('u-op') + '/new?fieldManager=m2', a_map('new', f='g'), APPLY, fields=META)
ask('PUT', maps('u-op') + '/a', a_map('a', h='i'), fields=META)
DEPLOYMENT = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'}, 'spec': {'replicas': 0, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
    'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}
DEPLOYMENTS = '/apis/apps/v1/namespaces/%s/deployments'
ask('POST', DEPLOYMENTS % 'u-op', DEPLOYMENT, fields=META)
ask('PATCH', DEPLOYMENTS % 'u-op' + '/d/scale?dryRun=All', {'spec': {'replicas': 3}}, MERGE, fields=META)
ask('PATCH', DEPLOYMENTS % 'u-op' + '/d/status?dryRun=All', {'status': {'observedGeneration': 7}}, MERGE, fields=META)
ask('DELETE', maps('u-op') + '/a')
ask('DELETE', maps('u-op'))
ask('DELETE', DEPLOYMENTS % 'u-op' + '/d')
drop('ops')
policy('gone', [apply('Object{}')], 'u-op', [rule(operations=['DELETE'])])
drop('gone')

# Lists and types of a workload.
space('u-app')
SPEC = ('spec.template.spec', 'spec.replicas')


def app(mutation, wait=1.6, **spec):
    global n
    n += 1
    name = 'app-%d' % n
    if policy(name, mutation if isinstance(mutation, list) else [mutation], 'u-app', [rule(['deployments'], ['apps'])], wait=wait, **spec) == 201:
        ask('POST', DEPLOYMENTS % 'u-app' + '?dryRun=All', DEPLOYMENT, fields=SPEC)
        drop(name)


POD = 'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{%s}}}}'
C = 'Object.spec.template.spec.containers'
app(apply('Object{spec: Object.spec{replicas: 0}}'))
app(apply('Object{spec: Object.spec{replicas: object.spec.replicas + 5}}'))
app(apply(POD % ("containers: [%s{name: 'c', env: [%s.env{name: 'E', value: 'v'}]}]" % (C, C))))
app(apply(POD % ("containers: [%s{name: 'side', image: 's'}]" % C)))
app(apply(POD % ("containers: [%s{image: 's'}]" % C)))
app(apply(POD % ("containers: [%s{name: 'c', args: ['a']}]" % C)))
app(apply(POD % ("containers: [%s{name: 'c', image: 'j', imagePullPolicy: 'Never'}]" % C)))
app(apply(POD % ("containers: object.spec.template.spec.containers.map(c, %s{name: c.name, image: 'reg/' + c.image})" % C)))
app(apply(POD % "nodeSelector: {'a': 'b'}"))
app(apply(POD % "securityContext: Object.spec.template.spec.securityContext{runAsNonRoot: true}"))
app(apply(POD % "tolerations: [Object.spec.template.spec.tolerations{key: 'k', operator: 'Exists'}]"))
app(apply(POD % "volumes: [Object.spec.template.spec.volumes{name: 'v', emptyDir: Object.spec.template.spec.volumes.emptyDir{}}]"))
app(apply(POD % "initContainers: [Object.spec.template.spec.initContainers{name: 'i', image: 'x', resources: Object.spec.template.spec.initContainers.resources{limits: {'cpu': '1000m'}}}]"))
app(apply(POD % "terminationGracePeriodSeconds: '5'"))
app(apply(POD % "terminationGracePeriodSeconds: 5u"))
app(apply(POD % "terminationGracePeriodSeconds: 5.0"))
app(apply(POD % "wrong: true"))
app(apply("Object{spec: Object.spec{strategy: Object.spec.strategy{type: 'Recreate'}}}"))
app(apply("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}"))
app(patch("[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: %s{name: 'side', image: 's'}}]" % C))
app(patch("[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: [{'key': 'k', 'operator': 'Exists'}]}]"))
app(patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 2}]"))
app(patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 2.5}]"))
app(patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: '2'}]"))
app(patch("[JSONPatch{op: 'add', path: '/spec/template/spec/hostNetwork', value: true}, JSONPatch{op: 'add', path: '/spec/odd', value: true}]"))

# Several, in their order; those that are asked again.
space('u-two')


def order(*reinvocation):
    names = ['two-%s' % c for c in 'cab']
    rest = dict(zip(names, reinvocation))
    for name in names:
        policy(name, [apply("Object{data: {'log': (has(object.data) && has(object.data.log) ? object.data.log : '') + '%s'}}" % name[-1])], 'u-two', wait=0,
               reinvocationPolicy=rest[name])
    time.sleep(2)
    cm('u-two', 'x')
    drop(*names)


order('Never', 'Never', 'Never')
order('IfNeeded', 'IfNeeded', 'IfNeeded')
order('Never', 'IfNeeded', 'Never')
order('IfNeeded', 'Never', 'Never')
policy('two', [apply("Object{data: {'log': (has(object.data) && has(object.data.log) ? object.data.log : '') + params.data.p}}")], wait=0,
       paramKind={'apiVersion': 'v1', 'kind': 'ConfigMap'}, rules=[rule(operations=['UPDATE'])])
for p in ('q', 'p'):
    ask('POST', maps('u-two'), a_map(p, {'use': 'it'}, p=p))
cm('u-two', 'x', '')
bind('two-b', 'two', 'u-two', wait=0, paramRef={'name': 'q', 'parameterNotFoundAction': 'Deny'})
bind('two-a', 'two', 'u-two', wait=0, paramRef={'name': 'p', 'parameterNotFoundAction': 'Deny'})
time.sleep(3)
ask('PATCH', maps('u-two') + '/x', {'data': {'a': 'b'}}, MERGE, fields=MADE)
ask('DELETE', BINDINGS + '/two-a')
ask('DELETE', BINDINGS + '/two-b')
for ref in ({'name': 'none', 'parameterNotFoundAction': 'Deny'}, {'name': 'none', 'parameterNotFoundAction': 'Allow'},
            {'selector': {'matchLabels': {'use': 'other'}}, 'parameterNotFoundAction': 'Deny'}):
    bind('two-a', 'two', 'u-two', wait=2.5, paramRef=ref)
    ask('PATCH', maps('u-two') + '/x?dryRun=All', {'data': {'a': 'b'}}, MERGE, fields=MADE)
    ask('DELETE', BINDINGS + '/two-a')
    time.sleep(1.5)
bind('two-a', 'two', 'u-two', wait=2.5)
ask('PATCH', maps('u-two') + '/x?dryRun=All', {'data': {'a': 'b'}}, MERGE, fields=MADE)
ask('DELETE', BINDINGS + '/two-a')
ask('DELETE', POLICIES + '/two')

# Between them and webhooks; and what validates sees what was made.
space('u-hook')
HOOK = {'name': 'm.example.com', 'clientConfig': {'url': 'https://127.0.0.1:%d/m' % PORT, 'caBundle': CA}, 'rules': [rule()], 'sideEffects': 'None',
        'admissionReviewVersions': ['v1'], 'namespaceSelector': in_space('u-hook'), 'reinvocationPolicy': 'IfNeeded'}
HOOKS = '/apis/%s/mutatingwebhookconfigurations' % GROUP
VALIDATES = '/apis/%s/validatingadmissionpolicies' % GROUP
answers['m'] = {'allowed': True, 'patchType': 'JSONPatch', 'patch': base64.b64encode(json.dumps([{'op': 'add', 'path': '/data/hook', 'value': 'was here'}]).encode()).decode()}
ask('POST', HOOKS, {'apiVersion': GROUP, 'kind': 'MutatingWebhookConfiguration', 'metadata': {'name': 'm'}, 'webhooks': [HOOK]}, fields=('webhooks',))
for again in ('Never', 'IfNeeded'):
    policy('hooked', [apply("Object{data: {'log': (has(object.data.log) ? object.data.log : '') + (has(object.data.hook) ? 'H' : 'P')}}")], 'u-hook', wait=2.5, reinvocationPolicy=again)
    cm('u-hook', 'x', a='b')
    drop('hooked')
ask('DELETE', HOOKS + '/m')
time.sleep(1.5)
policy('first', [apply("Object{data: {'made': 'here'}}")], 'u-hook', wait=0)
ask('POST', VALIDATES, named('ValidatingAdmissionPolicy', 'seen', spec={'matchConstraints': {'resourceRules': [rule()]}, 'validations': [
    {'expression': 'false', 'messageExpression': "'made ' + object.data.made"}]}))
ask('POST', '/apis/%s/validatingadmissionpolicybindings' % GROUP, named('ValidatingAdmissionPolicyBinding', 'seen', spec={
    'policyName': 'seen', 'validationActions': ['Deny'], 'matchResources': {'namespaceSelector': in_space('u-hook')}}))
time.sleep(2.5)
cm('u-hook', 'x', a='b')
ask('DELETE', '/apis/%s/validatingadmissionpolicybindings/seen' % GROUP)
ask('DELETE', VALIDATES + '/seen')
drop('first')

# Custom resources, in the version that a rule names.
SCHEMA = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {
    'size': {'type': 'integer'}, 'kept': {'type': 'string', 'default': 'd'}, 'free': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True},
    'names': {'type': 'array', 'items': {'type': 'string'}}, 'set': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': {'type': 'string'}},
    'by': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'],
           'items': {'type': 'object', 'required': ['k'], 'properties': {'k': {'type': 'string'}, 'v': {'type': 'integer'}}}},
    'whole': {'type': 'object', 'x-kubernetes-map-type': 'atomic', 'properties': {'a': {'type': 'string'}, 'b': {'type': 'string'}}}}}}}
ask('POST', CRD, definition('things', 'mutate.example.com', SCHEMA))
space('u-cr')
time.sleep(12)


def thing(mutation, version='v1', match=None, versions=('v1',), **spec):
    global n
    n += 1
    name = 'thing-%d' % n
    if policy(name, [mutation], 'u-cr', [rule(['things'], ['mutate.example.com'], versions=versions)], match, wait=2.0) == 201:
        ask('POST', '/apis/mutate.example.com/%s/namespaces/u-cr/things?dryRun=All' % version,
            {'apiVersion': 'mutate.example.com/' + version, 'kind': 'Thing', 'metadata': {'name': 't'}, 'spec': dict({'size': 1, 'set': ['a'], 'by': [{'k': 'x', 'v': 1}]}, **spec)},
            fields=('apiVersion', 'spec', 'metadata.labels'))
        drop(name)


thing(apply("Object{spec: Object.spec{size: 7}}"))
thing(apply("Object{spec: Object.spec{size: 'x'}}"))
thing(apply("Object{spec: Object.spec{set: ['b', 'a']}}"))
thing(apply("Object{spec: Object.spec{by: [Object.spec.by{k: 'x', v: 2}, Object.spec.by{k: 'y', v: 3}]}}"))
thing(apply("Object{spec: Object.spec{names: ['n']}}"))
thing(apply("Object{spec: Object.spec{whole: Object.spec.whole{a: 'x'}}}"))
thing(apply("Object{spec: Object.spec{free: {'any': 'thing'}}}"))
thing(apply("Object{spec: Object.spec{free: Object.spec.free{any: [1, 2]}}}"))
thing(apply("Object{spec: Object.spec{odd: 1}}"))
thing(apply("Object{metadata: Object.metadata{labels: {'l': object.apiVersion.replace('/', '-') + request.kind.version + request.requestKind.version}}}"), 'v2')
thing(apply("Object{metadata: Object.metadata{labels: {'l': object.apiVersion.replace('/', '-') + request.kind.version + request.requestKind.version}}}"), 'v2', {'matchPolicy': 'Exact'})
thing(patch("[JSONPatch{op: 'add', path: '/spec/size', value: 9}, JSONPatch{op: 'add', path: '/spec/odd', value: 1}]"))
thing(patch("[JSONPatch{op: 'add', path: '/spec/free', value: {'list': [1, 2, 3], 'map': {'a': true}}}]"))
ask('DELETE', CRD + '/things.mutate.example.com')

# They do not govern themselves.
policy('own', [apply("Object{metadata: Object.metadata{labels: {'own': 'yes'}}}")], None, [rule(['*'], ['admissionregistration.k8s.io'], ['CREATE', 'UPDATE'])])
ask('POST', BINDINGS, named('MutatingAdmissionPolicyBinding', 'own', spec={'policyName': 'own'}), fields=('spec',))
time.sleep(2)
ask('POST', POLICIES, named('MutatingAdmissionPolicy', 'own-2', spec={'matchConstraints': {'resourceRules': [rule()]}, 'reinvocationPolicy': 'Never', 'mutations': [apply('Object{}')]}),
    fields=('metadata.labels',))
ask('DELETE', POLICIES + '/own-2')
drop('own')

# What is no policy.
OK = apply('Object{}')
WRONG = [
    {'mutations': []}, {'mutations': None}, {'mutations': [{}]}, {'mutations': [{'patchType': 'ApplyConfiguration'}]}, {'mutations': [{'patchType': 'JSONPatch'}]},
    {'mutations': [{'patchType': 'Merge', 'applyConfiguration': {'expression': 'Object{}'}}]}, {'mutations': [{'applyConfiguration': {'expression': 'Object{}'}}]},
    {'mutations': [dict(OK, patchType='JSONPatch')]}, {'mutations': [dict(patch('[]'), patchType='ApplyConfiguration')]}, {'mutations': [dict(OK, jsonPatch={'expression': '[]'})]},
    {'mutations': [apply('')]}, {'mutations': [apply(' ')]}, {'mutations': [patch('')]}, {'mutations': [patch(' ')]},
    {'mutations': [apply('Object{')]}, {'mutations': [apply('Object{a}')]}, {'mutations': [apply('object')]}, {'mutations': [apply('true')]}, {'mutations': [apply('{}')]},
    {'mutations': [apply("{'a': 'b'}")]}, {'mutations': [apply('[Object{}]')]}, {'mutations': [apply('Object.spec{}')]}, {'mutations': [apply('null')]},
    {'mutations': [apply('JSONPatch{}')]}, {'mutations': [apply('Nothing{}')]}, {'mutations': [apply('Object{x: nothing}')]}, {'mutations': [apply('Object{x: params.a}')]},
    {'mutations': [apply('Object{x: variables.a}')]}, {'mutations': [apply("true ? Object{} : object")]}, {'mutations': [apply("Object{x: 1, x: 2}")]},
    {'mutations': [apply("Object{spec: Object.wrong{}}")]}, {'mutations': [apply("object.?a.orValue(Object{})")]}, {'mutations': [apply("dyn(Object{})")]},
    {'mutations': [patch('[1]')]}, {'mutations': [patch('JSONPatch{}')]}, {'mutations': [patch("[JSONPatch{op: 1}]")]}, {'mutations': [patch("[JSONPatch{opp: 'add'}]")]},
    {'mutations': [patch("['a']")]}, {'mutations': [patch("{}")]}, {'mutations': [patch("object.a")]}, {'mutations': [patch("[JSONPatch{path: object.metadata.name}]")]},
    {'mutations': [patch("[JSONPatch{op: 'add', value: Object{}}]")]}, {'mutations': [patch("[JSONPatch{}] + [JSONPatch{}]")]}, {'mutations': [patch("[object.a]")]},
    {'mutations': [patch("dyn([])")]}, {'mutations': [patch("[JSONPatch{}, Object{}]")]}, {'mutations': [patch("jsonpatch.escapeKey(1)")]},
    {'mutations': [OK], 'variables': [{'name': 'x', 'expression': '1 +'}]}, {'mutations': [OK], 'variables': [{'name': 'x', 'expression': ''}]},
    {'mutations': [OK], 'variables': [{'name': '1x', 'expression': '1'}]}, {'mutations': [OK], 'variables': [{'name': 'x', 'expression': 'Object{}'}]},
    {'mutations': [OK], 'matchConditions': [{'name': 'a', 'expression': '1'}]}, {'mutations': [OK], 'matchConditions': [{'name': '', 'expression': 'true'}]},
    {'mutations': [OK], 'matchConditions': [{'name': 'a', 'expression': 'Object{} == Object{}'}]},
    {'mutations': [OK], 'failurePolicy': 'Maybe'}, {'mutations': [OK], 'reinvocationPolicy': 'Often'}, {'mutations': [OK], 'reinvocationPolicy': None},
    {'mutations': [OK], 'reinvocationPolicy': ''}, {'mutations': [OK], 'paramKind': {'apiVersion': 'v1', 'kind': ''}},
    {'mutations': [OK], 'matchConstraints': None}, {'mutations': [OK], 'matchConstraints': {}}, {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule(operations=['CONNECT'])]}},
    {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule(operations=['DELETE'])]}}, {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule(operations=['*'])]}},
    {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule(['*'], ['*'], ['*'], ['*'])]}},
    {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule(operations=['GET'])]}}, {'mutations': [OK], 'matchConstraints': {'resourceRules': [rule()], 'matchPolicy': 'Near'}},
    {'mutations': [OK], 'unknown': 1}, {'mutations': [dict(OK, unknown=1)]},
]
for i, wrong in enumerate(WRONG):
    spec = dict({'matchConstraints': {'resourceRules': [rule()]}, 'reinvocationPolicy': 'Never'}, **wrong)
    body = named('MutatingAdmissionPolicy', 'wrong-%d' % i, spec={k: v for k, v in spec.items() if v is not None})
    if ask('POST', POLICIES, body, fields=('spec', 'status')) == 201:
        ask('DELETE', POLICIES + '/wrong-%d' % i)
for i, spec in enumerate((
        {}, {'policyName': ''}, {'policyName': 'x'}, {'policyName': 'A b'}, {'policyName': 'x', 'paramRef': {}}, {'policyName': 'x', 'paramRef': {'name': 'a'}},
        {'policyName': 'x', 'paramRef': {'name': 'a', 'selector': {}, 'parameterNotFoundAction': 'Deny'}},
        {'policyName': 'x', 'paramRef': {'name': 'a', 'parameterNotFoundAction': 'Shrug'}}, {'policyName': 'x', 'matchResources': {}},
        {'policyName': 'x', 'matchResources': {'resourceRules': [rule(operations=['GET'])]}}, {'policyName': 'x', 'matchResources': {'matchPolicy': 'Near'}},
        {'policyName': 'x', 'validationActions': ['Deny']})):
    body = named('MutatingAdmissionPolicyBinding', 'wrong-%d' % i, spec=spec)
    if ask('POST', BINDINGS, body, fields=('spec',)) == 201:
        ask('DELETE', BINDINGS + '/wrong-%d' % i)
