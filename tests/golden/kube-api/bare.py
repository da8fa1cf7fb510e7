#!/usr/bin/env python3
"""bare.py URL TOKEN >bare.jsonl: what a real kube-apiserver without controllers shows of fields that nobody has written.

One object of each kind, and each with one of its fields left out, of which those are recorded that show an empty struct or a zero
which no line before shows; and patches of a status that nobody has written yet. test_differs.c sends the same to ours."""
import copy
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'fuzz'))
import recorder  # noqa: E402
from api_bases import BASES  # noqa: E402
from api_bases_rich import RICH  # noqa: E402

ELSEWHERE = ('customresourcedefinitions', 'example.com', 'reviews', 'validatingadmissionpolicies', 'tokens')  # status at once here
SERVERS = ('metadata', 'apiVersion', 'kind')


def variants(o, top):
    """The object, in place without one of its members at a time."""
    members = list(o.items()) if isinstance(o, dict) else list(enumerate(o)) if isinstance(o, list) else ()
    for k, v in members:
        if isinstance(o, dict):
            del o[k]
            yield top
            o[k] = v
        yield from variants(v, top)


def empties(o, way=()):
    """The paths of empty structs and of zeros, as far as no list is on the way."""
    for k, v in o.items():
        if not way and k in SERVERS or '.' in k:
            continue
        if v in ({}, 0, '', False) and v != []:
            yield '.'.join(way + (k,)), v
        elif isinstance(v, dict):
            yield from empties(v, way + (k,))


def was_sent(body, path):
    return recorder.member(body, path) is not None


def show(path, body, seen):
    try:
        code, answer, _ = recorder.send('POST', path + '?dryRun=All', json.dumps(body))
    except OSError:  # its handler has panicked
        return
    found = [p for p, _ in empties(answer) if not was_sent(body, p) and (path, p) not in seen] if code == 201 else []
    seen.update((path, p) for p in found)
    if found:
        recorder.ask('POST', path + '?dryRun=All', body, fields=found)


def main():
    seen = set()
    for path, body in BASES + list(RICH):
        if any(x in path for x in ELSEWHERE):
            continue
        body = copy.deepcopy(body)
        body.setdefault('metadata', {}).setdefault('name', 'bare')
        show(path, body, seen)
        for v in variants(body, body):
            if (v.get('metadata') or {}).get('name'):
                show(path, v, seen)
    deployments = '/apis/apps/v1/namespaces/default/deployments'
    one = copy.deepcopy(dict(BASES)[deployments])
    one['metadata'] = {'name': 'bare'}
    recorder.ask('POST', deployments, one, fields=['status'])
    status = deployments + '/bare/status'
    for patch in ([{'op': 'test', 'path': '/status', 'value': {}}], [{'op': 'add', 'path': '/status/observedGeneration', 'value': 1}],
                  [{'op': 'remove', 'path': '/status'}]):
        recorder.ask('PATCH', status, patch, recorder.PATCH, fields=['status'])
    recorder.ask('PATCH', deployments + '/bare', {'status': None}, recorder.MERGE, fields=['status'])
    for n in ('1', '0', '+0', '-2', 'x', '10.0.0.0/8', '', '99999999999999999999'):  # read as Atoi() does it
        recorder.ask('PATCH', deployments + '/bare?dryRun=All', {'spec': {'strategy': {'rollingUpdate': {
            'maxUnavailable': 'y', 'maxSurge': n}}}}, recorder.MERGE, fields=['spec.strategy'])
    recorder.ask('POST', '/api/v1/namespaces/default/pods?dryRun=All', {'metadata': {'name': 'p'}, 'spec': {'containers': [{
        'name': 'c', 'image': 'i'}]}, 'status': {'nodeAllocatableResourceClaimStatuses': [{'resources': True}]}})
    services = '/apis/apiregistration.k8s.io/v1/apiservices'
    recorder.ask('POST', services, {'metadata': {'name': 'v1.bare.example.com'}, 'spec': {
        'group': 'bare.example.com', 'version': 'v1', 'groupPriorityMinimum': 1, 'versionPriority': 1, 'service': {
            'name': 's', 'namespace': 'n'}}}, fields=['spec.service.port'])
    for meta in ({'deletionGracePeriodSeconds': 5}, {'deletionTimestamp': '2020-01-01T00:00:00Z'}, {'generateName': 'x'}, {'labels': {'a': 'b'}}):
        recorder.ask('PATCH', services + '/v1.bare.example.com/status', {'metadata': meta}, recorder.MERGE, fields=[
            'metadata.labels', 'metadata.generateName'])
    for default in ({'a': 1}, {'k': 'v'}, {'apiVersion': 'a/v1', 'kind': 'K', 'a': 1}, 'x'):  # what no object is, is told alone
        recorder.ask('POST', recorder.CRD, {'metadata': {'name': 'bares.x.io'}, 'spec': {
            'group': 'x.io', 'scope': 'Namespaced', 'names': {'plural': 'bares', 'kind': 'Bare'}, 'versions': [{
                'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {
                    'type': 'object', 'properties': {'a': {'type': 'string'}, 'spec': {'type': 'object'}}, 'default': default,
                    'required': ['spec']}}}]}})


main()
