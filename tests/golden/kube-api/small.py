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

# Names that are too long for features, and no labels for Jobs.
ask('POST', '/api/v1/nodes', {'metadata': {'name': 'n'}})
for names in (['A' * 253], ['A' * 254], ['a' * 254], ['a'], ['A/' + 'b' * 252], ['A', 'B' * 254]):
    ask('PATCH', '/api/v1/nodes/n/status?dryRun=All', {'status': {'declaredFeatures': names}}, MERGE)
for name in ('j', 'a.b', 'j' * 63, 'j' * 64, 'kubernetes.io/hostname', 'J', '-', 'j.', '_'):
    for labels in (None, {'l': 'm'}):
        ask('POST', '/apis/batch/v1' + SPACE + 'jobs?dryRun=All', {'metadata': {'name': name}, 'spec': {'template': {
            'metadata': {'labels': labels}, 'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'a', 'image': 'i'}]}}}})

# What a status may not say of the rest, and what nobody asks there.
PERIOD = {'metadata': {'deletionGracePeriodSeconds': 101, 'deletionTimestamp': '2020-01-01T00:00:00Z'}}
V = '/apis/%s/v1/%s'
for group, plural, body in (
        ('storage.k8s.io', 'volumeattachments', {'spec': {'attacher': 'a.b', 'nodeName': 'n', 'source': {'persistentVolumeName': 'p'}}}),
        ('networking.k8s.io', 'servicecidrs', {'spec': {'cidrs': ['192.168.7.0/24']}}),
        ('resource.k8s.io', 'namespaces/default/resourceclaims', {'spec': {}}),
        ('admissionregistration.k8s.io', 'validatingadmissionpolicies', {'spec': {'failurePolicy': 'Ignore', 'validations': [{'expression': 'true'}], 'matchConstraints': {
            'resourceRules': [{'apiGroups': ['x.io'], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['xs']}]}}}),
        ('flowcontrol.apiserver.k8s.io', 'flowschemas', {'spec': {'priorityLevelConfiguration': {'name': 'exempt'}}}),
        ('apps', 'namespaces/default/deployments', {'spec': template}),
        ('apiextensions.k8s.io', 'customresourcedefinitions', None)):
    name = 'period' if body else 'boxes.small.example.com'
    if body:
        ask('POST', V % (group, plural), dict(body, metadata={'name': name}))
    for field in PERIOD['metadata']:
        ask('PATCH', V % (group, plural) + '/%s/status?dryRun=All' % name, {'metadata': {field: PERIOD['metadata'][field]}}, MERGE,
            ('metadata.deletionGracePeriodSeconds', 'metadata.deletionTimestamp'))
for path in ('', '/status'):
    ask('PATCH', DEPLOYMENTS + '/kept' + path + '?dryRun=All&force=true&fieldManager=m', {
        'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'kept'}, 'spec': dict(template, template={
            'metadata': {'labels': {'a': 'b'}}, 'spec': {'resources': {'claims': []}, 'containers': [{'name': 'a', 'image': 'i'}]}}),
        'status': {'replicas': 1}}, APPLY)
for name in ('a/b', 'a.b', 'A'):
    for sources in ({'ephemeral': {}}, {'ephemeral': {}, 'emptyDir': {}}, {'ephemeral': {}, 'image': {'reference': 'i'}}):
        ask('POST', '/api/v1' + SPACE + 'pods?dryRun=All', {'metadata': {'name': 'p'}, 'spec': dict(
            template['template']['spec'], volumes=[dict(sources, name=name)])})

# What is null where it is applied, and a name to be made that a status brings.
ask('POST', recorder.CRD, {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'bins.small.example.com'}, 'spec': {
    'group': 'small.example.com', 'scope': 'Namespaced', 'names': {'plural': 'bins', 'kind': 'Bin'}, 'versions': [{
        'name': 'v1', 'served': True, 'storage': True, 'subresources': {'status': {}}, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {
            part: {'type': 'object', 'properties': {'a': {'type': 'string'}, 'm': {'type': 'object', 'additionalProperties': {'type': 'string'}},
                                                    'l': {'type': 'array', 'items': {'type': 'string'}}}} for part in ('spec', 'status')}}}}]}})
time.sleep(3)
BINS = '/apis/small.example.com/v1' + SPACE + 'bins'
OWNED = ('spec', 'status', 'metadata.annotations', 'metadata.labels', 'metadata.managedFields[0].fieldsV1', 'metadata.managedFields[1].fieldsV1')
ask('POST', BINS, {'apiVersion': 'small.example.com/v1', 'kind': 'Bin', 'metadata': {'name': 'a'}, 'spec': {'a': 'x', 'm': {'k': 'v'}, 'l': ['i']}})
for path in ('/a', '/a/status', '/new'):
    for part in ('spec', 'status'):
        for value in (None, {}, {'a': None}, {'m': None}, {'l': None}, {'m': {'k': None}}, {'l': [None]}, {'a': 'x', 'm': None}):
            ask('PATCH', BINS + path + '?dryRun=All&force=true&fieldManager=m', {
                'apiVersion': 'small.example.com/v1', 'kind': 'Bin', 'metadata': {'name': path.split('/')[1]}, part: value}, APPLY, OWNED)
    for meta in ({'annotations': None}, {'labels': None}, {'labels': {'k': None}}, {'finalizers': None}):
        ask('PATCH', BINS + path + '?dryRun=All&force=true&fieldManager=m', {
            'apiVersion': 'small.example.com/v1', 'kind': 'Bin', 'metadata': dict(meta, name=path.split('/')[1])}, APPLY, OWNED)
for meta in ({'annotations': None}, {'labels': None}, {'labels': {'k': None}}):
    ask('PATCH', MAPS + '/new?dryRun=All&force=true&fieldManager=m', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': dict(meta, name='new')}, APPLY, OWNED)
for group, plural in (('storage.k8s.io', 'volumeattachments'), ('networking.k8s.io', 'servicecidrs'), ('resource.k8s.io', 'namespaces/default/resourceclaims'),
                      ('flowcontrol.apiserver.k8s.io', 'flowschemas'), ('apps', 'namespaces/default/deployments'),
                      ('admissionregistration.k8s.io', 'validatingadmissionpolicies')):
    ask('PATCH', V % (group, plural) + '/period/status?dryRun=All', {'metadata': {'generateName': 'g-'}}, MERGE, ('metadata.generateName',))
