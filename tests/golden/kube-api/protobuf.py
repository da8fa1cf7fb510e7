#!/usr/bin/env python3
"""protobuf.py URL TOKEN >protobuf.jsonl: objects of built-in kinds as a real kube-apiserver answers them in both forms.

One line an object: hex of the protobuf answer, and the JSON one. tests/unit/alm/apiserver/wire/test_protobuf.c decodes
the first and compares. Every kind that the server lists is asked for its newest objects; what it lacks is made first.
"""
import binascii
import json
import ssl
import sys
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
PER_KIND = 2
BYTES_MAX = 12000


def ask(method, path, accept, body=None):
    r = urllib.request.Request(url + path, data=json.dumps(body).encode() if body else None, method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Accept': accept, 'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            return a.read()
    except urllib.error.HTTPError as e:
        if method != 'DELETE':
            print(path, e.read().decode(), file=sys.stderr)
        return None


POD = {'containers': [{'name': 'c', 'image': 'i', 'command': ['a', ''], 'resources': {'limits': {'cpu': '500m', 'memory': '1Gi'}},
                       'env': [{'name': 'A', 'value': '1'}, {'name': 'B', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}},
                               {'name': 'C', 'valueFrom': {'secretKeyRef': {'name': 's', 'key': 'k', 'optional': False}}}],
                       'envFrom': [{'prefix': 'P', 'configMapRef': {'name': 'm'}}],
                       'ports': [{'containerPort': 80, 'name': 'http'}], 'volumeMounts': [{'name': 'v', 'mountPath': '/v'}],
                       'livenessProbe': {'httpGet': {'path': '/', 'port': 'http'}, 'initialDelaySeconds': 3},
                       'readinessProbe': {'tcpSocket': {'port': 80}},
                       'securityContext': {'runAsNonRoot': False, 'runAsUser': 0, 'capabilities': {'drop': ['ALL']}}}],
       'initContainers': [{'name': 'i', 'image': 'j', 'restartPolicy': 'Always'}],
       'volumes': [{'name': 'v', 'emptyDir': {'sizeLimit': '1Gi'}}, {'name': 'w', 'configMap': {'name': 'm', 'items': [
           {'key': 'k', 'path': 'p', 'mode': 256}]}}, {'name': 'x', 'projected': {'sources': [{'secret': {'name': 's'}}]}}],
       'tolerations': [{'key': 'a', 'operator': 'Exists', 'tolerationSeconds': 5, 'effect': 'NoExecute'}],
       'affinity': {'podAntiAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [
           {'weight': 1, 'podAffinityTerm': {'topologyKey': 'z', 'labelSelector': {'matchExpressions': [
               {'key': 'a', 'operator': 'In', 'values': ['b']}]}}}]}},
       'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'z', 'whenUnsatisfiable': 'ScheduleAnyway', 'minDomains': None}],
       'hostAliases': [{'ip': '1.2.3.4', 'hostnames': ['h']}], 'nodeSelector': {'none': 'here'}, 'terminationGracePeriodSeconds': 0}
META = {'labels': {'a': 'b', 'pb': ''}, 'annotations': {'note': 'ü'}, 'finalizers': []}
TEMPLATE = {'metadata': {'labels': {'a': 'b'}}, 'spec': POD}
SELECTOR = {'matchLabels': {'a': 'b'}}
SCHEMA = {'type': 'object', 'required': ['spec'], 'properties': {'spec': {
    'type': 'object', 'x-kubernetes-preserve-unknown-fields': True, 'properties': {
        'n': {'type': 'integer', 'minimum': 0, 'maximum': 1.5e3, 'default': 1, 'nullable': True},
        'l': {'type': 'array', 'items': {'type': 'string', 'enum': ['a', 'b']}, 'x-kubernetes-list-type': 'set'},
        'm': {'type': 'object', 'additionalProperties': {'type': 'string'}}, 'q': {'x-kubernetes-int-or-string': True},
        'v': {'type': 'string', 'pattern': '^a', 'x-kubernetes-validations': [{'rule': 'self != "x"', 'message': 'no'}]}}}}}
G = '/apis/'
N = 'namespaces/default/'
MAKE = [
    ('/api/v1/' + N + 'pods', {'spec': POD}), ('/api/v1/' + N + 'configmaps', {'data': {'a': '', 'b': 'c'}, 'binaryData': {'x': 'AAE='}}),
    ('/api/v1/' + N + 'secrets', {'data': {'k': 'AAE='}, 'immutable': False}),
    ('/api/v1/' + N + 'services', {'spec': {'ports': [{'port': 80, 'targetPort': 'http', 'name': 'h'}], 'selector': {'a': 'b'}}}),
    ('/api/v1/' + N + 'limitranges', {'spec': {'limits': [{'type': 'Container', 'max': {'cpu': '2'}, 'default': {'cpu': '1'}}]}}),
    ('/api/v1/' + N + 'resourcequotas', {'spec': {'hard': {'pods': '9'}, 'scopes': ['BestEffort']}}),
    ('/api/v1/' + N + 'persistentvolumeclaims', {'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}),
    ('/api/v1/persistentvolumes', {'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/x'}}}),
    ('/api/v1/' + N + 'podtemplates', {'template': TEMPLATE}),
    ('/api/v1/' + N + 'replicationcontrollers', {'spec': {'replicas': 0, 'selector': {'a': 'b'}, 'template': TEMPLATE}}),
    ('/api/v1/' + N + 'events', {'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}, 'reason': 'R', 'type': 'Normal',
                                'firstTimestamp': '2020-01-01T00:00:00Z', 'count': 3, 'source': {'component': 'c'}}),
    (G + 'apps/v1/' + N + 'deployments', {'spec': {'replicas': 0, 'selector': SELECTOR, 'template': TEMPLATE, 'paused': True}}),
    (G + 'apps/v1/' + N + 'statefulsets', {'spec': {'replicas': 0, 'serviceName': 's', 'selector': SELECTOR, 'template': TEMPLATE,
     'volumeClaimTemplates': [{'metadata': {'name': 'v'}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}]}}),
    (G + 'apps/v1/' + N + 'daemonsets', {'spec': {'selector': SELECTOR, 'template': TEMPLATE, 'updateStrategy': {'rollingUpdate': {'maxUnavailable': '10%'}}}}),
    (G + 'apps/v1/' + N + 'controllerrevisions', {'revision': 3, 'data': {'spec': {'x': [1, 'a', None]}}}),
    (G + 'batch/v1/' + N + 'cronjobs', {'spec': {'schedule': '0 0 1 1 *', 'suspend': True, 'jobTemplate': {'spec': {'template': {
        'spec': dict(POD, restartPolicy='Never')}}}}}),
    (G + 'autoscaling/v2/' + N + 'horizontalpodautoscalers', {'spec': {'maxReplicas': 3, 'scaleTargetRef': {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'},
     'metrics': [{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 50}}}]}}),
    (G + 'policy/v1/' + N + 'poddisruptionbudgets', {'spec': {'minAvailable': '50%', 'selector': SELECTOR}}),
    (G + 'networking.k8s.io/v1/' + N + 'ingresses', {'spec': {'ingressClassName': 'n', 'rules': [{'host': 'a.b', 'http': {'paths': [
        {'path': '/', 'pathType': 'Prefix', 'backend': {'service': {'name': 's', 'port': {'number': 80}}}}]}}], 'tls': [{'hosts': ['a.b'], 'secretName': 't'}]}}),
    (G + 'networking.k8s.io/v1/ingressclasses', {'spec': {'controller': 'a.b/c'}}),
    (G + 'networking.k8s.io/v1/' + N + 'networkpolicies', {'spec': {'podSelector': {}, 'policyTypes': ['Ingress'], 'ingress': [
        {'from': [{'ipBlock': {'cidr': '10.0.0.0/8', 'except': ['10.1.0.0/16']}}], 'ports': [{'port': 'http'}, {'port': 80, 'endPort': 90}]}]}}),
    (G + 'rbac.authorization.k8s.io/v1/' + N + 'roles', {'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resources': ['pods'], 'resourceNames': ['a']}]}),
    (G + 'rbac.authorization.k8s.io/v1/' + N + 'rolebindings', {'subjects': [{'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}],
     'roleRef': {'kind': 'Role', 'name': 'r', 'apiGroup': 'rbac.authorization.k8s.io'}}),
    (G + 'coordination.k8s.io/v1/' + N + 'leases', {'spec': {'holderIdentity': 'h', 'leaseDurationSeconds': 15, 'renewTime': '2020-01-01T00:00:00.000000Z'}}),
    (G + 'discovery.k8s.io/v1/' + N + 'endpointslices', {'addressType': 'IPv4', 'endpoints': [{'addresses': ['1.2.3.4'], 'conditions': {'ready': False}}],
     'ports': [{'name': '', 'port': 80}]}),
    (G + 'storage.k8s.io/v1/storageclasses', {'provisioner': 'a/b', 'parameters': {'x': 'y'}, 'allowVolumeExpansion': False}),
    (G + 'storage.k8s.io/v1/csidrivers', {'spec': {'attachRequired': False}}),
    (G + 'scheduling.k8s.io/v1/priorityclasses', {'value': -7, 'description': 'd', 'preemptionPolicy': 'Never'}),
    (G + 'node.k8s.io/v1/runtimeclasses', {'handler': 'h', 'overhead': {'podFixed': {'cpu': '1m'}}}),
    (G + 'admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {'webhooks': [{
        'name': 'a.b.c', 'clientConfig': {'url': 'https://a.b/'}, 'sideEffects': 'None', 'admissionReviewVersions': ['v1'], 'failurePolicy': 'Ignore',
        'rules': [{'apiGroups': ['none.example.com'], 'apiVersions': ['v1'], 'resources': ['x'], 'operations': ['CREATE']}]}]}),
    (G + 'admissionregistration.k8s.io/v1/validatingadmissionpolicies', {'spec': {'failurePolicy': 'Ignore', 'validations': [{'expression': 'true'}],
     'matchConstraints': {'resourceRules': [{'apiGroups': ['none.example.com'], 'apiVersions': ['v1'], 'resources': ['x'], 'operations': ['CREATE']}]}}}),
    (G + 'resource.k8s.io/v1/deviceclasses', {'spec': {'selectors': [{'cel': {'expression': 'true'}}], 'config': [
        {'opaque': {'driver': 'a.b', 'parameters': {'x': 1}}}]}}),
    (G + 'certificates.k8s.io/v1/certificatesigningrequests', None),
    (G + 'apiextensions.k8s.io/v1/customresourcedefinitions', {'spec': {'group': 'pb.example.com', 'scope': 'Cluster', 'names': {'plural': 'pbs', 'kind': 'Pb'},
     'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': SCHEMA}, 'subresources': {'status': {}, 'scale': {
         'specReplicasPath': '.spec.n', 'statusReplicasPath': '.status.n'}}, 'additionalPrinterColumns': [{'name': 'N', 'type': 'integer', 'jsonPath': '.spec.n'}]}]}}),
]
REVIEWS = [
    ('authorization.k8s.io/v1/selfsubjectaccessreviews', {'spec': {'resourceAttributes': {'verb': 'get', 'resource': 'pods'}}}),
    ('authentication.k8s.io/v1/selfsubjectreviews', {'metadata': {}}),
    ('authentication.k8s.io/v1/tokenreviews', {'spec': {'token': token}}),
]


def record(binary, text):
    if binary and text and len(binary) < BYTES_MAX:
        o = json.loads(text)
        for claim in o.get('spec', {}).get('volumeClaimTemplates', []):
            del claim['kind'], claim['apiVersion']  # defaulted; protobuf has no place for them
        print(json.dumps({'hex': binascii.hexlify(binary).decode(), 'json': o}))


made = []
for path, body in MAKE:
    if body is None:
        continue
    name = 'pbs.pb.example.com' if 'customres' in path else 'pb'
    ask('DELETE', path + '/' + name, 'application/json')
    if ask('POST', path, 'application/json', dict(body, metadata=dict(META, name=name))):
        made.append(path + '/' + name)
kinds = 0
for gv in ['/api/v1'] + [G + g['preferredVersion']['groupVersion'] for g in json.loads(ask('GET', '/apis', 'application/json'))['groups']]:
    if 'example' in gv or gv.endswith('/e.io/v1'):
        continue
    for r in json.loads(ask('GET', gv, 'application/json'))['resources']:
        if '/' in r['name'] or 'list' not in r['verbs'] or r['name'] == 'componentstatuses':
            continue
        items = json.loads(ask('GET', gv + '/' + r['name'], 'application/json'))['items']
        items.sort(key=lambda o: (o['metadata']['name'] not in ('pb', 'pbs.pb.example.com'), o['metadata']['name']))
        kinds += bool(items)
        for o in items[:PER_KIND]:
            m = o['metadata']
            path = gv + ('/namespaces/' + m['namespace'] if r['namespaced'] else '') + '/' + r['name'] + '/' + m['name']
            text = ask('GET', path, 'application/json')
            binary = ask('GET', path, 'application/vnd.kubernetes.protobuf')
            if text == ask('GET', path, 'application/json'):  # nobody wrote it meanwhile
                record(binary, text)
for path, body in REVIEWS:
    record(ask('POST', G + path, 'application/vnd.kubernetes.protobuf', body), ask('POST', G + path, 'application/json', body))
for path in made:
    ask('DELETE', path, 'application/json')
print(kinds, 'kinds', file=sys.stderr)
