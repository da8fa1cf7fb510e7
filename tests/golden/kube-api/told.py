#!/usr/bin/env python3
"""told.py URL TOKEN >told.jsonl: what a real kube-apiserver tells of valid objects (Warnings), and what Pods, claims and Ingresses get
from classes and from the network of the node. tests/unit/alm/apiserver/admission/test_class.c sends the same to ours. Recorded on
1.36, without a controller manager. What a Go map has in another order each time stands alone here."""
import time

from recorder import JSON, MERGE, ask

NS = '/namespaces/default/'
PODS, MAPS = '/api/v1' + NS + 'pods', '/apis/networking.k8s.io/v1'
DRY = '?dryRun=All'
SPREAD = {'maxSkew': 1, 'topologyKey': 'x', 'whenUnsatisfiable': 'DoNotSchedule'}
TERM = {'topologyKey': 'x'}
C = {'name': 'c', 'image': 'i:1'}


def pod(name='p', annotations=None, containers=None, **spec):
    return {'metadata': dict({'name': name}, **({'annotations': annotations} if annotations else {})),
            'spec': dict({'containers': containers or [C]}, **spec)}


def port(n, **more):
    return dict({'containerPort': n}, **more)


# --- warnings of Pods ---
E = {'name': 'A', 'value': '1'}
NODES = {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': [{'matchExpressions': [
    {'key': 'beta.kubernetes.io/os', 'operator': 'In', 'values': ['x']}]}]},
    'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 1, 'preference': {'matchExpressions': [
        {'key': 'node-role.kubernetes.io/master', 'operator': 'In', 'values': ['-x']}]}}]}
PODS_OF = {'requiredDuringSchedulingIgnoredDuringExecution': [TERM],
           'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 1, 'podAffinityTerm': TERM}]}
for p in (
        pod('a.b'), pod(nodeSelector={'beta.kubernetes.io/arch': 'x'}), pod(affinity={'nodeAffinity': NODES}),
        pod(affinity={'podAffinity': PODS_OF, 'podAntiAffinity': PODS_OF}), pod(topologySpreadConstraints=[SPREAD]),
        pod(topologySpreadConstraints=[dict(SPREAD, topologyKey='failure-domain.beta.kubernetes.io/zone', labelSelector={})]),
        pod(annotations={'scheduler.alpha.kubernetes.io/critical-pod': '', 'security.alpha.kubernetes.io/sysctls': 'x'}),
        pod(volumes=[{'name': 'a', 'gitRepo': {'repository': 'x'}}, {'name': 'b', 'glusterfs': {'endpoints': 'e', 'path': 'p'}}]),
        pod(hostAliases=[{'ip': '1.1.1.1'}, {'ip': '1.1.1.1'}]), pod(imagePullSecrets=[{'name': 'a'}, {'name': 'a'}, {}]),
        pod(containers=[dict(C, resources={'limits': {'memory': '100m', 'ephemeral-storage': '1.5'}, 'requests': {'memory': '50m', 'cpu': '50m'}})]),
        pod(containers=[dict(C, env=[E, E, {'name': 'A', 'value': '$(A)'}, {'name': 'A', 'value': '$(A)x'}, {'name': 'B', 'value': 'x'}])]),
        pod(containers=[dict(C, env=[E, {'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}}])]),
        pod(containers=[dict(C, ports=[port(80), port(80), port(80, hostPort=1), port(80, protocol='UDP')])]),
        pod(containers=[dict(C, ports=[port(80, hostPort=1, hostIP='1.1.1.1'), port(80, hostPort=1), port(81, hostIP='1.1.1.1')])]),
        pod(containers=[dict(C, ports=[port(80, name='a')]), dict(C, name='d', ports=[port(81, name='a')])])):
    ask('POST', PODS + DRY, p)
ENV = pod(containers=[dict(C, env=[E, E])])['spec']
TEMPLATE = {'metadata': {'labels': {'a': 'b'}}, 'spec': ENV}
SELECTOR = {'matchLabels': {'a': 'b'}}
ask('POST', PODS + DRY, pod(terminationGracePeriodSeconds=-1), JSON, ('spec.terminationGracePeriodSeconds',))
ENDS = dict(TEMPLATE, spec=dict(ENV, restartPolicy='Never'))
CLAIM = {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1500m'}}}
for path, spec in (('/apis/apps/v1' + NS + 'deployments', {'selector': SELECTOR, 'template': TEMPLATE}),
                   ('/apis/apps/v1' + NS + 'replicasets', {'selector': SELECTOR, 'template': TEMPLATE}),
                   ('/apis/apps/v1' + NS + 'daemonsets', {'selector': SELECTOR, 'template': TEMPLATE}),
                   ('/apis/apps/v1' + NS + 'statefulsets', {'selector': SELECTOR, 'template': TEMPLATE, 'serviceName': 's', 'revisionHistoryLimit': -1,
                                                            'volumeClaimTemplates': [{'metadata': {'name': 'd'}, 'spec': CLAIM}]}),
                   ('/apis/batch/v1' + NS + 'jobs', {'template': ENDS, 'completions': 100001, 'parallelism': 10001, 'completionMode': 'Indexed'}),
                   ('/apis/batch/v1' + NS + 'cronjobs', {'schedule': '* * * * *', 'jobTemplate': {'spec': {'template': ENDS}}}),
                   ('/api/v1' + NS + 'replicationcontrollers', {'template': dict(TEMPLATE, spec=dict(ENV, terminationGracePeriodSeconds=-1))})):
    ask('POST', path + DRY, {'metadata': {'name': 'a.b'}, 'spec': spec})
    ask('POST', path, {'metadata': {'name': 'w'}, 'spec': spec})
    ask('PATCH', path + '/w' + DRY, {'metadata': {'labels': {'x': 'y'}}}, MERGE)
    if '/apps/' in path:
        ask('PATCH', path + '/w' + DRY, {'spec': {'template': {'metadata': {'annotations': {'x': 'y'}}}}}, MERGE)
    ask('DELETE', path + '/w?propagationPolicy=Background')

# --- and of others ---
CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


def crd(*schemas):
    return {'metadata': {'name': 'tolds.x.io'}, 'spec': {'group': 'x.io', 'scope': 'Namespaced', 'names': {'plural': 'tolds', 'kind': 'Told'}, 'versions': [
        {'name': 'v%d' % (i + 1), 'served': True, 'storage': not i, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'a': s}}}}
        for i, s in enumerate(schemas)]}}


for s in ({'type': 'integer', 'format': 'int32'}, {'type': 'integer', 'format': 'uint32'}, {'type': 'string', 'format': 'int32'},
          {'type': 'number', 'format': 'float'}, {'type': 'string', 'format': 'date-time'}, {'type': 'string', 'format': 'k8s-short-name'},
          {'type': 'array', 'items': {'type': 'string', 'format': 'x'}}, {'type': 'boolean', 'format': 'byte'},
          {'type': 'object', 'properties': {'format': {'type': 'string', 'default': 'x'}}}):
    ask('POST', CRD + DRY, crd(s))
ask('POST', CRD + DRY, crd({'type': 'string', 'format': 'x'}, {'type': 'string', 'format': 'x'}))
ask('POST', CRD + DRY, crd({'type': 'string', 'format': 'x'}, {'type': 'string', 'format': 'y'}))
SERVICES = '/api/v1' + NS + 'services' + DRY
P = {'ports': [{'port': 80}]}
for spec in (dict(P, clusterIP='None', sessionAffinity='ClientIP', externalIPs=['1.1.1.1'], loadBalancerIP='1.1.1.1'), dict(P, externalIPs=['1.1.1.1']),
             {'type': 'ExternalName', 'externalName': 'a.b', 'externalIPs': ['1.1.1.1']}, dict(P, externalName='a.b'), dict(P, trafficDistribution='PreferClose')):
    ask('POST', SERVICES, {'metadata': {'name': 's', 'annotations': {'service.kubernetes.io/topology-aware-hints': 'auto'}}, 'spec': spec})
BACK = {'defaultBackend': {'service': {'name': 's', 'port': {'number': 80}}}}
INGRESSES = '/apis/networking.k8s.io/v1' + NS + 'ingresses' + DRY
CLASSED = {'kubernetes.io/ingress.class': 'x'}
CLASS = ('spec.ingressClassName',)
for spec, annotations in ((BACK, CLASSED), (dict(BACK, ingressClassName='x'), {})):
    ask('POST', INGRESSES, {'metadata': {'name': 'i', 'annotations': annotations}, 'spec': spec}, JSON, CLASS)
BETA = {'volume.beta.kubernetes.io/storage-class': 'x'}
VOLUME = {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/x'}}
ask('POST', '/api/v1/persistentvolumes' + DRY, {'metadata': {'name': 'v', 'annotations': BETA}, 'spec': dict(VOLUME, persistentVolumeReclaimPolicy='Recycle')})
CLAIMS = '/api/v1' + NS + 'persistentvolumeclaims' + DRY
ask('POST', CLAIMS, {'metadata': {'name': 'v', 'annotations': BETA}, 'spec': CLAIM})
ask('POST', '/apis/discovery.k8s.io/v1' + NS + 'endpointslices' + DRY, {'metadata': {'name': 'e'}, 'addressType': 'FQDN', 'endpoints': [{'addresses': ['a.b']}]})
ask('POST', '/api/v1/nodes' + DRY, {'metadata': {'name': 'n'}, 'spec': {'externalID': 'x'}})

# --- in the network of the node; generations ---
LISTENS = pod('told', containers=[dict(C, ports=[port(80), port(81, hostPort=81)])], hostNetwork=True)
SEEN = ('spec.containers', 'metadata.generation', 'spec.tolerations')
ask('POST', PODS, LISTENS, JSON, SEEN)
ask('PUT', PODS + '/told' + DRY, LISTENS, JSON, SEEN)
ask('PATCH', PODS + '/told', {'metadata': {'labels': {'a': 'b'}}}, MERGE, SEEN)
ask('PATCH', PODS + '/told', {'spec': {'activeDeadlineSeconds': 100}}, MERGE, SEEN)
ask('PATCH', PODS + '/told/status', {'status': {'observedGeneration': 2}}, MERGE, ('metadata.generation', 'status.observedGeneration'))
ask('DELETE', PODS + '/told?gracePeriodSeconds=0')
ask('POST', '/apis/apps/v1' + NS + 'deployments' + DRY, {'metadata': {'name': 'd'}, 'spec': {'selector': SELECTOR, 'template': dict(TEMPLATE, spec=LISTENS['spec'])}},
    JSON, ('spec.template.spec.containers',))

# --- classes ---
RUNTIME = '/apis/node.k8s.io/v1/runtimeclasses'
T = {'key': 'k', 'operator': 'Exists'}
ask('POST', RUNTIME, {'metadata': {'name': 'heavy'}, 'handler': 'h', 'overhead': {'podFixed': {'cpu': '10m', 'memory': '1Mi'}},
                      'scheduling': {'nodeSelector': {'x.io/a': 'b'}, 'tolerations': [T]}})
ask('POST', RUNTIME, {'metadata': {'name': 'plain'}, 'handler': 'h'})
time.sleep(1)
for spec in ({'runtimeClassName': 'heavy'}, {'runtimeClassName': 'heavy', 'overhead': {'cpu': '1'}}, {'runtimeClassName': 'heavy', 'overhead': {'cpu': '0.01', 'memory': '1Mi'}},
             {'runtimeClassName': 'plain'}, {'runtimeClassName': 'plain', 'overhead': {'cpu': '1'}}, {'overhead': {'cpu': '1'}}, {'runtimeClassName': 'none'},
             {'runtimeClassName': 'heavy', 'nodeSelector': {'x.io/a': 'c'}}, {'runtimeClassName': 'heavy', 'nodeSelector': {'z': 'c'}, 'tolerations': [T]}):
    ask('POST', PODS + DRY, pod(**spec), JSON, ('spec.overhead', 'spec.nodeSelector', 'spec.tolerations'))
STORAGE, INGRESS = '/apis/storage.k8s.io/v1/storageclasses', '/apis/networking.k8s.io/v1/ingressclasses'
A_CLAIM = {'metadata': {'name': 'v'}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}
NAMED = dict(A_CLAIM, spec=dict(A_CLAIM['spec'], storageClassName=''))


def use(claim, annotations):
    ask('POST', CLAIMS, claim, JSON, ('spec.storageClassName',))
    ask('POST', INGRESSES, {'metadata': {'name': 'i', 'annotations': annotations}, 'spec': BACK}, JSON, CLASS)


use(A_CLAIM, {})
for path, mark, body in ((STORAGE, 'storageclass', {'provisioner': 'x'}), (INGRESS, 'ingressclass', {'spec': {'controller': 'x.io/y'}})):
    for name, value in (('sa', 'false'), ('sc', 'true'), ('sb', 'true')):
        ask('POST', path, dict(body, metadata={'name': name, 'annotations': {mark + '.kubernetes.io/is-default-class': value}}))
time.sleep(1)
use(A_CLAIM, {})
use(NAMED, CLASSED)
for path in (STORAGE, INGRESS):
    for name in ('sa', 'sb', 'sc'):
        ask('DELETE', path + '/' + name)
for name in ('heavy', 'plain'):
    ask('DELETE', RUNTIME + '/' + name)
