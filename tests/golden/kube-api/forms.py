#!/usr/bin/env python3
"""forms.py URL TOKEN >forms.jsonl: what is kept of custom resources whose versions have other fields, with conversion strategy None.

One line a request, in order (recorder.py); tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36. What is
written is pruned by the version it comes in and by the one that is stored; what is read gets the defaults of the one it is stored
in, and is pruned by the one that is asked for."""
import time

from recorder import APPLY, CRD, MERGE, PATCH, ask

G = 'forms.example.com'
TEXT = {'type': 'string'}
FIELDS = ('spec', 'status', 'apiVersion', 'metadata.generation')
OLD = {'both': TEXT, 'mine': TEXT, 'old': dict(TEXT, default='o'), 'nil': dict(TEXT, nullable=True), 'deep': {'type': 'object', 'properties': {
    'a': TEXT, 'o': dict(TEXT, default='deep')}}, 'list': {'type': 'array', 'items': {'type': 'object', 'properties': {'a': TEXT}}}}
NEW = {'both': TEXT, 'more': TEXT, 'new': dict(TEXT, default='n'), 'nil': TEXT, 'deep': {'type': 'object', 'properties': {
    'a': TEXT, 'b': TEXT, 'n': dict(TEXT, default='deeper')}}, 'list': {'type': 'array', 'items': {'type': 'object', 'properties': {
        'a': TEXT, 'b': TEXT}}}}
FULL = {'both': 'x', 'more': 'y', 'bogus': 'z', 'deep': {'a': '1', 'b': '2', 'c': '3'}, 'list': [{'a': '1', 'b': '2'}, {'b': '3'}]}


def version(name, fields, served=True, storage=False):
    return {'name': name, 'served': served, 'storage': storage, 'subresources': {'status': {}}, 'schema': {'openAPIV3Schema': {
        'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': fields}, 'status': {'type': 'object', 'properties': fields}}}}}


def versions(stored='v1', old=True, new=True):
    return [version('v1', OLD, old, stored == 'v1'), version('v2', NEW, new, stored == 'v2')]


def define(plural, *args, **more):
    ask('POST', CRD, {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.' + G},
                      'spec': {'group': G, 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': plural[:-1].capitalize()},
                               'versions': versions(*args, **more)}})
    time.sleep(3)


def redefine(plural, *args, **more):
    ask('PATCH', CRD + '/' + plural + '.' + G, {'spec': {'versions': versions(*args, **more)}}, MERGE)
    time.sleep(3)


def at(v, plural, name='', query=''):
    return '/apis/%s/%s/namespaces/default/%s%s%s' % (G, v, plural, name and '/' + name, query and '?' + query)


def look(plural, name, vs=('v1', 'v2')):
    for v in vs:
        ask('GET', at(v, plural, name), fields=FIELDS)


def made(v, plural, name, spec, **meta):
    return {'apiVersion': G + '/' + v, 'kind': plural[:-1].capitalize(), 'metadata': dict({'name': name}, **meta), 'spec': spec}


def create(v, plural, name, spec, query='', **meta):
    ask('POST', at(v, plural, '', query), made(v, plural, name, spec, **meta), fields=FIELDS)


def change(v, plural, name, body, kind=MERGE, query='', below=''):
    ask('PATCH', at(v, plural, name + below, query), body, kind, fields=FIELDS)


# v1 is stored.
define('forms')
create('v2', 'forms', 'dry', FULL, 'dryRun=All')
create('v2', 'forms', 'a', FULL)
look('forms', 'a')
create('v1', 'forms', 'b', dict(FULL, mine='m', nil=None))
look('forms', 'b')
change('v2', 'forms', 'b', {'metadata': {'labels': {'x': 'y'}}})
look('forms', 'b')
# What is said through v2 alone is said anew each time, as it was never kept.
change('v2', 'forms', 'a', {'spec': {'more': 'y2'}})
change('v2', 'forms', 'a', {'spec': {'more': 'y2'}})
change('v2', 'forms', 'a', {'spec': {'both': 'x2'}})
change('v2', 'forms', 'a', {'spec': {'both': 'x2'}})
change('v2', 'forms', 'a', {'spec': {'both': 'x3', 'more': 'y3'}}, query='dryRun=All')
change('v2', 'forms', 'a', [{'op': 'test', 'path': '/spec/both', 'value': 'x2'}, {'op': 'add', 'path': '/spec/deep', 'value': {'b': '9'}}], PATCH)
look('forms', 'a')
change('v2', 'forms', 'a', [{'op': 'replace', 'path': '/spec', 'value': FULL}], PATCH)
change('v2', 'forms', 'a', {'status': {'both': 's', 'more': 't', 'bogus': 'u'}}, below='/status')
look('forms', 'a')
change('v1', 'forms', 'a', {'status': {'mine': 's2'}}, below='/status')
change('v2', 'forms', 'a', {'status': {'both': 's3'}}, below='/status')
look('forms', 'a')
apply = 'fieldManager=%s&force=true'
change('v2', 'forms', 'c', made('v2', 'forms', 'c', {'both': '1', 'more': '2'}), APPLY, apply % 'm')
look('forms', 'c')
change('v2', 'forms', 'c', made('v2', 'forms', 'c', {'more': '2'}), APPLY, apply % 'm')
change('v2', 'forms', 'c', made('v2', 'forms', 'c', {'more': '4'}), APPLY, apply % 'm')
look('forms', 'c')
ask('GET', at('v1', 'forms'), fields=('items[0].spec', 'items[1].spec', 'items[2].spec'))
ask('GET', at('v2', 'forms'), fields=('items[0].spec', 'items[1].spec', 'items[2].spec'))
create('v1', 'forms', 'd', {'mine': 'm'}, finalizers=['e.io/f'])
ask('DELETE', at('v2', 'forms', 'd'), fields=FIELDS)
look('forms', 'd')
ask('PATCH', at('v2', 'forms', 'd'), {'metadata': {'finalizers': None}}, MERGE)  # told as it would have been kept, not as it was
# A default stands in what is read, not in what is stored: another one changes it.
create('v2', 'forms', 'e', {'both': 'x', 'more': 'y'})
OLD.update(old=dict(TEXT, default='later'), more=TEXT)  # what v1 had no field for then is not there
redefine('forms')
look('forms', 'e')
look('forms', 'b')
# Now v2 is, and what is there stays as it was stored until it is written.
redefine('forms', 'v2')
for name in ('b', 'e'):
    look('forms', name)
change('v1', 'forms', 'b', {'metadata': {'labels': {'x': 'z'}}})
look('forms', 'b')
change('v2', 'forms', 'e', {'metadata': {'labels': {'x': 'z'}}})
look('forms', 'e')
create('v1', 'forms', 'g', {'mine': 'm', 'both': 'x', 'nil': None})
look('forms', 'g')
# What is stored is not served.
define('hiddens', 'v1', False)
create('v2', 'hiddens', 'a', FULL)
look('hiddens', 'a', ['v2'])
redefine('hiddens')
look('hiddens', 'a')
change('v1', 'hiddens', 'a', {'spec': {'mine': 'm', 'nil': None, 'more': 'z'}})
redefine('hiddens', 'v2', False)
look('hiddens', 'a', ['v2'])
change('v2', 'hiddens', 'a', {'spec': {'more': 'y'}})
redefine('hiddens', 'v2')
look('hiddens', 'a')
# Admission is shown what came as another version has it by name alone: nothing is taken from it, and nothing given.
POLICY = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'
ask('POST', POLICY + 'ies', {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingAdmissionPolicy', 'metadata': {'name': 'forms'}, 'spec': {
    'matchConstraints': {'resourceRules': [{'apiGroups': [G], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['forms']}]},
    'validations': [{'expression': 'false', 'messageExpression': "object.apiVersion + ' ' + (has(object.spec.more) ? 'more' : 'none') + ' ' + "
                                                                 "(has(object.spec.old) ? 'old' : 'none') + ' ' + object.spec.new"}]}})
ask('POST', POLICY + 'ybindings', {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingAdmissionPolicyBinding', 'metadata': {'name': 'forms'},
                                   'spec': {'policyName': 'forms', 'validationActions': ['Deny']}})
time.sleep(5)
create('v2', 'forms', 'p', FULL)
