#!/usr/bin/env python3
"""told.py URL TOKEN >told.jsonl: what a real kube-apiserver tells of valid objects (Warnings), and what Pods, claims and Ingresses get
from classes and from the network of the node. tests/unit/alm/apiserver/admission/test_class.c sends the same to ours. Recorded on
1.36, without a controller manager. What a Go map has in another order each time stands alone here."""
import time

from recorder import APPLY, JSON, MERGE, ask

NS = '/namespaces/default/'
PODS = '/api/v1' + NS + 'pods'
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
A_CLAIM = {'metadata': {'name': 'v'}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}
STORAGE, INGRESS = '/apis/storage.k8s.io/v1/storageclasses', '/apis/networking.k8s.io/v1/ingressclasses'
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

# --- who is meant, and how it is applied ---
MAPS = '/api/v1' + NS + 'configmaps'
A_MAP = {'kind': 'ConfigMap', 'apiVersion': 'v1'}
ask('POST', MAPS, {'metadata': {'name': 'told'}})
for meta in ({'name': 'told', 'namespace': 'other'}, {'name': 'x', 'namespace': 'other'}, {'name': 'x'}, {}):
    ask('PUT', MAPS + '/told' + DRY, {'metadata': meta})
for meta in ({'name': None}, {'name': 'x'}, {'namespace': 'x'}):
    ask('PATCH', MAPS + '/told' + DRY, {'metadata': meta}, MERGE)
ask('PATCH', MAPS + '/told' + DRY + '&fieldManager=a', dict(A_MAP, metadata={}), APPLY)
ask('PATCH', MAPS + '/told?fieldManager=a', dict(A_MAP, metadata={'name': 'told'}, data={'a': 'b'}), APPLY)
for data in ('b', 'c'):  # whose it is is told in front of a revision that is none
    ask('PATCH', MAPS + '/told' + DRY + '&fieldManager=b', dict(A_MAP, metadata={'name': 'told', 'resourceVersion': 'x'}, data={'a': data}), APPLY)
ask('DELETE', MAPS + '/told')
DEPLOY = '/apis/apps/v1' + NS + 'deployments/told' + DRY + '&fieldManager=m'
for key in ('env', 'volumeMounts', 'ports'):  # items without their keys
    ask('PATCH', DEPLOY, {'kind': 'Deployment', 'apiVersion': 'apps/v1', 'metadata': {'name': 'told'}, 'spec': {
        'selector': SELECTOR, 'template': dict(TEMPLATE, spec={'containers': [dict(C, **{key: [{}]})]})}}, APPLY)
for key in ('imagePullSecrets', 'volumes', 'hostAliases', 'containers'):
    ask('PATCH', DEPLOY, {'kind': 'Deployment', 'apiVersion': 'apps/v1', 'metadata': {'name': 'told'}, 'spec': {
        'selector': SELECTOR, 'template': dict(TEMPLATE, spec=dict({'containers': [C]}, **{key: [{}]}))}}, APPLY)

# --- events, zones, devices, names of hosts ---
EVENTS, MODERN = '/api/v1' + NS + 'events', '/apis/events.k8s.io/v1' + NS + 'events'
T, P1 = '2020-01-01T00:00:00.123456Z', {'kind': 'Pod', 'name': 'p', 'namespace': 'default'}
L = 'x' * 129
for event in ({}, {'eventTime': T}, {'eventTime': T, 'reportingComponent': 'x/y z', 'reportingInstance': L, 'action': L, 'reason': L, 'message': 'x' * 1025},
              {'eventTime': T, 'reportingComponent': 'x/y', 'reportingInstance': 'x', 'action': 'x', 'reason': 'x', 'involvedObject': dict(P1, namespace='x')}):
    ask('POST', EVENTS + DRY, dict({'metadata': {'name': 'told'}, 'involvedObject': P1}, **event))
EVENT = {'metadata': {'name': 'told'}, 'regarding': P1, 'eventTime': T, 'reportingController': 'a.b/c', 'reportingInstance': 'i', 'action': 'a', 'reason': 'r',
         'type': 'Normal', 'note': 'n'}
for event in ({'metadata': {'name': 'told'}, 'regarding': P1}, {'metadata': {'name': 'told'}, 'regarding': P1, 'eventTime': T}, dict(EVENT, series={}),
              dict(EVENT, type='X', deprecatedCount=1, deprecatedFirstTimestamp=T, deprecatedLastTimestamp=T, deprecatedSource={'host': 'h'})):
    ask('POST', MODERN + DRY, event)
ask('POST', MODERN, EVENT)
ask('PUT', MODERN + '/told' + DRY, dict(EVENT, note='m', type='Warning', reason='q'))
for event in ({'series': {'count': 2, 'lastObservedTime': T}}, {'series': {'count': 0}}, {'reportingController': 'z', 'eventTime': '2021' + T[4:]}):
    ask('PATCH', MODERN + '/told' + DRY, event, MERGE)
ask('PATCH', EVENTS + '/told' + DRY, {'reportingComponent': 'z', 'reason': 'y'}, MERGE)
ask('DELETE', MODERN + '/told')
for zone in ('Europe/Berlin', 'Europe/Berln', 'v1', '', 'Etc/UTC'):
    ask('POST', '/apis/batch/v1' + NS + 'cronjobs' + DRY, {'metadata': {'name': 'told'}, 'spec': {
        'schedule': '* * * * *', 'timeZone': zone, 'jobTemplate': {'spec': {'template': {'spec': {'containers': [C], 'restartPolicy': 'Never'}}}}}})
CLAIMED = {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c', 'adminAccess': True}}]}}
ask('POST', '/api/v1/namespaces', {'metadata': {'name': 'told-admin', 'labels': {'resource.kubernetes.io/admin-access': 'true'}}})
for ns in ('default', 'told-admin'):
    ask('POST', '/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims' % ns + DRY, {'metadata': {'name': 'told'}, 'spec': CLAIMED})
    ask('POST', '/apis/resource.k8s.io/v1/namespaces/%s/resourceclaimtemplates' % ns + DRY, {'metadata': {'name': 'told'}, 'spec': {'spec': CLAIMED}})
for host in ('*', '*.a.b', '*a.b', 'a.*.b', 'A.b', 'a.b'):
    ask('POST', INGRESSES, {'metadata': {'name': 'told'}, 'spec': dict(BACK, ingressClassName='x', rules=[{'host': host}], tls=[{'hosts': [host], 'secretName': host}])})
ask('POST', INGRESSES.split('?')[0], {'metadata': {'name': 'told'}, 'spec': dict(BACK, ingressClassName='x')})
for host in ('A', 'a.b'):
    ask('PATCH', INGRESSES.replace('?', '/told/status?'), {'status': {'loadBalancer': {'ingress': [{'hostname': host}]}}}, MERGE)
ask('DELETE', INGRESSES.replace(DRY, '/told'))
SETS = '/apis/apps/v1' + NS + 'statefulsets'
for more, claim in (({'hostname': 'A.b', 'subdomain': 'X'}, 'd'), ({}, '50%')):
    ask('POST', SETS + DRY, {'metadata': {'name': 'told'}, 'spec': {'selector': SELECTOR, 'serviceName': 's', 'template': dict(TEMPLATE, spec=dict(
        more, containers=[C])), 'volumeClaimTemplates': [{'metadata': {'name': claim}, 'spec': A_CLAIM['spec']}]}})
ask('POST', SETS, {'metadata': {'name': 'told'}, 'spec': {'selector': SELECTOR, 'serviceName': 's', 'template': dict(TEMPLATE, spec={'containers': [C]}),
                                                         'volumeClaimTemplates': [{'metadata': {'name': 'd'}, 'spec': A_CLAIM['spec']}]}})
ask('PATCH', SETS + '/told' + DRY, {'spec': {'volumeClaimTemplates': [{'metadata': {'name': 'd'}, 'spec': {}}]}}, MERGE)
ask('DELETE', SETS + '/told')
DRIVERS = '/apis/storage.k8s.io/v1/csidrivers'
ask('POST', DRIVERS + DRY, {'metadata': {'name': 'told'}}, JSON, ('spec',))
STOPS = dict(C, lifecycle={'stopSignal': 'SIGCONT'})
for path, spec in (('/api/v1' + NS + 'pods', {'containers': [STOPS], 'initContainers': [dict(STOPS, name='i')], 'schedulingGroup': {'podGroupName': 'x'}}),):
    ask('POST', path + DRY, {'metadata': {'name': 'told'}, 'spec': spec}, JSON, ('spec.containers', 'spec.initContainers', 'spec.schedulingGroup'))

# --- what schemas may not say ---
STRING, OBJECT = {'type': 'string'}, {'type': 'object'}
KEEP, MAP = 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-map-type'
for root, a in (({'$schema': 'x'}, STRING), ({}, {'$schema': 'x', **STRING}), ({'nullable': True}, STRING), ({'additionalItems': {}}, STRING),
                ({'additionalProperties': False}, STRING), ({'additionalProperties': STRING}, STRING), ({}, {'dependencies': {'a': ['b']}, **STRING}),
                ({}, {MAP: 'x', **OBJECT}), ({}, {MAP: 'atomic', **STRING}), ({}, {MAP: 'atomic'}), ({MAP: 'granular'}, STRING), ({}, {KEEP: False, **OBJECT}),
                ({KEEP: False, 'nullable': True, '$schema': 'x'}, STRING), ({}, {'additionalItems': False, **STRING}), ({}, {'items': [STRING], **STRING}),
                ({}, {'$ref': '', **STRING})):
    made = crd(a)
    made['spec']['versions'][0]['schema']['openAPIV3Schema'].update(root)
    ask('POST', CRD + DRY, made)

# --- and single values ---
ask('POST', '/api/v1/persistentvolumes' + DRY, {'metadata': {'name': 'v'}, 'spec': dict(VOLUME, persistentVolumeReclaimPolicy='a')})
ask('POST', PODS, pod('told'))
for quality in ('BestEffort', 'Guaranteed'):
    ask('PATCH', PODS + '/told/status' + DRY, {'status': {'qosClass': quality}}, MERGE)
ask('PUT', PODS + '/told/status' + DRY, dict(pod('told'), status={'phase': 'Running'}), JSON, ('status.qosClass',))
ask('DELETE', PODS + '/told?gracePeriodSeconds=0')
