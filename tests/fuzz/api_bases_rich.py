"""Objects of the kinds of workloads in which most fields stand, for diff_api.py --rich: what is deep in them is changed, too."""
RICH_POD = {
    'containers': [{
        'name': 'c', 'image': 'i:1', 'command': ['a'], 'args': ['b'], 'workingDir': '/w', 'imagePullPolicy': 'Always', 'stdin': True, 'tty': True,
        'ports': [{'containerPort': 80, 'name': 'http', 'hostPort': 80, 'hostIP': '1.2.3.4', 'protocol': 'TCP'}],
        'env': [{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}}, {'name': 'B', 'valueFrom': {'resourceFieldRef': {'resource': 'limits.cpu', 'divisor': '1'}}},
                {'name': 'C', 'valueFrom': {'configMapKeyRef': {'name': 'm', 'key': 'k', 'optional': True}}}],
        'envFrom': [{'prefix': 'P', 'configMapRef': {'name': 'm'}}, {'secretRef': {'name': 's', 'optional': True}}],
        'resources': {'requests': {'cpu': '1', 'memory': '1Gi', 'example.com/g': '1'}, 'limits': {'cpu': '1', 'memory': '1Gi', 'example.com/g': '1'}, 'claims': [{'name': 'rc', 'request': 'r'}]},
        'volumeMounts': [{'name': 'e', 'mountPath': '/e', 'subPath': 's', 'readOnly': True, 'mountPropagation': 'None'}, {'name': 'p', 'mountPath': '/p', 'subPathExpr': '$(A)'}],
        'volumeDevices': [{'name': 'b', 'devicePath': '/dev/x'}],
        'livenessProbe': {'exec': {'command': ['a']}, 'terminationGracePeriodSeconds': 3}, 'readinessProbe': {'tcpSocket': {'port': 80}, 'failureThreshold': 2},
        'startupProbe': {'grpc': {'port': 80, 'service': 's'}},
        'lifecycle': {'postStart': {'exec': {'command': ['a']}}, 'preStop': {'httpGet': {'path': '/', 'port': 80, 'scheme': 'HTTPS', 'httpHeaders': [{'name': 'A', 'value': 'b'}]}}},
        'securityContext': {'runAsUser': 1, 'runAsGroup': 2, 'runAsNonRoot': True, 'privileged': False, 'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True, 'procMount': 'Default',
                            'capabilities': {'add': ['A'], 'drop': ['ALL']}, 'seccompProfile': {'type': 'Localhost', 'localhostProfile': 'p'}, 'seLinuxOptions': {'level': 's0'},
                            'appArmorProfile': {'type': 'RuntimeDefault'}}}],
    'initContainers': [{'name': 'i', 'image': 'i:1', 'restartPolicy': 'Always', 'livenessProbe': {'httpGet': {'path': '/', 'port': 80}}}],
    'volumes': [{'name': 'e', 'emptyDir': {'medium': 'Memory', 'sizeLimit': '1Gi'}}, {'name': 'b', 'persistentVolumeClaim': {'claimName': 'c'}},
                {'name': 'p', 'projected': {'defaultMode': 420, 'sources': [{'configMap': {'name': 'm', 'items': [{'key': 'k', 'path': 'p', 'mode': 256}]}}, {'secret': {'name': 's'}},
                                                                            {'downwardAPI': {'items': [{'path': 'l', 'fieldRef': {'fieldPath': 'metadata.labels'}}]}}]}},
                {'name': 'f', 'ephemeral': {'volumeClaimTemplate': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}}},
                {'name': 'd', 'downwardAPI': {'items': [{'path': 'c', 'resourceFieldRef': {'containerName': 'c', 'resource': 'requests.cpu'}}]}},
                {'name': 'n', 'nfs': {'server': 's', 'path': '/p'}}, {'name': 'cs', 'csi': {'driver': 'a.b', 'volumeAttributes': {'a': 'b'}}}, {'name': 's', 'secret': {'secretName': 's', 'items': [{'key': 'k', 'path': 'p'}]}}],
    'restartPolicy': 'Always', 'terminationGracePeriodSeconds': 5, 'activeDeadlineSeconds': 9, 'dnsPolicy': 'None', 'nodeSelector': {'a': 'b'}, 'serviceAccountName': 's', 'automountServiceAccountToken': False,
    'nodeName': 'n', 'shareProcessNamespace': True, 'imagePullSecrets': [{'name': 's'}], 'hostname': 'h', 'subdomain': 's', 'schedulerName': 'x', 'priorityClassName': 'system-node-critical',
    'securityContext': {'runAsUser': 1, 'fsGroup': 2, 'supplementalGroups': [3], 'sysctls': [{'name': 'a.b', 'value': '1'}], 'fsGroupChangePolicy': 'Always', 'seccompProfile': {'type': 'RuntimeDefault'},
                        'supplementalGroupsPolicy': 'Merge'},
    'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': [{'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['b']}],
                                                                                                              'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n']}]}]},
                                    'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 1, 'preference': {'matchExpressions': [{'key': 'a', 'operator': 'Gt', 'values': ['1']}]}}]},
                 'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'z', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'namespaces': ['n'], 'matchLabelKeys': ['k']}]},
                 'podAntiAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 5, 'podAffinityTerm': {'topologyKey': 'z', 'namespaceSelector': {'matchLabels': {'a': 'b'}}}}]}},
    'tolerations': [{'key': 'a', 'operator': 'Equal', 'value': 'b', 'effect': 'NoExecute', 'tolerationSeconds': 3}], 'hostAliases': [{'ip': '1.2.3.4', 'hostnames': ['a.b']}],
    'dnsConfig': {'nameservers': ['1.1.1.1'], 'searches': ['a.b'], 'options': [{'name': 'ndots', 'value': '2'}]}, 'readinessGates': [{'conditionType': 'a.b/c'}], 'enableServiceLinks': False,
    'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'z', 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'a': 'b'}}, 'minDomains': 2, 'nodeAffinityPolicy': 'Honor'}],
    'os': {'name': 'linux'}, 'resourceClaims': [{'name': 'rc', 'resourceClaimName': 'c'}]}
RICH_TEMPLATE = {'metadata': {'labels': {'a': 'b', 'c': 'd'}, 'annotations': {'x': 'y'}}, 'spec': {k: v for k, v in RICH_POD.items() if k != 'activeDeadlineSeconds'}}
RICH_ONCE = dict({k: v for k, v in RICH_POD.items() if k != 'activeDeadlineSeconds'}, restartPolicy='Never', priorityClassName=None)
RICH_CLAIM = {'accessModes': ['ReadWriteMany', 'ReadOnlyMany'], 'resources': {'requests': {'storage': '1Gi'}, 'limits': {'storage': '2Gi'}}, 'storageClassName': 's', 'volumeMode': 'Block', 'volumeName': 'v',
              'selector': {'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'k', 'operator': 'In', 'values': ['v']}]}, 'dataSourceRef': {'kind': 'PersistentVolumeClaim', 'name': 'o'}, 'volumeAttributesClassName': 'a'}
JOB_SPEC = {'parallelism': 2, 'completions': 3, 'completionMode': 'Indexed', 'backoffLimitPerIndex': 1, 'maxFailedIndexes': 2, 'activeDeadlineSeconds': 9, 'ttlSecondsAfterFinished': 7, 'suspend': True, 'managedBy': 'a.b/c',
            'podReplacementPolicy': 'Failed', 'podFailurePolicy': {'rules': [{'action': 'FailJob', 'onExitCodes': {'containerName': 'c', 'operator': 'In', 'values': [1, 2]}},
                                                                           {'action': 'FailIndex', 'onPodConditions': [{'type': 'DisruptionTarget', 'status': 'True'}]}]},
            'successPolicy': {'rules': [{'succeededIndexes': '0,2', 'succeededCount': 1}]},
            'template': {'metadata': {'labels': {'t': 'u'}}, 'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i:1'}]}}}
SEL = {'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'c', 'operator': 'In', 'values': ['d', 'e']}]}
NS = 'namespaces/default/'


def n(**spec):
    return {'metadata': {'name': 'rich', 'labels': {'l': 'v'}, 'annotations': {'n': 'o'}, 'finalizers': ['a.b/c']}, **spec}


def pv(**source):
    return {'spec': dict({'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'persistentVolumeReclaimPolicy': 'Retain', 'mountOptions': ['ro'], 'storageClassName': 's', 'volumeMode': 'Filesystem',
                          'claimRef': {'namespace': 'default', 'name': 'c'}, 'nodeAffinity': {'required': {'nodeSelectorTerms': [{'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['b']}]}]}}}, **source)}


REF = {'name': 's', 'namespace': 'n'}
METRICS = [{'type': 'Object', 'object': {'describedObject': {'apiVersion': 'v1', 'kind': 'Service', 'name': 's'}, 'metric': {'name': 'm', 'selector': {'matchLabels': {'a': 'b'}}}, 'target': {'type': 'Value', 'value': '10'}}},
           {'type': 'Pods', 'pods': {'metric': {'name': 'm'}, 'target': {'type': 'AverageValue', 'averageValue': '5'}}},
           {'type': 'External', 'external': {'metric': {'name': 'm'}, 'target': {'type': 'AverageValue', 'averageValue': '5'}}},
           {'type': 'ContainerResource', 'containerResource': {'name': 'cpu', 'container': 'c', 'target': {'type': 'Utilization', 'averageUtilization': 5}}},
           {'type': 'Resource', 'resource': {'name': 'memory', 'target': {'type': 'AverageValue', 'averageValue': '1Gi'}}}]
BEHAVIOR = {'scaleUp': {'stabilizationWindowSeconds': 5, 'selectPolicy': 'Max', 'policies': [{'type': 'Pods', 'value': 1, 'periodSeconds': 9}, {'type': 'Percent', 'value': 50, 'periodSeconds': 9}], 'tolerance': '0.1'},
            'scaleDown': {'selectPolicy': 'Disabled', 'policies': [{'type': 'Percent', 'value': 50, 'periodSeconds': 9}]}}
RICH = [
    ('/api/v1/' + NS + 'pods', n(spec=RICH_POD)),
    ('/apis/apps/v1/' + NS + 'deployments', n(spec={'replicas': 3, 'selector': {'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'c', 'operator': 'In', 'values': ['d']}]}, 'template': RICH_TEMPLATE, 'minReadySeconds': 3, 'revisionHistoryLimit': 3,
        'paused': True, 'progressDeadlineSeconds': 60, 'strategy': {'type': 'RollingUpdate', 'rollingUpdate': {'maxSurge': '30%', 'maxUnavailable': '10%'}}})),
    ('/apis/apps/v1/' + NS + 'statefulsets', n(spec={'replicas': 2, 'serviceName': 's', 'selector': {'matchLabels': {'a': 'b'}}, 'template': RICH_TEMPLATE, 'ordinals': {'start': 1}, 'minReadySeconds': 2, 'podManagementPolicy': 'Parallel',
        'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': {'partition': 1}}, 'persistentVolumeClaimRetentionPolicy': {'whenDeleted': 'Delete', 'whenScaled': 'Retain'}, 'revisionHistoryLimit': 2,
        'volumeClaimTemplates': [{'metadata': {'name': 'd', 'labels': {'a': 'b'}}, 'spec': RICH_CLAIM}]})),
    ('/apis/apps/v1/' + NS + 'daemonsets', n(spec={'selector': {'matchLabels': {'a': 'b'}}, 'template': RICH_TEMPLATE, 'minReadySeconds': 2, 'revisionHistoryLimit': 2, 'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': {'maxSurge': 0, 'maxUnavailable': '20%'}}})),
    ('/apis/apps/v1/' + NS + 'replicasets', n(spec={'replicas': 1, 'minReadySeconds': 2, 'selector': {'matchLabels': {'a': 'b'}}, 'template': RICH_TEMPLATE})),
    ('/api/v1/' + NS + 'replicationcontrollers', n(spec={'replicas': 1, 'minReadySeconds': 2, 'selector': {'a': 'b'}, 'template': RICH_TEMPLATE})),
    ('/api/v1/' + NS + 'podtemplates', n(template=RICH_TEMPLATE)),
    ('/apis/batch/v1/' + NS + 'jobs', n(spec=JOB_SPEC)),
    ('/apis/batch/v1/' + NS + 'cronjobs', n(spec={'schedule': '*/5 1-3 * * MON', 'timeZone': 'Etc/UTC', 'startingDeadlineSeconds': 9, 'concurrencyPolicy': 'Replace', 'suspend': True, 'successfulJobsHistoryLimit': 2, 'failedJobsHistoryLimit': 0,
        'jobTemplate': {'metadata': {'labels': {'j': 'k'}}, 'spec': JOB_SPEC}})),
    ('/api/v1/' + NS + 'services', n(spec={'type': 'LoadBalancer', 'selector': {'a': 'b'}, 'ports': [{'port': 80, 'name': 'a', 'appProtocol': 'http', 'targetPort': 8080}, {'port': 53, 'name': 'b', 'protocol': 'UDP'}],
        'externalTrafficPolicy': 'Local', 'internalTrafficPolicy': 'Cluster', 'sessionAffinity': 'ClientIP', 'sessionAffinityConfig': {'clientIP': {'timeoutSeconds': 9}}, 'loadBalancerSourceRanges': ['10.0.0.0/8'], 'loadBalancerClass': 'a.b/c',
        'allocateLoadBalancerNodePorts': True, 'externalIPs': ['1.2.3.4'], 'ipFamilyPolicy': 'SingleStack', 'ipFamilies': ['IPv4'], 'publishNotReadyAddresses': True, 'trafficDistribution': 'PreferClose'})),
    ('/api/v1/' + NS + 'services', dict(n(spec={'type': 'ExternalName', 'externalName': 'a.b', 'ports': [{'port': 80}]}), metadata={'name': 'named'})),
    ('/api/v1/' + NS + 'services', dict(n(spec={'clusterIP': 'None', 'selector': {'a': 'b'}}), metadata={'name': 'headless'})),
    ('/apis/policy/v1/' + NS + 'poddisruptionbudgets', n(spec={'maxUnavailable': '50%', 'selector': SEL, 'unhealthyPodEvictionPolicy': 'AlwaysAllow'})),
    ('/apis/autoscaling/v2/' + NS + 'horizontalpodautoscalers', n(spec={'minReplicas': 2, 'maxReplicas': 5, 'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'metrics': METRICS, 'behavior': BEHAVIOR})),
    ('/api/v1/' + NS + 'persistentvolumeclaims', n(spec=RICH_CLAIM)),
    ('/api/v1/' + NS + 'persistentvolumeclaims', dict(n(spec=dict(RICH_CLAIM, dataSource={'apiGroup': 'snapshot.storage.k8s.io', 'kind': 'VolumeSnapshot', 'name': 's'}, dataSourceRef={'apiGroup': 'snapshot.storage.k8s.io', 'kind': 'VolumeSnapshot', 'name': 's'})), metadata={'name': 'snap'})),
    ('/api/v1/persistentvolumes', dict(pv(csi={'driver': 'a.b', 'volumeHandle': 'h', 'fsType': 'ext4', 'readOnly': True, 'volumeAttributes': {'a': 'b'}, 'controllerPublishSecretRef': REF, 'nodeStageSecretRef': REF, 'nodePublishSecretRef': REF, 'controllerExpandSecretRef': REF, 'nodeExpandSecretRef': REF}, volumeAttributesClassName='v'), metadata={'name': 'p-csi'})),
    ('/api/v1/persistentvolumes', dict(pv(iscsi={'targetPortal': '1.2.3.4', 'iqn': 'iqn.2001-04.com.example:a', 'lun': 1, 'portals': ['1.2.3.5'], 'initiatorName': 'iqn.2001-04.com.example:b', 'chapAuthSession': True, 'secretRef': REF}), metadata={'name': 'p-iscsi'})),
    ('/api/v1/persistentvolumes', dict(pv(local={'path': '/a'}), metadata={'name': 'p-local'})),
    ('/api/v1/persistentvolumes', dict(pv(nfs={'server': 's', 'path': '/p'}), metadata={'name': 'p-nfs'})),
    ('/api/v1/persistentvolumes', dict(pv(fc={'targetWWNs': ['a'], 'lun': 1}), metadata={'name': 'p-fc'})),
    ('/api/v1/persistentvolumes', dict(pv(rbd={'monitors': ['a'], 'image': 'i', 'secretRef': REF}), metadata={'name': 'p-rbd'})),
    ('/api/v1/persistentvolumes', dict(pv(cephfs={'monitors': ['a'], 'secretRef': REF}), metadata={'name': 'p-ceph'})),
    ('/api/v1/persistentvolumes', dict(pv(azureFile={'secretName': 's', 'shareName': 'n', 'secretNamespace': 'x'}), metadata={'name': 'p-azf'})),
    ('/api/v1/persistentvolumes', dict(pv(flexVolume={'driver': 'a/b', 'secretRef': REF, 'options': {'a': 'b'}}), metadata={'name': 'p-flex'})),
    ('/api/v1/persistentvolumes', dict(pv(scaleIO={'gateway': 'g', 'system': 's', 'volumeName': 'v', 'secretRef': REF}), metadata={'name': 'p-sio'})),
    ('/api/v1/nodes', n(spec={'podCIDR': '10.1.0.0/24', 'podCIDRs': ['10.1.0.0/24'], 'providerID': 'a://b', 'taints': [{'key': 'a', 'value': 'b', 'effect': 'NoExecute'}, {'key': 'c', 'effect': 'NoSchedule'}]})),
    ('/api/v1/' + NS + 'endpoints', n(subsets=[{'addresses': [{'ip': '1.2.3.4', 'hostname': 'h', 'nodeName': 'n', 'targetRef': {'kind': 'Pod', 'name': 'p', 'namespace': 'default'}}], 'notReadyAddresses': [{'ip': '1.2.3.5'}],
        'ports': [{'port': 80, 'name': 'a', 'protocol': 'TCP', 'appProtocol': 'http'}, {'port': 81, 'name': 'b'}]}])),
    ('/api/v1/' + NS + 'configmaps', dict(n(data={'a': 'b'}, binaryData={'c': 'YQ=='}, immutable=True), metadata={'name': 'rich'})),
    ('/api/v1/' + NS + 'secrets', dict(n(type='kubernetes.io/basic-auth', data={'username': 'YQ=='}), metadata={'name': 'basic'})),
    ('/api/v1/' + NS + 'secrets', dict(n(type='kubernetes.io/ssh-auth', data={'ssh-privatekey': 'YQ=='}, immutable=True), metadata={'name': 'ssh'})),
    ('/api/v1/' + NS + 'secrets', dict(n(type='kubernetes.io/service-account-token'), metadata={'name': 'sat', 'annotations': {'kubernetes.io/service-account.name': 'default'}})),
    ('/api/v1/' + NS + 'serviceaccounts', n(secrets=[{'name': 'a'}, {'name': 'b', 'namespace': 'x'}], imagePullSecrets=[{'name': 'c'}], automountServiceAccountToken=False)),
    ('/api/v1/' + NS + 'events', n(involvedObject={'namespace': 'default', 'kind': 'Pod', 'name': 'p', 'uid': 'u', 'apiVersion': 'v1', 'fieldPath': 'spec'}, reason='r', message='m', type='Warning', count=3, firstTimestamp='2026-01-01T00:00:00Z',
        lastTimestamp='2026-01-01T00:00:00Z', source={'component': 'c', 'host': 'h'}, reportingComponent='a.b/c', reportingInstance='i', action='x')),
    ('/apis/apps/v1/' + NS + 'controllerrevisions', n(revision=3, data={'spec': {'a': [1, 2]}})),
]
