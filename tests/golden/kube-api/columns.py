#!/usr/bin/env python3
"""columns.py URL TOKEN >columns.jsonl: what kubectl get shows of built-in kinds: objects made on a real kube-apiserver, the columns
and the cells of its tables. tests/unit/alm/apiserver/docs/test_table.c shows the same objects. Recorded on 1.36."""
import json
import sys
import urllib.request
import uuid

from recorder import ctx, send, token, url

MARK = uuid.uuid4().hex[:6]
DEFAULT = {'storageclass.kubernetes.io/is-default-class': 'true', 'ingressclass.kubernetes.io/is-default-class': 'true'}
POD = {'metadata': {'labels': {'a': 'b', 'c': 'd'}}, 'spec': {'restartPolicy': 'Never', 'containers': [
    {'name': 'x', 'image': 'i:1'}, {'name': 'y', 'image': 'j:2'}]}}
CSI = {'attachRequired': False, 'podInfoOnMount': True, 'tokenRequests': [{'audience': 'one'}, {'audience': 'two'}],
       'volumeLifecycleModes': ['Persistent', 'Ephemeral'], 'requiresRepublish': True}
# group/version, plural, kind, object, what is in its status
OBJECTS = (
    ('v1', 'nodes', 'Node', {'spec': {'unschedulable': True}, 'metadata': {'labels': {'node-role.kubernetes.io/worker': ''}}}, {
        'addresses': [{'type': 'InternalIP', 'address': '10.1.2.3'}], 'conditions': [{'type': 'Ready', 'status': 'True'}],
        'nodeInfo': {'osImage': 'Debian', 'kernelVersion': '6.1', 'architecture': 'amd64', 'containerRuntimeVersion': 'c://1', 'kubeletVersion': 'v1',
                     'machineID': '', 'systemUUID': '', 'bootID': '', 'kubeProxyVersion': '', 'operatingSystem': ''}}),
    ('v1', 'persistentvolumes', 'PersistentVolume', {'spec': {
        'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce', 'ReadOnlyMany'], 'hostPath': {'path': '/x'}, 'storageClassName': 'slow',
        'claimRef': {'namespace': 'n', 'name': 'c'}}}, {'phase': 'Released', 'reason': 'Why'}),
    ('v1', 'namespaces/default/persistentvolumeclaims', 'PersistentVolumeClaim', {'spec': {
        'accessModes': ['ReadWriteOncePod'], 'resources': {'requests': {'storage': '1Gi'}}, 'storageClassName': 'none-such'}}, None),
    ('v1', 'namespaces/default/podtemplates', 'PodTemplate', {'template': POD}, None),
    ('apps/v1', 'namespaces/default/controllerrevisions', 'ControllerRevision', {'revision': 7, 'data': {}}, None),
    ('batch/v1', 'namespaces/default/cronjobs', 'CronJob', {'spec': {
        'schedule': '0 0 1 1 *', 'suspend': True, 'jobTemplate': {'spec': {'template': POD}}}}, None),
    ('certificates.k8s.io/v1', 'certificatesigningrequests', 'CertificateSigningRequest', None, None),
    ('networking.k8s.io/v1', 'ingressclasses', 'IngressClass', {'metadata': {'annotations': DEFAULT}, 'spec': {
        'controller': 'e.io/c', 'parameters': {'apiGroup': 'e.io', 'kind': 'P', 'name': 'p', 'scope': 'Cluster'}}}, None),
    ('networking.k8s.io/v1', 'servicecidrs', 'ServiceCIDR', {'spec': {'cidrs': ['10.99.0.0/24']}}, None),
    ('networking.k8s.io/v1', 'ipaddresses', 'IPAddress', {'metadata': {'name': '10.99.0.7', 'labels': {
        'ipaddress.kubernetes.io/ip-family': 'IPv4'}}, 'spec': {'parentRef': {'group': 'e.io', 'resource': 'xs', 'namespace': 'n', 'name': 'p'}}}, None),
    ('storage.k8s.io/v1', 'storageclasses', 'StorageClass', {'metadata': {'annotations': DEFAULT}, 'provisioner': 'e.io/p'}, None),
    ('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', {'spec': CSI}, None),
    ('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', {'spec': {}}, None),
    ('storage.k8s.io/v1', 'csinodes', 'CSINode', {'spec': {'drivers': [{'name': 'd', 'nodeID': 'n'}]}}, None),
    ('storage.k8s.io/v1', 'namespaces/default/csistoragecapacities', 'CSIStorageCapacity', {'storageClassName': 's'}, None),
    ('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', {'spec': {
        'attacher': 'a', 'nodeName': 'n', 'source': {'persistentVolumeName': 'v'}}}, {'attached': True}),
    ('storage.k8s.io/v1', 'volumeattributesclasses', 'VolumeAttributesClass', {'driverName': 'd', 'parameters': {'a': 'b'}}, None),
    ('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', {'value': 7}, None),
    ('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', {'handler': 'h'}, None),
    ('flowcontrol.apiserver.k8s.io/v1', 'flowschemas', 'FlowSchema', {'spec': {
        'priorityLevelConfiguration': {'name': 'none'}, 'matchingPrecedence': 9000, 'distinguisherMethod': {'type': 'ByUser'}}}, None),
    ('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', {'spec': {'type': 'Limited', 'limited': {
        'nominalConcurrencyShares': 5, 'limitResponse': {'type': 'Queue', 'queuing': {'queues': 4, 'handSize': 2, 'queueLengthLimit': 50}}}}}, None),
    ('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', {'spec': {'type': 'Limited', 'limited': {
        'limitResponse': {'type': 'Reject'}}}}, None),
    ('resource.k8s.io/v1', 'namespaces/default/resourceclaims', 'ResourceClaim', {'spec': {}}, None),
    ('resource.k8s.io/v1', 'resourceslices', 'ResourceSlice', {'spec': {
        'driver': 'd.io', 'nodeName': 'n', 'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1}}}, None),
    ('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', {'spec': {'policyName': 'p'}}, None),
)


def table(path):
    r = urllib.request.Request(url + path, headers={'Authorization': 'Bearer ' + token,
                                                    'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
    with urllib.request.urlopen(r, context=ctx) as a:
        return json.load(a)


def record(group_version, plural, kind, body, status, n):
    at = ('/api/' if group_version == 'v1' else '/apis/') + group_version + '/' + plural
    o = dict({'apiVersion': group_version, 'kind': kind}, **body)
    o['metadata'] = dict({'name': 'col-%s-%d' % (MARK, n)}, **o.get('metadata', {}))
    if status and kind == 'Node':
        o['status'] = status  # its controller would answer first
    code, made, _ = send('POST', at, json.dumps(o))
    if code != 201:
        sys.exit('%s: %s' % (kind, made))
    at += '/' + made['metadata']['name']
    if status and kind != 'Node':
        send('PATCH', at + '/status', json.dumps({'status': status}), 'application/merge-patch+json')
    _, made, _ = send('GET', at)
    t = table(at)
    send('DELETE', at)
    made['metadata'].pop('managedFields', None)
    print(json.dumps({'apiVersion': group_version, 'kind': kind, 'object': made, 'cells': t['rows'][0]['cells'], 'columns': [
        [c['name'], c['type'], c['format'], c['priority']] for c in t['columnDefinitions']]}))


for number, row in enumerate(OBJECTS):
    if row[3] is not None:
        record(*row, number)
