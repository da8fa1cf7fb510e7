#!/usr/bin/env python3
"""small.py URL TOKEN >small.jsonl: what a real kube-apiserver makes of what clients rarely send.

One line a request, in order (recorder.py); tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36."""
import base64
import json
import subprocess
import tempfile
import time

import recorder
from recorder import APPLY, JSON, MERGE, PATCH, ask

SPACE = '/namespaces/default/'
MAPS = '/api/v1' + SPACE + 'configmaps'


def raw(method, path, text, kind=JSON, fields=()):
    """What json.dumps() would not write."""
    code, answer, warnings = recorder.send(method, path, text, kind)
    row = {'method': method, 'path': path, 'body': text, 'type': kind, 'code': code, 'warnings': warnings}
    if code >= 400:
        row['message'] = answer['message']
    row['fields'] = {k: recorder.member(answer, k) for k in fields}
    print(json.dumps(row), flush=True)


# Half a pair of surrogates, as JavaScript cuts texts.
for text in (r'\ud83d\ude00', r'\ud83d', r'\ude00', r'\ud83dx', r'\ud83d\ud83d\ude00', r'\ude00\ud83d', r'\uD83D\n', r'\ud83d\u0041'):
    raw('POST', MAPS + '?dryRun=All', '{"metadata":{"name":"a"},"data":{"k":"%s"}}' % text, fields=('data',))
raw('POST', MAPS, r'{"metadata":{"name":"a"},"data":{"\ud83d":"1"}}')
raw('POST', MAPS, '{"metadata":{"name":"a"}}')
raw('PATCH', MAPS + '/a?dryRun=All', r'{"data":{"k":"\ud83d"}}', MERGE, ('data',))
raw('PATCH', MAPS + '/a?dryRun=All', r'{"data":{"k":"\ud83d"}}', 'application/strategic-merge-patch+json', ('data',))
raw('PATCH', MAPS + '/a?dryRun=All', r'[{"op":"add","path":"/data","value":{"k":"\ud83d"}}]', PATCH, ('data',))

# A number of old, in an annotation.
DAEMONS = '/apis/apps/v1' + SPACE + 'daemonsets'
NOTE = 'deprecated.daemonset.template.generation'


def daemon(name, generation):
    return {'metadata': {'name': name, 'annotations': {NOTE: generation}}, 'spec': {'selector': {'matchLabels': {'a': 'b'}}, 'template': {
        'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'a', 'image': 'i'}]}}}}


for text in ('x', '', ' 1', '1 ', '0x1', '1_0', '+', '-', '+7', '-7', '007', '9223372036854775807', '9223372036854775808', '-9223372036854775809', 'a"b'):
    ask('POST', DAEMONS + '?dryRun=All', daemon('d', text), fields=('metadata.annotations',))
ask('POST', DAEMONS, daemon('d', '1'))
ask('PUT', DAEMONS + '/d', daemon('d', 'x'))

# What a write of the status leaves alone is nobody's, and so nobody's to quarrel about.
OWNERS = ('metadata.labels', 'metadata.ownerReferences', 'metadata.managedFields[0].fieldsV1', 'metadata.managedFields[1].fieldsV1')
META = {'labels': {'l': 'm'}, 'annotations': {'n': 'o'}, 'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Pod', 'name': 'p', 'uid': 'u'}]}
DEPLOYMENTS = '/apis/apps/v1' + SPACE + 'deployments'
template = daemon('d', '1')['spec']
ask('POST', DEPLOYMENTS, {'metadata': {'name': 'kept'}, 'spec': dict(template)})
for meta in ({'labels': {'l': 'm'}, 'annotations': {'n': 'o'}}, {'labels': {'l': 'm'}}):
    ask('PATCH', DEPLOYMENTS + '/kept/status?fieldManager=x&force=true', {
        'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': dict(meta, name='kept'), 'status': {'replicas': 1}}, APPLY, OWNERS)
ask('PATCH', DEPLOYMENTS + '/kept?fieldManager=y', {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'kept', 'labels': {'l': 'other'}}},
    APPLY, ('metadata.labels',))
ask('PATCH', DEPLOYMENTS + '/kept/status?fieldManager=x', {
    'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'kept', 'labels': {'l': 'm'}}, 'status': {'replicas': 1}}, APPLY, OWNERS)
ask('POST', '/api/v1' + SPACE + 'pods', {'metadata': {'name': 'owned'}, 'spec': template['template']['spec']})
ask('PATCH', '/api/v1' + SPACE + 'pods/owned/status?fieldManager=x&force=true', {
    'apiVersion': 'v1', 'kind': 'Pod', 'metadata': dict(META, name='owned')}, APPLY, OWNERS)

# Pairs of keys that are none are stored, and told.
CURVE = ('ec', '-pkeyopt', 'ec_paramgen_curve:P-256')
pem = {'': '', 'junk': 'hello\n'}


def run(*args):
    return subprocess.run(('openssl',) + args, check=True, capture_output=True, text=True).stdout


def pair(name, *kind):
    with tempfile.TemporaryDirectory() as at:
        run('req', '-x509', '-newkey', *kind, '-nodes', '-subj', '/CN=a', '-days', '3650', '-keyout', at + '/k', '-out', at + '/c')
        pem['c-' + name], pem['k-' + name] = open(at + '/c').read(), open(at + '/k').read()
        if kind[0] != 'ed25519':
            pem['t-' + name] = run('pkey', '-in', at + '/k', '-traditional')


def mangled(text):
    lines = text.split('\n')
    return '\n'.join(lines[:1] + ['AAAA'] + lines[-2:])


for args in (('rsa', 'rsa:2048'), ('other', 'rsa:2048'), ('ec', *CURVE), ('ec2', *CURVE), ('ed', 'ed25519')):
    pair(*args)
pem.update(cut=pem['c-rsa'][:300], noder=mangled(pem['k-rsa']), dh=run('genpkey', '-algorithm', 'x25519'),
           pub='-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n', bad='-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n')
SECRETS = '/api/v1' + SPACE + 'secrets'


def secret(certificate, key):
    data = {k: base64.b64encode(''.join(pem[n] for n in v.split('+')).encode()).decode() for k, v in (('tls.crt', certificate), ('tls.key', key))}
    return {'metadata': {'name': 't'}, 'type': 'kubernetes.io/tls', 'data': data}


for c, k in (('c-rsa', 'k-rsa'), ('c-rsa', 't-rsa'), ('c-rsa', 'k-other'), ('c-rsa', 'k-ec'), ('c-ec', 'k-ec'), ('c-ec', 't-ec'), ('c-ec', 'k-ec2'),
             ('c-ec', 'k-rsa'), ('c-ed', 'k-ed'), ('c-ed', 'k-ec'), ('c-rsa', 'k-ed'), ('cut', 'k-rsa'), ('junk', 'k-rsa'), ('c-rsa', 'junk'),
             ('', ''), ('c-rsa', ''), ('', 'k-rsa'), ('k-rsa', 'c-rsa'), ('k-rsa', 'k-rsa'), ('c-rsa', 'c-rsa'), ('c-rsa', 'c-rsa+c-ec'), ('pub', 'k-rsa'),
             ('pub+k-rsa', 'k-rsa'), ('c-rsa', 'pub'), ('c-rsa+c-ec', 'k-rsa'), ('c-ec+c-rsa', 'k-rsa'), ('c-rsa', 'k-rsa+k-ec'),
             ('c-rsa', 'k-other+k-rsa'), ('junk+c-rsa', 'junk+pub+k-rsa'), ('k-rsa+c-rsa', 'c-rsa+k-rsa'), ('c-rsa', 'noder'), ('c-rsa', 'dh'),
             ('bad+c-rsa', 'k-rsa'), ('bad', 'k-rsa')):
    ask('POST', SECRETS + '?dryRun=All', secret(c, k))
ask('POST', SECRETS, secret('c-rsa', 'k-rsa'))
ask('PATCH', SECRETS + '/t?dryRun=All', {'data': secret('c-rsa', 'k-ec')['data']}, MERGE)
ask('PATCH', SECRETS + '/t', {'data': secret('junk', 'k-ec')['data']}, MERGE)
ask('PATCH', SECRETS + '/t', {'metadata': {'labels': {'a': 'b'}}}, MERGE)
ask('POST', SECRETS + '?dryRun=All', dict(secret('c-rsa', 'k-ec'), type='Opaque'))

# Who owns what of an object in another one.
ask('POST', recorder.CRD, {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'boxes.small.example.com'}, 'spec': {
    'group': 'small.example.com', 'scope': 'Namespaced', 'names': {'plural': 'boxes', 'kind': 'Box'}, 'versions': [{
        'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {
            'made': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'x-kubernetes-preserve-unknown-fields': True}}}}}}}]}})
time.sleep(3)
GOOD = {'manager': 'm', 'operation': 'Apply', 'apiVersion': 'v1', 'fieldsType': 'FieldsV1', 'fieldsV1': {'f:a': {}}}
for entries in ([], [GOOD], [{}], [{'manager': 'm'}], [{'operation': 'Update'}], [dict(GOOD, operation='Nope')], [dict(GOOD, fieldsType='FieldsV2')],
                [dict(GOOD, manager='m\n'), dict(GOOD, manager='\x7f\t')], [dict(GOOD, manager='m' * 128, subresource='s' * 256)],
                [dict(GOOD, manager='m' * 129, subresource='s' * 257)], [dict(GOOD, operation='X', fieldsType='Y'), dict(GOOD, operation='Z', fieldsType='')]):
    ask('POST', '/apis/small.example.com/v1' + SPACE + 'boxes?dryRun=All', {
        'apiVersion': 'small.example.com/v1', 'kind': 'Box', 'metadata': {'name': 'a'},
        'spec': {'made': {'apiVersion': 'v1', 'kind': 'X', 'metadata': {'name': 'a', 'managedFields': entries}}}}, fields=('spec',))
OWNER = {'apiVersion': 'v1', 'kind': 'Pod', 'name': 'a', 'uid': 'u', 'controller': True}
for meta in ({'ownerReferences': [{}]}, {'ownerReferences': [OWNER]}, {'ownerReferences': [OWNER, dict(OWNER, name='b')]}, {'generation': -1},
             {'ownerReferences': [dict(OWNER, kind='Event')]}, {'generation': -1, 'labels': {'-': 'x'}, 'ownerReferences': [{}], 'finalizers': ['-'],
                                                                'managedFields': [{}], 'name': '/', 'annotations': {'-': 'x'}}):
    ask('POST', '/apis/small.example.com/v1' + SPACE + 'boxes?dryRun=All', {
        'apiVersion': 'small.example.com/v1', 'kind': 'Box', 'metadata': {'name': 'a'},
        'spec': {'made': {'apiVersion': 'v1', 'kind': 'X', 'metadata': dict({'name': 'a'}, **meta)}}}, fields=('spec',))

# Who sees devices as an administrator.
CLAIMS = '/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims'
ask('POST', '/api/v1/namespaces', {'metadata': {'name': 'admins', 'labels': {'resource.kubernetes.io/admin-access': 'true'}}})
for space in ('default', 'admins'):
    ask('POST', CLAIMS % space, {'metadata': {'name': 'c'}, 'spec': {'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'c'}}]}}})
    for admin in ([True], [False], [None], [False, True, True]):
        ask('PATCH', CLAIMS % space + '/c/status?dryRun=All', {'status': {'allocation': {'devices': {'results': [
            {'request': 'a', 'driver': 'd.io', 'pool': 'p', 'device': 'x%d' % i, 'adminAccess': v} for i, v in enumerate(admin)]}}}}, MERGE)
    ask('PATCH', CLAIMS % space + '/c/status?dryRun=All', {'status': {'allocation': {'devices': {'results': [
        {'request': '-', 'driver': '', 'pool': 'p', 'device': 'x', 'adminAccess': True}]}}}}, MERGE)
