local config = import 'generic-operator/config', same = import 'alm-runtime/config', old = import 'locutus-runtime/config';
{
  ['%s/deployment' % config.name]: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: config.name, namespace: same.namespace },
    data: { same: std.toString(config == same && same == old), tags: std.join(' ', config.tags) },
  },
}
