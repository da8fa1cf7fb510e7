local config = import 'generic-operator/config';
local object = import 'lib/object.libsonnet';
{
  settings: object('ConfigMap', config) { data: { replicas: std.toString(config.replicas), level: config.log.level } },
}
