#!/usr/bin/env python3
"""limits.py URL TOKEN >limits.jsonl: what a real kube-apiserver makes of Pods and claims under LimitRanges.

One line a request, in order: method, path, body, code, and the message of the refusal or the fields that admission sets
(by path; null: absent). tests/unit/alm/apiserver/test_limits.c sends the same to ours. Recorded on 1.36.
What breaks two rules of one map is told in Go's random order: no request here does.
"""
import json
import ssl
import sys
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
SEEN = ('spec.limits', 'spec.containers[0].resources', 'spec.containers[1].resources', 'spec.initContainers[0].resources',
        'spec.resources', 'metadata.annotations')


def at(o, path):
    for k in path.replace('[', '.').replace(']', '').split('.'):
        try:
            o = o[int(k) if k.isdigit() else k]
        except (KeyError, IndexError):
            return None
    return o


def ask(method, path, body=None):
    text = json.dumps(body) if body is not None else None
    r = urllib.request.Request(url + path, data=text and text.encode(), method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            code, answer = a.status, json.load(a)
    except urllib.error.HTTPError as e:
        code, answer = e.code, json.load(e)
    row = {'method': method, 'path': path, 'body': text, 'code': code}
    if code >= 400:
        row['message'] = answer['message']
    elif method != 'DELETE' and answer['kind'] != 'Namespace':
        row['fields'] = {k: at(answer, k) for k in SEEN}
    print(json.dumps(row))


def limits(ns, *items, name='l'):
    ask('POST', '/api/v1/namespaces/%s/limitranges' % ns,
        {'apiVersion': 'v1', 'kind': 'LimitRange', 'metadata': {'name': name}, 'spec': {'limits': list(items)}})


def space(ns, *items):
    ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': ns}})
    limits(ns, *items)


def container(limits=None, requests=None, name='c', **more):
    resources = {k: v for k, v in (('limits', limits), ('requests', requests)) if v}
    return dict({'name': name, 'image': 'i', **more}, **({'resources': resources} if resources else {}))


def pod(ns, *containers, init=(), **spec):
    ask('POST', '/api/v1/namespaces/%s/pods?dryRun=All' % ns,
        {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'x'},
         'spec': dict({'containers': list(containers)}, **({'initContainers': list(init)} if init else {}), **spec)})


def claim(ns, size, dry='?dryRun=All'):
    ask('POST', '/api/v1/namespaces/%s/persistentvolumeclaims%s' % (ns, dry),
        {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': 'x'},
         'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': size}}}})


space('lr-default', {'type': 'Container', 'default': {'cpu': '500m', 'memory': '256Mi'}, 'defaultRequest': {'cpu': '100m'}})
pod('lr-default', container())
pod('lr-default', container({'cpu': '1'}))
pod('lr-default', container(None, {'cpu': '50m'}))
pod('lr-default', container({'cpu': '1', 'memory': '1Gi'}, {'cpu': '1', 'memory': '1Gi'}))
pod('lr-default', container(), container({'memory': '1Gi'}, name='d'), init=[container(name='i')])
pod('lr-default', container(None, {'memory': '300Mi'}))

space('lr-max', {'type': 'Container', 'max': {'cpu': '1'}})
pod('lr-max', container())
pod('lr-max', container({'cpu': '1'}))
pod('lr-max', container({'cpu': '1500m'}, {'cpu': '100m'}))
pod('lr-max', container({'cpu': '2'}))
pod('lr-max', container(None, {'cpu': '2'}))
pod('lr-max', container(), init=[container({'cpu': '3'}, name='i')])
pod('lr-max', container({'cpu': '2'}), container({'cpu': '3'}, name='d'))
pod('lr-max', container({'cpu': '2'}), container({'cpu': '2'}, name='d'))

space('lr-min', {'type': 'Container', 'min': {'memory': '64Mi'}})
pod('lr-min', container())
pod('lr-min', container({'memory': '32Mi'}))
pod('lr-min', container({'memory': '128Mi'}, {'memory': '1Mi'}))
pod('lr-min', container({'memory': '64Mi'}))

space('lr-ratio', {'type': 'Container', 'maxLimitRequestRatio': {'cpu': '2'}})
pod('lr-ratio', container())
pod('lr-ratio', container(None, {'cpu': '1'}))
pod('lr-ratio', container({'cpu': '3'}, {'cpu': '1'}))
pod('lr-ratio', container({'cpu': '2'}, {'cpu': '1'}))
pod('lr-ratio', container({'cpu': '2001m'}, {'cpu': '1'}))

space('lr-pod', {'type': 'Pod', 'max': {'cpu': '2'}, 'min': {'cpu': '200m'}})
pod('lr-pod', container())
pod('lr-pod', container({'cpu': '1'}), container({'cpu': '1'}, name='d'))
pod('lr-pod', container({'cpu': '1500m'}, {'cpu': '1'}), container({'cpu': '1'}, name='d'))
pod('lr-pod', container({'cpu': '1'}, {'cpu': '100m'}))
pod('lr-pod', container({'cpu': '1'}), init=[container({'cpu': '3'}, {'cpu': '1'}, name='i')])
pod('lr-pod', container({'cpu': '1500m'}), init=[container({'cpu': '1'}, {'cpu': '1'}, name='i', restartPolicy='Always')])
pod('lr-pod', container({'cpu': '1'}), init=[container({'cpu': '1'}, {'cpu': '1'}, name='i', restartPolicy='Always'),
                                             container({'cpu': '1500m'}, {'cpu': '1'}, name='j')])
pod('lr-pod', container(), resources={'limits': {'cpu': '3'}, 'requests': {'cpu': '1'}})
limits('lr-pod', {'type': 'Pod', 'maxLimitRequestRatio': {'memory': '2'}}, name='m')
pod('lr-pod', container({'cpu': '1', 'memory': '100Mi'}, {'cpu': '1', 'memory': '10Mi'}))
pod('lr-pod', container({'cpu': '1', 'memory': '1Gi'}, {'cpu': '1', 'memory': '700Mi'}),
    container({'memory': '1Gi'}, {'memory': '1Mi'}, name='d'))

space('lr-claim', {'type': 'PersistentVolumeClaim', 'min': {'storage': '1Gi'}, 'max': {'storage': '2Gi'}})
claim('lr-claim', '1Gi')
claim('lr-claim', '512Mi')
claim('lr-claim', '3Gi')
claim('lr-claim', '2560Mi')
pod('lr-claim', container())

# Both in one namespace: the first that is broken is told; what is invalid is told before, a name that is taken after.
space('lr-order', {'type': 'Container', 'max': {'cpu': '1'}, 'maxLimitRequestRatio': {'memory': '2'}})
pod('lr-order', container({'cpu': '2', 'memory': '4Gi'}, {'memory': '1Gi'}))
pod('lr-order', container({'cpu': '2'}, {'cpu': '3'}))
ask('DELETE', '/api/v1/namespaces/lr-order/limitranges/l')
pod('lr-order', container({'cpu': '2', 'memory': '4Gi'}, {'memory': '1Gi'}))

# Ranges that are none. The value that is told is not always that of the field.
ask('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'lr-wrong'}})
CPU = [{'min': '2', 'max': '1'}, {'default': '2', 'max': '1'}, {'default': '1', 'defaultRequest': '2'},
       {'defaultRequest': '2', 'max': '1'}, {'defaultRequest': '1', 'min': '2'}, {'default': '1', 'min': '2'},
       {'maxLimitRequestRatio': '500m'}, {'min': '1', 'max': '4', 'maxLimitRequestRatio': '5'},
       {'min': '1', 'max': '4', 'maxLimitRequestRatio': '4'}, {'min': '3', 'max': '2', 'maxLimitRequestRatio': '100m'}]
for values in CPU:
    limits('lr-wrong', dict({'type': 'Container'}, **{k: {'cpu': v} for k, v in values.items()}))
    ask('DELETE', '/api/v1/namespaces/lr-wrong/limitranges/l')
for kind in ('Pod', 'PersistentVolumeClaim'):
    limits('lr-wrong', {'type': kind, 'default': {'cpu': '1'}})
    limits('lr-wrong', {'type': kind, 'defaultRequest': {'cpu': '1'}, 'min': {'cpu': '2'}})
limits('lr-wrong', {'type': 'PersistentVolumeClaim'})
limits('lr-wrong', {'type': 'Container', 'max': {'cpu': '1'}}, {'type': 'Container', 'min': {'cpu': '1'}})
limits('lr-wrong', {'type': 'Node', 'max': {'cpu': '1'}})
