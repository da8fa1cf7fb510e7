#!/usr/bin/env python3
"""python_client.py KUBECONFIG: what programs written with the Python client of Kubernetes do, against the API server of that file.
Prints TAP."""
import os
import sys
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client import V1ConfigMap, V1ObjectMeta
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

NS = 'default'
config.load_kube_config(sys.argv[1])
core, apps = client.CoreV1Api(), client.AppsV1Api()
tests = []


def config_map(name):
    return V1ConfigMap(metadata=V1ObjectMeta(name=name, labels={'from': 'python'}), data={'a': '1'})


def typed():
    made = core.create_namespaced_config_map(NS, config_map('a'))
    made.data['b'] = '2'
    assert core.replace_namespaced_config_map('a', NS, made).data == {'a': '1', 'b': '2'}
    assert core.patch_namespaced_config_map('a', NS, {'data': {'c': '3'}}).data['c'] == '3'
    for stale in (lambda: core.replace_namespaced_config_map('a', NS, made), lambda: core.create_namespaced_config_map(NS, config_map('a'))):
        try:
            stale()
            raise AssertionError('taken')
        except client.ApiException as e:
            assert e.status == 409, e
    try:
        core.read_namespaced_config_map('none', NS)
        raise AssertionError('read')
    except client.ApiException as e:
        assert e.status == 404, e


def watched():
    seen, begun = [], threading.Event()

    def look():
        for e in watch.Watch().stream(core.list_namespaced_config_map, NS, label_selector='from=python', timeout_seconds=30):
            seen.append((e['type'], e['object'].metadata.name))
            begun.set()
            if e['type'] == 'DELETED':
                return

    t = threading.Thread(target=look)
    t.start()
    assert begun.wait(20)
    core.create_namespaced_config_map(NS, config_map('b'))
    core.delete_namespaced_config_map('b', NS)
    t.join()
    assert seen == [('ADDED', 'a'), ('ADDED', 'b'), ('DELETED', 'b')], seen
    core.delete_collection_namespaced_config_map(NS, label_selector='from=python')
    assert not core.list_namespaced_config_map(NS, label_selector='from=python').items


def dynamically():
    d = dynamic.DynamicClient(client.ApiClient())
    d.resources.get(api_version='apiextensions.k8s.io/v1', kind='CustomResourceDefinition').create({
        'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'ps.py.example.com'},
        'spec': {'group': 'py.example.com', 'scope': 'Namespaced', 'names': {'plural': 'ps', 'kind': 'P'}, 'versions': [
            {'name': 'v1', 'served': True, 'storage': True,
             'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}})
    d.resources.invalidate_cache()
    ps = d.resources.get(api_version='py.example.com/v1', kind='P')
    head = {'apiVersion': 'py.example.com/v1', 'kind': 'P', 'metadata': {'name': 'o'}}
    ps.create(dict(head, spec={'x': 1}), namespace=NS)
    o = ps.server_side_apply(dict(head, spec={'y': 2}), namespace=NS, field_manager='py')
    assert (o.spec.x, o.spec.y) == (1, 2), o


def workload():
    utils.create_from_dict(client.ApiClient(), {
        'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'py'}, 'spec': {
            'selector': {'matchLabels': {'a': 'b'}}, 'template': {
                'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}})
    assert apps.patch_namespaced_deployment_scale('py', NS, {'spec': {'replicas': 3}}).spec.replicas == 3
    assert apps.list_namespaced_deployment(NS, limit=1).items[0].spec.replicas == 3


def lead():
    leads = threading.Event()
    c = electionconfig.Config(LeaseLock('py', NS, 'me'), lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=leads.set,
                              onstopped_leading=lambda: None)
    threading.Thread(target=leaderelection.LeaderElection(c).run, daemon=True).start()
    assert leads.wait(20)
    assert client.CoordinationV1Api().read_namespaced_lease('py', NS).spec.holder_identity == 'me'


for name, test in (('typed: create, replace, patch, and what is refused', typed), ('a watch, deletecollection', watched),
                   ('dynamic: a definition, create, apply', dynamically), ('a Deployment and its scale', workload),
                   ('leader election', lead)):
    began = time.time()
    try:
        test()
        said = 'ok'
    except Exception as e:  # pylint: disable=broad-except
        said = 'not ok'
        print('# %s: %r' % (name, e))
    tests.append(name)
    print('%s %d - %s' % (said, len(tests), name))
print('1..%d' % len(tests), flush=True)
os._exit(0)  # an election has no end of its own
