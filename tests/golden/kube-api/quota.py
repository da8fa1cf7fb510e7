#!/usr/bin/env python3
"""quota.py URL TOKEN >quota.jsonl: what a real kube-apiserver makes of writes under ResourceQuotas.

One line a request, in order: method, path, body, code, and the message of the refusal or, of a quota, its spec and status
once its controller has settled. tests/unit/alm/apiserver/test_quota.c sends the same to ours. Recorded on 1.36.
What breaks a rule of two keys of one map is told in Go's random order: no request here does.
"""
import json
import ssl
import sys
import time
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
QUOTAS = '/api/v1/namespaces/%s/resourcequotas'


def send(method, path, text=None, kind='application/json'):
    r = urllib.request.Request(url + path, data=text and text.encode(), method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': kind})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            return a.status, json.load(a)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def ask(method, path, body=None, kind='application/json'):
    text = json.dumps(body) if body is not None else None
    code, answer = send(method, path, text, kind)
    row = {'method': method, 'path': path, 'body': text, 'type': kind, 'code': code}
    if code >= 400:
        row['message'] = answer['message']
    print(json.dumps(row), flush=True)
    return code


def used(ns, name='q'):
    """The quota once nothing changes it any more."""
    path, last, since = QUOTAS % ns + '/' + name, None, time.time()
    while time.time() - since < 4:
        time.sleep(0.3)
        code, o = send('GET', path)
        seen = o.get('status')
        if seen != last or not seen or set(seen.get('hard', {})) != set(o['spec'].get('hard', {})):
            last, since = seen, time.time()
    print(json.dumps({'method': 'GET', 'path': path, 'body': None, 'type': 'application/json', 'code': code,
                      'fields': {'spec': o['spec'], 'status': o['status']}}), flush=True)


def quota(ns, hard, name='q', **spec):
    if ask('POST', QUOTAS % ns, {'apiVersion': 'v1', 'kind': 'ResourceQuota', 'metadata': {'name': name},
                                 'spec': dict(hard=hard, **spec)}) == 201:
        used(ns, name)


def space(ns, hard=None, **spec):
    ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': ns}})
    time.sleep(1)
    if hard:
        quota(ns, hard, **spec)


def container(limits=None, requests=None, name='c', **more):
    resources = {k: v for k, v in (('limits', limits), ('requests', requests)) if v}
    return dict({'name': name, 'image': 'i', **more}, **({'resources': resources} if resources else {}))


def pod(ns, name, *containers, init=(), dry='', **spec):
    ask('POST', '/api/v1/namespaces/%s/pods%s' % (ns, dry),
        {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name},
         'spec': dict({'containers': list(containers or [container()])},
                      **({'initContainers': list(init)} if init else {}), **spec)})


def service(ns, name, kind='ClusterIP', ports=1, **spec):
    ask('POST', '/api/v1/namespaces/%s/services' % ns,
        {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': name},
         'spec': dict({'type': kind, 'ports': [{'name': 'p%d' % i, 'port': 80 + i} for i in range(ports)]}, **spec)})


def claim(ns, name, size, **spec):
    ask('POST', '/api/v1/namespaces/%s/persistentvolumeclaims' % ns,
        {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': name},
         'spec': dict({'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': size}}}, **spec)})


def secret(ns, name):
    ask('POST', '/api/v1/namespaces/%s/secrets' % ns, {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}})


def delete(path):
    ask('DELETE', path + '?gracePeriodSeconds=0')


# Counts.
space('q-count', {'pods': '2', 'count/pods': '3', 'secrets': '1', 'count/secrets': '2', 'resourcequotas': '1',
                  'count/deployments.apps': '1', 'count/leases.coordination.k8s.io': '1'})
pod('q-count', 'a')
pod('q-count', 'b', dry='?dryRun=All')
pod('q-count', 'b')
pod('q-count', 'c')
pod('q-count', 'c', dry='?dryRun=All')
secret('q-count', 'a')
secret('q-count', 'b')
ask('PATCH', '/api/v1/namespaces/q-count/pods/a/status', {'status': {'phase': 'Succeeded'}}, 'application/merge-patch+json')
used('q-count')
pod('q-count', 'c')
pod('q-count', 'd')
delete('/api/v1/namespaces/q-count/pods/c')
used('q-count')
quota('q-count', {'pods': '9'}, name='second')
DEPLOYMENT = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'a'}, 'spec': {
    'replicas': 0, 'selector': {'matchLabels': {'a': 'b'}},
    'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [container()]}}}}
ask('POST', '/apis/apps/v1/namespaces/q-count/deployments', DEPLOYMENT)
ask('POST', '/apis/apps/v1/namespaces/q-count/deployments', dict(DEPLOYMENT, metadata={'name': 'b'}))
LEASE = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'a'}}
ask('POST', '/apis/coordination.k8s.io/v1/namespaces/q-count/leases', LEASE)
ask('POST', '/apis/coordination.k8s.io/v1/namespaces/q-count/leases', dict(LEASE, metadata={'name': 'b'}))
ask('PATCH', QUOTAS % 'q-count' + '/q', {'spec': {'hard': {'count/leases.coordination.k8s.io': '2', 'secrets': None}}},
    'application/merge-patch+json')
used('q-count')
ask('POST', '/apis/coordination.k8s.io/v1/namespaces/q-count/leases', dict(LEASE, metadata={'name': 'b'}))
secret('q-count', 'b')
secret('q-count', 'c')
pod('q-count', 'bad name')
pod('q-count', 'b')

# What Pods take.
space('q-cpu', {'requests.cpu': '1', 'limits.memory': '1Gi', 'pods': '5'})
pod('q-cpu', 'a')
pod('q-cpu', 'a', container(None, {'cpu': '100m'}), container({'memory': '1Mi'}, name='d'))
pod('q-cpu', 'a', container({'memory': '512Mi'}, {'cpu': '600m'}))
pod('q-cpu', 'b', container({'memory': '512Mi'}, {'cpu': '500m'}))
pod('q-cpu', 'b', container({'memory': '600Mi'}, {'cpu': '500m'}))
pod('q-cpu', 'b', container({'memory': '1Mi'}, {'cpu': '100m'}), init=[container({'memory': '1Mi'}, {'cpu': '450m'}, name='i')])
pod('q-cpu', 'b', container({'memory': '1Mi'}, {'cpu': '100m'}), init=[container(name='i')])
pod('q-cpu', 'b', container({'memory': '1Mi'}, {'cpu': '200m'}),
    init=[container({'memory': '1Mi'}, {'cpu': '150m'}, name='i', restartPolicy='Always')])
used('q-cpu')
ask('PATCH', '/api/v1/namespaces/q-cpu/pods/a', {'metadata': {'labels': {'a': 'b'}}}, 'application/merge-patch+json')
ask('PATCH', QUOTAS % 'q-cpu' + '/q', {'spec': {'hard': {'requests.cpu': '100m'}}}, 'application/merge-patch+json')
used('q-cpu')
ask('PATCH', '/api/v1/namespaces/q-cpu/pods/a', {'metadata': {'labels': {'a': 'c'}}}, 'application/merge-patch+json')
pod('q-cpu', 'c', container({'memory': '1Mi'}, {'cpu': '1m'}))
delete('/api/v1/namespaces/q-cpu/pods/a')
delete('/api/v1/namespaces/q-cpu/pods/b')
used('q-cpu')

space('q-old', {'cpu': '1', 'memory': '1Gi', 'requests.memory': '2Gi', 'limits.cpu': '2'})
pod('q-old', 'a', container(None, {'cpu': '1'}))
pod('q-old', 'a', container({'cpu': '1', 'memory': '700Mi'}))
pod('q-old', 'b', container({'cpu': '500m', 'memory': '400Mi'}, {'cpu': '0'}))
pod('q-old', 'b', container({'cpu': '1500m', 'memory': '100Mi'}, {'cpu': '0'}))
used('q-old')

space('q-other', {'requests.ephemeral-storage': '1Gi', 'requests.example.com/gpu': '1', 'limits.ephemeral-storage': '2Gi',
                  'requests.hugepages-2Mi': '4Mi'})
pod('q-other', 'a', container({'example.com/gpu': '1'}))
pod('q-other', 'b', container({'example.com/gpu': '1'}))
pod('q-other', 'b', container({'ephemeral-storage': '3Gi'}, {'ephemeral-storage': '1Gi'}))
pod('q-other', 'b', container({'hugepages-2Mi': '8Mi', 'cpu': '1'}))
used('q-other')

# Services.
space('q-svc', {'services': '3', 'services.nodeports': '2', 'services.loadbalancers': '1'})
service('q-svc', 'a', 'NodePort', 2)
service('q-svc', 'b', 'NodePort')
service('q-svc', 'b', 'LoadBalancer', allocateLoadBalancerNodePorts=False)
service('q-svc', 'c', 'LoadBalancer', allocateLoadBalancerNodePorts=False)
service('q-svc', 'c')
service('q-svc', 'd')
ask('PATCH', '/api/v1/namespaces/q-svc/services/c', {'spec': {'type': 'NodePort'}}, 'application/merge-patch+json')
ask('PATCH', '/api/v1/namespaces/q-svc/services/c', {'metadata': {'labels': {'a': 'b'}}}, 'application/merge-patch+json')
used('q-svc')
delete('/api/v1/namespaces/q-svc/services/a')
used('q-svc')
ask('PATCH', '/api/v1/namespaces/q-svc/services/c', {'spec': {'type': 'NodePort'}}, 'application/merge-patch+json')
used('q-svc')

# Claims.
space('q-pvc', {'persistentvolumeclaims': '3', 'requests.storage': '10Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '4Gi',
                'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1'})
claim('q-pvc', 'a', '3Gi', storageClassName='gold')
claim('q-pvc', 'b', '1Gi', storageClassName='gold')
claim('q-pvc', 'b', '8Gi', storageClassName='silver')
claim('q-pvc', 'b', '7Gi', storageClassName='silver')
claim('q-pvc', 'c', '1Mi', storageClassName='silver')
used('q-pvc')

# Scopes.
space('q-scope')
quota('q-scope', {'pods': '1'}, name='best', scopes=['BestEffort'])
quota('q-scope', {'pods': '1', 'requests.cpu': '1'}, name='notbest', scopes=['NotBestEffort'])
quota('q-scope', {'pods': '1'}, name='ends', scopes=['Terminating'])
pod('q-scope', 'a')
pod('q-scope', 'b')
pod('q-scope', 'b', container(None, {'memory': '1Mi'}))
pod('q-scope', 'b', container(None, {'cpu': '1'}))
pod('q-scope', 'c', container(None, {'cpu': '0'}))
secret('q-scope', 'a')
for name in ('best', 'notbest', 'ends'):
    used('q-scope', name)
delete('/api/v1/namespaces/q-scope/pods/a')
delete('/api/v1/namespaces/q-scope/pods/b')
used('q-scope', 'best')
used('q-scope', 'notbest')
pod('q-scope', 'a', activeDeadlineSeconds=10)
used('q-scope', 'best')
delete(QUOTAS % 'q-scope' + '/best')
pod('q-scope', 'b', activeDeadlineSeconds=10)
pod('q-scope', 'b')

space('q-class')
CLASS = {'matchExpressions': [{'scopeName': 'PriorityClass', 'operator': 'In', 'values': ['system-node-critical']}]}
quota('q-class', {'pods': '0'}, name='in', scopeSelector=CLASS)
quota('q-class', {'pods': '0'}, name='there', scopeSelector={'matchExpressions': [{'scopeName': 'PriorityClass', 'operator': 'Exists'}]})
pod('q-class', 'a')

# More than one quota; all of them count.
space('q-two', {'secrets': '5'})
quota('q-two', {'secrets': '1', 'pods': '7'}, name='r')
secret('q-two', 'a')
secret('q-two', 'b')
used('q-two')
used('q-two', 'r')

# A quota that comes later counts what is there.
space('q-late')
pod('q-late', 'a', container({'cpu': '2'}))
secret('q-late', 'a')
quota('q-late', {'secrets': '0', 'limits.cpu': '1', 'pods': '0'})
secret('q-late', 'b')
ask('PUT', '/api/v1/namespaces/q-late/secrets/a', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'a'}, 'stringData': {'a': 'b'}})

# Quotas that are none.
space('q-wrong')
for hard in ({'pods': '1.5'}, {'pods': '-1'}, {'requests.cpu': 'many'}, {'nonsense': '1'}, {'count/': '1'}, {'count/x': '1'},
             {'example.com/gpu': '1'}, {'requests.storage': '1.5Gi'}, {'requests.cpu': '-100m'}, {'services.nodeports': '1500m'},
             {'a b': '1'}):
    quota('q-wrong', hard)
    send('DELETE', QUOTAS % 'q-wrong' + '/q')
for hard, scopes in (({'pods': '1'}, ['BestEffort', 'NotBestEffort']), ({'pods': '1'}, ['Terminating', 'NotTerminating']),
                     ({'requests.cpu': '1'}, ['BestEffort']), ({'pods': '1'}, ['Nonsense']), ({'secrets': '1'}, ['NotBestEffort']),
                     ({'pods': '1'}, ['PriorityClass']), ({'pods': '1'}, ['BestEffort', 'BestEffort'])):
    quota('q-wrong', hard, scopes=scopes)
    send('DELETE', QUOTAS % 'q-wrong' + '/q')
for e in ({'scopeName': 'PriorityClass', 'operator': 'In'}, {'scopeName': 'PriorityClass', 'operator': 'Exists', 'values': ['a']},
          {'scopeName': 'BestEffort', 'operator': 'In', 'values': ['a']}, {'scopeName': 'PriorityClass', 'operator': 'Near'},
          {'scopeName': 'Nonsense', 'operator': 'Exists'}):
    quota('q-wrong', {'pods': '1'}, scopeSelector={'matchExpressions': [e]})
    send('DELETE', QUOTAS % 'q-wrong' + '/q')
quota('q-wrong', {'pods': '1'}, scopes=['NotBestEffort'])
ask('PATCH', QUOTAS % 'q-wrong' + '/q', {'spec': {'scopes': ['BestEffort']}}, 'application/merge-patch+json')
ask('PATCH', QUOTAS % 'q-wrong' + '/q', {'spec': {'scopes': None}}, 'application/merge-patch+json')
