#!/usr/bin/env python3
"""pods.py URL TOKEN >pods.jsonl: Pods that are resized (KEP-1287) and bound by a Binding of its own, and the status of components.

One line a request, in order (recorder.py); tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36, without a
scheduler. Of the components only those are asked for by name that each server has."""
from recorder import APPLY, JSON, MERGE, PATCH, ask

STRATEGIC = 'application/strategic-merge-patch+json'
PODS = '/api/v1/namespaces/default/pods'
FIELDS = ('spec', 'metadata.generation', 'metadata.labels', 'metadata.annotations', 'metadata.finalizers', 'status.phase', 'status.qosClass',
          'status.containerStatuses', 'status.resize') + tuple('status.conditions[0].' + k for k in ('type', 'status', 'reason', 'message', 'lastProbeTime'))


def amounts(cpu='100m', memory='64Mi', limits=None, **more):
    return dict({'requests': dict({k: v for k, v in (('cpu', cpu), ('memory', memory)) if v}, **more)}, **({'limits': limits} if limits else {}))


def container(name='a', resources=None, **more):
    return dict({'name': name, 'image': 'i'}, **dict({'resources': resources} if resources else {}, **more))


def pod(name, *containers, status=None, meta=None, **spec):
    o = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': dict({'name': name, 'labels': {'app': 'x'}}, **(meta or {})),
         'spec': dict({'containers': list(containers)}, **spec)}
    ask('POST', PODS, o)
    if status:
        ask('PATCH', PODS + '/' + name + '/status', {'status': status}, MERGE)


def change(name, body, kind=STRATEGIC, query='', fields=FIELDS, below='/resize'):
    ask('PATCH', PODS + '/' + name + below + ('?' + query if query else ''), body, kind, fields=fields)


def resize(name, resources, of='a', lists='containers', **more):
    change(name, {'spec': {lists: [dict({'name': of, 'resources': resources}, **more)]}})


def node(name, labels=None, **allocatable):
    ask('POST', '/api/v1/nodes', {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': name, 'labels': labels or {}},
                                  'status': {'allocatable': allocatable, 'capacity': allocatable}})


def bind(name, target, path='/api/v1/namespaces/default/bindings', query='', **meta):
    ask('POST', path + query, {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': dict({'name': name}, **meta), 'target': target})


# What a resize may change.
pod('a', container(resources=amounts(limits={'cpu': '1', 'memory': '1Gi'})), container('b', resources=amounts('10m', '10Mi')))
ask('GET', PODS + '/a/resize', fields=FIELDS)
resize('a', {'requests': {'cpu': '200m'}})
resize('a', {'requests': {'cpu': '0.2'}})  # the same
resize('a', {'requests': {'memory': '128Mi'}, 'limits': {'memory': '2Gi'}})
resize('a', {'requests': {'cpu': '3'}})
resize('a', {'requests': {'cpu': None}})
resize('a', {'limits': {'cpu': None, 'memory': None}})
resize('a', {'limits': None})
resize('a', None)
resize('a', {'requests': {'ephemeral-storage': '1Gi'}})
resize('a', {'requests': {'e.io/gpu': '1'}, 'limits': {'e.io/gpu': '1'}})
resize('a', {'requests': {'cpu': '-1'}})
resize('a', {'requests': {'cpu': 'x'}})
resize('b' 'ogus', {'requests': {'cpu': '1'}})
resize('a', {'requests': {'cpu': '1'}}, of='other')
change('a', {'spec': {'containers': [{'name': 'b', '$patch': 'delete'}]}})
change('a', [{'op': 'replace', 'path': '/spec/containers/0/name', 'value': 'z'}], PATCH)
change('a', [{'op': 'replace', 'path': '/spec/containers/1/resources/requests/cpu', 'value': '20m'}], PATCH)
change('a', [{'op': 'add', 'path': '/spec/containers/0/resizePolicy', 'value': [{'resourceName': 'cpu', 'restartPolicy': 'RestartContainer'}]}], PATCH)
change('a', [{'op': 'add', 'path': '/spec/containers/0/resizePolicy', 'value': []}], PATCH)
# All else is as it was, in silence.
change('a', {'metadata': {'labels': {'new': 'l'}, 'annotations': {'x': 'y'}, 'finalizers': ['e.io/f']}, 'spec': {
    'nodeName': 'n', 'priority': 7, 'containers': [{'name': 'a', 'image': 'other', 'resources': {'requests': {'cpu': '250m'}}}]}, 'status': {'phase': 'Running'}})
change('a', {'metadata': {'labels': {'only': 'l'}}})
change('a', {'bogus': 1, 'spec': {'containers': [{'name': 'a', 'bogus': 1, 'resources': {'requests': {'cpu': '260m'}}}]}}, query='fieldValidation=Strict')
change('a', {'bogus': 1, 'spec': {'containers': [{'name': 'a', 'bogus': 1, 'resources': {'requests': {'cpu': '260m'}}}]}}, query='fieldValidation=Warn')
change('a', {'spec': {'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '270m'}}}]}}, query='dryRun=All')
change('a', {'metadata': {'resourceVersion': '1'}, 'spec': {'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '280m'}}}]}})
change('a', {'metadata': {'uid': '1'}, 'spec': {'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '280m'}}}]}})
resize('a', {'requests': {'cpu': '300m'}}, of='b')
for method, body in (('POST', {}), ('DELETE', None)):
    ask(method, PODS + '/a/resize', body)
ask('PUT', PODS + '/a/resize', {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'a'}, 'spec': {'containers': [
    container(resources=amounts('310m', '128Mi', {'cpu': '1', 'memory': '2Gi'})), container('b', resources=amounts('300m', '10Mi'))]}}, fields=FIELDS)
ask('PUT', PODS + '/a/resize', {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'a'}, 'spec': {'containers': [container()]}}, fields=FIELDS)
ask('PUT', PODS + '/none/resize', {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'none'}, 'spec': {'containers': [container()]}})
# Who owns what.
OWNERS = tuple('metadata.managedFields[%d].%s' % (i, k) for i in (0, 1, 2) for k in ('manager', 'operation', 'subresource', 'fieldsV1'))
pod('o', container(resources=amounts()))
change('o', {'spec': {'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '200m'}}}]}}, query='fieldManager=sizer', fields=OWNERS)
applied = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'o', 'labels': {'l': 'm'}},
           'spec': {'containers': [{'name': 'a', 'image': 'i', 'resources': {'requests': {'cpu': '300m'}}}]}}
change('o', applied, APPLY, 'fieldManager=me', OWNERS)
change('o', applied, APPLY, 'fieldManager=me&force=true', OWNERS)
ask('GET', PODS + '/o', fields=FIELDS)
change('o', dict(applied, spec={'containers': [{'name': 'a', 'resizePolicy': [{'resourceName': 'cpu', 'restartPolicy': 'NotRequired'}]}]}), APPLY,
       'fieldManager=me&force=true', OWNERS)
change('none', dict(applied, metadata={'name': 'none'}), APPLY, 'fieldManager=me')
# The quality stays.
pod('best', container())
resize('best', amounts())
pod('whole', container(resources=amounts('1', '1Gi', {'cpu': '1', 'memory': '1Gi'})))
resize('whole', {'requests': {'cpu': '500m'}})
resize('whole', {'requests': {'cpu': '2'}, 'limits': {'cpu': '2'}})
pod('burst', container(resources={'requests': {'cpu': '1', 'memory': '1Gi'}, 'limits': {'memory': '1Gi'}}))
resize('burst', {'limits': {'cpu': '1'}})
resize('burst', {'limits': {'cpu': '2'}})
resize('burst', {'limits': {'cpu': '3'}}, resizePolicy=[{'resourceName': 'cpu', 'restartPolicy': 'RestartContainer'}])
resize('burst', {'limits': {'cpu': '3'}}, resizePolicy=[{'resourceName': 'pods', 'restartPolicy': 'Never'}])
# Containers that begin.
INIT = [container('i', resources=amounts()), container('s', resources=amounts(), restartPolicy='Always'),
        container('r', resources=amounts(), restartPolicy='Always', resizePolicy=[{'resourceName': 'cpu', 'restartPolicy': 'RestartContainer'}])]
pod('init', container(resources=amounts()), initContainers=INIT)
for name in 'isr':
    resize('init', {'requests': {'cpu': '150m'}}, name, 'initContainers')
    resize('init', {'requests': {'ephemeral-storage': '1Gi'}}, name, 'initContainers')
    resize('init', {'requests': {'memory': None}}, name, 'initContainers')
change('init', [{'op': 'add', 'path': '/spec/initContainers/0/resizePolicy', 'value': [{'resourceName': 'cpu', 'restartPolicy': 'RestartContainer'}]},
                {'op': 'replace', 'path': '/spec/initContainers/0/resources/requests/cpu', 'value': '160m'}], PATCH)
change('init', [{'op': 'remove', 'path': '/spec/initContainers/0'}], PATCH)
change('init', [{'op': 'replace', 'path': '/spec/initContainers/0/name', 'value': 'z'}], PATCH)
# The Pod as a whole.
for n, (whole, *parts) in enumerate([
        ({'limits': {'cpu': '2'}}, amounts('0.1')), ({'limits': {'cpu': '2', 'memory': '2Gi'}}, None, amounts('100m', None), amounts('0.2', '1Mi')),
        ({'limits': {'cpu': '2', 'hugepages-2Mi': '4Mi'}}, amounts()), ({'requests': {'cpu': '2'}}, amounts()), ({}, amounts()), ({'limits': {}}, amounts()),
        ({'requests': {'cpu': '1'}}, amounts(limits={'hugepages-2Mi': '2Mi', 'cpu': '1'}), amounts(limits={'hugepages-2Mi': '4Mi'})),
        ({'limits': {'memory': '1Gi'}}, amounts(None, '1Gi', {'memory': '1Gi'}))]):
    ask('POST', PODS + '?dryRun=All', {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'w%d' % n}, 'spec': {
        'resources': whole, 'containers': [container('c%d' % i, r) for i, r in enumerate(parts)],
        'initContainers': [container('i', amounts('150m', None)), container('s', amounts('50m', None), restartPolicy='Always'), container('j', amounts('120m', None))]}},
        fields=('spec.resources', 'status.qosClass'))
pod('sum', container(resources=amounts('10m')), resources=amounts('1', '1Gi', {'cpu': '2'}))
change('sum', {'spec': {'resources': {'requests': {'cpu': '1500m'}}}})
change('sum', {'spec': {'resources': {'requests': {'cpu': '3'}}}})
change('sum', {'spec': {'resources': {'requests': {'memory': None}}}})
change('sum', {'spec': {'resources': {'limits': None}}})
change('sum', {'spec': {'resources': None}})
change('sum', {'spec': {'resources': {'limits': {'hugepages-2Mi': '2Mi'}, 'requests': {'hugepages-2Mi': '2Mi'}}}})
resize('sum', {'requests': {'cpu': '20m'}})
change('burst', {'spec': {'resources': {'requests': {'cpu': '2'}}}})
change('burst', {'spec': {'resources': {}}})
change('burst', [{'op': 'add', 'path': '/spec/resources', 'value': {}}], PATCH)
# What cannot be resized.
pod('mirror', container(resources=amounts()), meta={'annotations': {'kubernetes.io/config.mirror': 'x'}}, nodeName='n1')
resize('mirror', {'requests': {'cpu': '200m', 'memory': None}})
pod('win', container(resources=amounts()), os={'name': 'windows'})
resize('win', {'requests': {'cpu': '200m', 'memory': None}})
pod('claims', container(resources=dict(amounts(), claims=[{'name': 'c'}])), resourceClaims=[{'name': 'c', 'resourceClaimName': 'c'}])
resize('claims', {'requests': {'cpu': '200m'}})
pod('runs', container(resources=amounts()), status={'containerStatuses': [{
    'name': 'a', 'image': 'i', 'imageID': 'i', 'ready': True, 'restartCount': 0, 'state': {'running': {'startedAt': '2026-01-01T00:00:00Z'}}}]})
resize('runs', {'requests': {'cpu': '200m'}})
pod('runs2', container(resources=amounts()), status={'containerStatuses': [{
    'name': 'a', 'image': 'i', 'imageID': 'i', 'ready': True, 'restartCount': 0, 'resources': amounts(),
    'state': {'running': {'startedAt': '2026-01-01T00:00:00Z'}}}]})
resize('runs2', {'requests': {'cpu': '200m'}})
pod('later', container(resources=amounts()))
change('later', {'spec': {'ephemeralContainers': [{'name': 'e', 'image': 'i'}]}}, below='/ephemeralcontainers')
resize('later', {'requests': {'cpu': '200m'}})

# A Binding, and what the node then has.
node('n1', cpu='2', memory='2Gi', pods='10')
node('n2', {'kubernetes.io/os': 'windows'}, cpu='2', memory='2Gi', pods='10')
for name in ('p1', 'p2', 'p3', 'p4'):
    pod(name, container(resources=amounts()), initContainers=INIT[:1])
bind('p1', {})
bind('p1', {'kind': 'Node', 'name': 'n1'}, namespace='other')
bind('p1', {'kind': 'Pod', 'name': 'n1'})
bind('', {'kind': 'Node', 'name': 'n1'})
bind('none', {'kind': 'Node', 'name': 'n1'})
bind('p1', {'kind': 'Node', 'name': 'n1'}, query='?dryRun=All')
ask('GET', PODS + '/p1', fields=('spec.nodeName',))
bind('p1', {'kind': 'Node', 'name': 'n1'}, uid='other', labels={'l': 'm'}, annotations={'x': 'y'})  # whose uid nobody looks at
ask('GET', PODS + '/p1', fields=FIELDS)
bind('p1', {'kind': 'Node', 'name': 'n1'})
bind('p2', {'name': 'n2'})
bind('p3', {'name': 'gone'})
bind('p4', {}, path=PODS + '/p4/binding')
bind('p4', {'kind': 'Pod'}, path=PODS + '/p4/binding')
bind('p4', {'name': 'n1'}, path=PODS + '/p4/binding')
bind('p4', {'name': 'n1'}, path=PODS + '/p4/binding', query='?dryRun=All')
for method in ('GET', 'PUT', 'DELETE'):
    ask(method, '/api/v1/namespaces/default/bindings', {} if method == 'PUT' else None)
ask('GET', '/api/v1/namespaces/default/bindings/p1')
ask('POST', '/api/v1/bindings', {})
resize('p1', {'requests': {'cpu': '2'}})
resize('p1', {'requests': {'cpu': '2001m'}})
resize('p1', {'requests': {'cpu': '3', 'memory': '3Gi'}})
resize('p1', {'requests': {'cpu': '50m'}}, 'i', 'initContainers')
change('p1', {'spec': {'resources': {'requests': {'cpu': '1', 'memory': '1Gi'}}}})
resize('p2', {'requests': {'cpu': '200m'}})
resize('p3', {'requests': {'cpu': '200m'}})
resize('p3', {'requests': {'cpu': '0.1'}})
# Limits and quotas.
ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'tight'}})
PODS = '/api/v1/namespaces/tight/pods'
pod('a', container(resources=amounts()))
pod('b', container(resources={'requests': {'cpu': '100m'}}))
ask('POST', '/api/v1/namespaces/tight/limitranges', {'apiVersion': 'v1', 'kind': 'LimitRange', 'metadata': {'name': 'r'}, 'spec': {'limits': [
    {'type': 'Container', 'max': {'cpu': '500m'}, 'defaultRequest': {'memory': '1Mi'}}]}})

import time  # noqa: E402
time.sleep(3)
resize('a', {'requests': {'cpu': '600m'}})
resize('a', {'requests': {'cpu': '400m'}, 'limits': {'cpu': '450m'}})
resize('b', {'requests': {'cpu': '400m'}, 'limits': {'cpu': '450m'}})

# Components.
CS = '/api/v1/componentstatuses'
ask('GET', CS + '/etcd-0', fields=('metadata', 'conditions', 'kind'))
ask('GET', CS + '/nope')
ask('GET', CS + '?fieldSelector=metadata.name%3Detcd-0', fields=('kind', 'apiVersion', 'metadata', 'items'))
ask('GET', CS + '?labelSelector=a%3Db&limit=1', fields=('metadata', 'items'))
ask('GET', CS + '?fieldSelector=x%3Dy')
ask('POST', CS, {})
ask('DELETE', CS)
ask('DELETE', CS + '/etcd-0')
