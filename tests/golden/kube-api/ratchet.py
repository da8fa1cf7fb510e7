#!/usr/bin/env python3
"""ratchet.py URL TOKEN >ratchet.jsonl: updates of custom resources that were stored before their schema became stricter (KEP-4008).

One line a request, in order (recorder.py); tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36. What a rule in
CEL would refuse and is let through is told as a Warning."""
import time

from recorder import CRD, MERGE, PATCH, APPLY, ask

SHORT = {'type': 'string', 'maxLength': 3}
TEXT = {'type': 'string'}
STRICT = {'type': 'object', 'required': ['must'], 'properties': {
    'must': TEXT, 'z': TEXT, 'a': SHORT, 'e': {'type': 'string', 'enum': ['x', 'y']}, 'n': {'type': 'integer', 'maximum': 5},
    'f': {'type': 'string', 'format': 'date-time'},
    'o': {'type': 'object', 'required': ['r'], 'properties': {'r': TEXT, 's': SHORT, 'k': TEXT}},
    'at': {'type': 'array', 'maxItems': 2, 'items': SHORT},
    'ao': {'type': 'array', 'items': {'type': 'object', 'properties': {'v': SHORT, 'k': TEXT}}},
    'st': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': SHORT},
    'mp': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'],
           'items': {'type': 'object', 'required': ['k'], 'properties': {'k': TEXT, 'v': SHORT, 'w': TEXT}}},
    'am': {'type': 'object', 'additionalProperties': SHORT},
    'any': {'type': 'object', 'properties': {'p': TEXT, 'q': TEXT}, 'anyOf': [{'required': ['p']}, {'properties': {'q': {'maxLength': 3}}}]},
    'ni': {'type': 'object', 'properties': {'p': TEXT}, 'not': {'required': ['p']}},
    'al': {'type': 'object', 'properties': {'p': TEXT, 'q': TEXT}, 'allOf': [{'properties': {'p': {'maxLength': 3}}}, {'required': ['q']}]},
    'mi': {'type': 'object', 'minProperties': 2, 'additionalProperties': TEXT},
    'ci': {'type': 'integer', 'x-kubernetes-validations': [{'rule': 'self < 5'}]},
    'cs': {'type': 'string', 'maxLength': 9, 'x-kubernetes-validations': [{'rule': 'self == "a"', 'reason': 'FieldValueDuplicate'}]},
    'cb': {'type': 'boolean', 'x-kubernetes-validations': [{'rule': 'self', 'message': 'not so', 'reason': 'FieldValueForbidden'}]},
    'cl': {'type': 'array', 'maxItems': 3, 'items': {'type': 'number', 'x-kubernetes-validations': [{'rule': 'self < 1.0'}]},
           'x-kubernetes-validations': [{'rule': 'size(self) < 1', 'reason': 'FieldValueDuplicate'}]},
    'co': {'type': 'object', 'properties': {'x': {'type': 'integer'}, 'y': TEXT},
           'x-kubernetes-validations': [{'rule': 'self.x < 1', 'messageExpression': 'self.x > 0 ? "it is more" : ""', 'fieldPath': '.x'}]},
    'cn': {'x-kubernetes-int-or-string': True, 'x-kubernetes-validations': [{'rule': 'self == 1'}]}}}
LONG = 'toolong'
STORED = {'a': LONG, 'e': 'z', 'n': 9, 'f': 'never', 'o': {'s': LONG}, 'at': [LONG, 'b', 'c'], 'ao': [{'v': LONG}], 'st': [LONG, 'dup', 'dup'],
          'mp': [{'k': '1', 'v': LONG}, {'k': '2', 'v': 'ok'}], 'am': {'k': LONG}, 'any': {'q': LONG}, 'ni': {'p': 'x'}, 'al': {'p': LONG},
          'mi': {'x': 'y'}, 'z': '1', 'ci': 9, 'cs': 'b', 'cb': False, 'cl': [1.5], 'co': {'x': 3}, 'cn': 'q'}
THINGS = '/apis/ratchet.example.com/v1/namespaces/default/ratchets'


def versions(spec, status):
    schema = {'type': 'object', 'properties': {'spec': spec, 'status': {'type': 'object', 'properties': {'x': status, 'y': TEXT}}}}
    return [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}, 'subresources': {'status': {}}}]


def change(name, body, kind=MERGE, below=''):
    ask('PATCH', THINGS + '/' + name + below + '?dryRun=All' + ('&fieldManager=test&force=true' if kind == APPLY else ''), body, kind)


def spec(name, **fields):
    change('b-' + name, {'spec': dict({'must': 'm'}, **fields)})


ask('POST', CRD, {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'ratchets.ratchet.example.com'},
                  'spec': {'group': 'ratchet.example.com', 'scope': 'Namespaced', 'names': {'plural': 'ratchets', 'kind': 'Ratchet'},
                           'versions': versions({'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}, TEXT)}})
time.sleep(3)
for k, v in list(STORED.items()) + [('all', None)]:
    ask('POST', THINGS, {'apiVersion': 'ratchet.example.com/v1', 'kind': 'Ratchet', 'metadata': {'name': 'b-' + k},
                         # Warnings of rules would come in the order of a Go map, another one each time
                         'spec': {x: STORED[x] for x in STORED if x[0] != 'c'} if k == 'all' else {k: v}})
ask('PATCH', THINGS + '/b-a/status', {'status': {'x': LONG}}, MERGE)
ask('PATCH', CRD + '/ratchets.ratchet.example.com', {'spec': {'versions': versions(STRICT, SHORT)}}, MERGE)
time.sleep(3)

for k in list(STORED) + ['all']:
    change('b-' + k, {'metadata': {'labels': {'x': 'y'}}})  # spec is as it was
    change('b-' + k, {'spec': {'z': '2'}})  # and here what is in it, but for z
    spec(k, z='3')
spec('a', a='long2')
spec('e', e='w')
spec('n', n=8)
spec('o', o={'k': 'new'})
spec('o', o={'k': 'new', 'r': 'r'})
spec('o', o={'s': 'longer2', 'r': 'r'})
# Items of lists are told from others by their keys, or not at all.
spec('at', at=[LONG, 'b', 'c', 'd'])
spec('at', at=[LONG, 'b'])
spec('ao', ao=[{'v': LONG, 'k': 'x'}])
spec('ao', ao=[{'v': LONG}, {'v': 'a'}])
spec('mp', mp=[{'k': '2', 'v': 'ok'}, {'k': '1', 'v': LONG}])
spec('mp', mp=[{'k': '1', 'v': LONG, 'w': 'new'}, {'k': '2', 'v': 'ok'}])
spec('mp', mp=[{'k': '1', 'v': LONG}])
spec('mp', mp=[{'k': '1', 'v': LONG}, {'k': '3', 'v': LONG}])
spec('mp', mp=[{'k': '1', 'v': LONG}, {'k': '1', 'v': LONG}])
# A list that was no set may stay none.
spec('st', st=[LONG, 'dup', 'dup', 'dup'])
spec('st', st=['dup', 'dup'])
spec('st', st=['a', LONG])
spec('am', am={'k': LONG, 'l': 'ok'})
spec('am', am={'l': LONG})
spec('ni', ni={'p': 'y'})
# Nothing within a branch is let through.
spec('al', al={'p': LONG, 'q': 'z'})
spec('al', al={'p': 'toolong2', 'q': 'z'})
spec('mi', mi={'x': 'z'})
# What has a rule is let through as it was, and told.
spec('ci', ci=8)
spec('cs', cs='c')
spec('cl', cl=[1.5, 2])
spec('cl', cl=[2.5])
spec('co', co={'x': 4})
spec('co', co={'y': 'new'})
spec('cn', cn='r')
change('b-all', {'spec': {'z': '5', 'must': 'm'}})
change('b-all', {'spec': {'a': 'longer', 'must': 'm', 'o': {'k': 'n'}}})
change('b-all', [{'op': 'replace', 'path': '/spec/z', 'value': '4'}], PATCH)
change('b-a', {'apiVersion': 'ratchet.example.com/v1', 'kind': 'Ratchet', 'spec': {'z': '9', 'must': 'm'}}, APPLY)
change('b-a', {'status': {'y': 'z'}}, below='/status')
change('b-a', {'status': {'x': 'toolong2'}}, below='/status')
change('b-all', {'status': {'y': 'z'}}, below='/status')
ask('POST', THINGS + '?dryRun=All', {'apiVersion': 'ratchet.example.com/v1', 'kind': 'Ratchet', 'metadata': {'name': 'new'}, 'spec': {'a': LONG}})
