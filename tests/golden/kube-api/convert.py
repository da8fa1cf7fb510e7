#!/usr/bin/env python3
"""convert.py URL TOKEN >convert.jsonl: what a real kube-apiserver makes of objects whose definition names a converter.

One line a request, in order, as webhook.py writes them, with "how": what the converter made of it ({}: what it should). v1 has
spec.size, v2 spec.count, and a label form: v2. tests/unit/alm/apiserver/test_converting_recorded.c sends the same to ours, whose
converter does the same. Recorded on 1.36. What was sent to the converter is not compared: that server asks for its caches, too.
"""
import copy
import json
import time

import recorder
from recorder import APPLY, CRD, MERGE, PATCH, PORT, answers, definition, listen, send, space

CA = listen()
how = {}


def put(o, path, value):
    for k in path.split('/')[:-1]:
        o = o.setdefault(k, {})
    k = path.split('/')[-1]
    if value is None:
        o.pop(k, None)
    else:
        o[k] = value


def convert(review):
    if 'raw' in how:
        return how.get('status', 200), how['raw']
    q, out = review['request'], []
    for o in q['objects']:
        o = copy.deepcopy(o)
        new = q['desiredAPIVersion'].endswith('/v2')
        o['apiVersion'] = q['desiredAPIVersion']
        spec = o.get('spec') or {}
        a, b = ('size', 'count') if new else ('count', 'size')
        if a in spec:
            spec[b] = spec.pop(a)
        put(o, 'metadata/labels/form', 'v2' if new else None)
        for path, value in how.get('set', {}).items():
            put(o, path, value)
        out.append(o)
    if 'items' in how:
        out = how['items']
    response = dict({'convertedObjects': out, 'result': {'status': 'Success'}}, **how.get('response', {}))
    return dict({'kind': review['kind'], 'apiVersion': review['apiVersion'], 'response': dict({'uid': 'UID'}, **response)}, **how.get('top', {}))


def ask(method, path, body=None, kind=recorder.JSON, fields=(), made=None):
    how.clear()
    how.update(made or {})
    text = json.dumps(body) if body is not None else None
    code, answer, warnings = send(method, path, text, kind)
    row = {'method': method, 'path': path, 'body': recorder.recorded(text), 'type': kind, 'code': code, 'warnings': warnings, 'how': made or {}}
    if code >= 400:
        row['message'] = recorder.recorded(answer['message'])
        row['fields'] = {k: answer.get(k) for k in ('reason', 'details')}
    elif fields:
        row['fields'] = {k: json.loads(recorder.recorded(json.dumps(recorder.member(answer, k)))) for k in fields}
    how.clear()
    print(json.dumps(row), flush=True)
    return code


def crd(plural, client, versions=('v1',)):
    schema = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {
        'name': {'type': 'string'}}}, 'status': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}
    o = definition(plural, 'conv.example.com', schema, conversion={
        'strategy': 'Webhook', 'webhook': {'clientConfig': client, 'conversionReviewVersions': list(versions)}})
    for v, key in zip(o['spec']['versions'], ('size', 'count')):
        v['schema'] = copy.deepcopy(v['schema'])
        spec = v['schema']['openAPIV3Schema']['properties']['spec']['properties']
        spec[key] = {'type': 'integer', 'maximum': 100}
        if key == 'count':
            spec['kept'] = {'type': 'string', 'default': 'd'}
        v['subresources'] = {'status': {}}
    return o


def at(version, name='', plural='gears', query=''):
    return '/apis/conv.example.com/%s/namespaces/c-conv/%s%s%s' % (version, plural, name and '/' + name, query)


def gear(version, called, kind='Gear', **spec):
    return {'apiVersion': 'conv.example.com/' + version, 'kind': kind, 'metadata': {'name': called}, 'spec': spec}


S = ('apiVersion', 'spec', 'metadata.labels', 'metadata.generation', 'status')
answers['convert'] = convert
space('c-conv')
URL = {'url': 'https://127.0.0.1:%d/convert' % PORT, 'caBundle': CA}
ask('POST', CRD, crd('gears', URL))
time.sleep(3)

# Written in one version, read in both.
ask('POST', at('v1'), gear('v1', 'a', size=1), fields=S)
ask('GET', at('v1', 'a'), fields=S)
ask('GET', at('v2', 'a'), fields=S)
ask('POST', at('v2'), gear('v2', 'b', count=2, name='n'), fields=S)
ask('GET', at('v1', 'b'), fields=S)
ask('GET', at('v2', 'b'), fields=S)
ask('PATCH', at('v2', 'a'), {'spec': {'count': 3}}, MERGE, fields=S)
ask('PATCH', at('v2', 'a'), [{'op': 'replace', 'path': '/spec/count', 'value': 4}], PATCH, fields=S)
ask('PATCH', at('v2', 'a', query='?fieldManager=me'), {'apiVersion': 'conv.example.com/v2', 'kind': 'Gear', 'metadata': {'name': 'a'},
                                                          'spec': {'name': 'x'}}, APPLY, fields=S)
ask('GET', at('v1', 'a'), fields=S)
ask('PATCH', at('v1', 'a'), {'spec': {'size': 5}}, MERGE, fields=S)
ask('PATCH', at('v2', 'a/status'), {'status': {'ready': True}}, MERGE, fields=S)
ask('PATCH', at('v2', 'b'), {'spec': {'count': 101}}, MERGE)
ask('PATCH', at('v2', 'b'), {'spec': {'size': 1}}, MERGE, fields=S)
ask('POST', at('v2', query='?dryRun=All'), gear('v2', 'dry', count=2), fields=S)
ask('PATCH', at('v2', 'a', query='?dryRun=All'), {'spec': {'count': 8}}, MERGE, fields=S)
ask('PATCH', at('v2', 'a'), {'spec': {}}, MERGE, fields=S)
time.sleep(1)
ask('GET', at('v2'), fields=('apiVersion',))
ask('POST', at('v2'), gear('v2', 'c', count=2), fields=S)
ask('DELETE', at('v2', 'c'), fields=('status',))

# What is no conversion: asked of a read, of a write that must be stored in another version, and of one that need not.
WRONG = [
    {'raw': ''}, {'raw': '{}'}, {'raw': 'text'}, {'raw': '[]'}, {'raw': 'no page\n', 'status': 404}, {'raw': 'broken', 'status': 500}, {'raw': '', 'status': 503},
    {'raw': '{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}'},
    {'raw': '{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","response":{"uid":"UID","result":{"status":"Success"}}}'},
    {'raw': '{"kind":"Pod","apiVersion":"v1"}'},
    {'response': {'result': {}}}, {'response': {'result': {'status': 'Failure'}}},
    {'response': {'result': {'status': 'Failed', 'message': 'no such form'}}}, {'response': {'result': {'status': 'Success', 'message': 'unused'}}},
    {'items': []}, {'items': [{}]}, {'items': ['x']}, {'items': [None]}, {'items': [{'apiVersion': 'conv.example.com/v2', 'kind': 'Gear'}]},
    {'set': {'apiVersion': 'conv.example.com/v3'}}, {'set': {'apiVersion': 'conv.example.com/v1'}}, {'set': {'kind': 'Other'}}, {'set': {'metadata': None}},
    {'set': {'metadata/name': 'other'}}, {'set': {'metadata/namespace': 'default'}}, {'set': {'metadata/labels': 'x'}},
    {'set': {'metadata/labels': {'a': 1}}}, {'set': {'metadata/labels': {'-': 'x'}}}, {'set': {'metadata/annotations': {'n': 'y'}}}, {'set': {'metadata/finalizers': ['f/g']}},
    {'set': {'metadata/resourceVersion': '7', 'metadata/generation': 9}}, {'set': {'spec/odd': 1}}, {'set': {'spec/count': 'text'}}, {'set': {'spec': None}}, {'set': {'spec': 'x'}},
]
for w in WRONG:
    ask('GET', at('v2', 'a'), fields=S + ('metadata.annotations', 'metadata.finalizers'), made=w)
for w in WRONG[:15] + WRONG[20:25]:
    ask('POST', at('v2', query='?dryRun=All'), gear('v2', 'w', count=2), made=w, fields=('apiVersion',))
ask('DELETE', at('v2', 'b'), made=WRONG[12], fields=('status',))
ask('DELETE', at('v1', 'b'), made=WRONG[12], fields=('status',))

# Where it is not reached.
ask('POST', CRD, crd('gonebs', {'service': {'namespace': 'c-conv', 'name': 'none', 'path': '/x'}}, ('v1beta1', 'v1')))
time.sleep(3)
ask('POST', at('v1', plural='gonebs'), gear('v1', 'a', 'Goneb', size=1), fields=S)
ask('GET', at('v1', 'a', 'gonebs'), fields=S)
ask('GET', at('v2', 'a', 'gonebs'), fields=S)
ask('POST', at('v2', plural='gonebs'), gear('v2', 'b', 'Goneb', count=1), fields=S)
ask('DELETE', CRD + '/gonebs.conv.example.com')
ask('DELETE', CRD + '/gears.conv.example.com')

# What is no converter.
for i, conversion in enumerate([
        {}, {'strategy': 'None'}, {'strategy': 'Other'}, {'strategy': ''}, {'strategy': 'None', 'webhook': {'clientConfig': URL, 'conversionReviewVersions': ['v1']}}, {'strategy': 'Webhook'},
        {'strategy': 'Webhook', 'webhook': {}}, {'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': ['v1']}}] + [
        {'strategy': 'Webhook', 'webhook': {'clientConfig': URL, 'conversionReviewVersions': v}} for v in ([], ['v2'], ['v1', 'v1'], ['v2', 'v1'], ['V 1', 'v1'], ['', 'v1'])] + [
        {'strategy': 'Webhook', 'webhook': {'clientConfig': c, 'conversionReviewVersions': ['v1']}} for c in (
            {}, {'url': ''}, {'url': 'http://a.example.com/x'}, {'url': 'https://a.example.com/x?a=b'}, {'url': 'https://a.example.com', 'caBundle': 'bm9uZQ=='},
            {'url': 'https://a.example.com', 'service': {'name': 'a', 'namespace': 'b'}}, {'service': {}}, {'service': {'name': 'a', 'namespace': 'b', 'path': 'x'}},
            {'service': {'name': 'a', 'namespace': 'b', 'port': 70000}}, {'service': {'name': 'a', 'namespace': 'b'}})]):
    o = crd('wrongs', URL)
    o['spec']['conversion'] = conversion
    ask('POST', CRD + '?dryRun=All', o, fields=('spec.conversion',))
