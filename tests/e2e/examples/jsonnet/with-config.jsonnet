// Configured by a file, or by the object that began the run.
local grafana = import 'grafana.libsonnet';
local config = import 'generic-operator/config';
{
  deployment: grafana.deployment('grafana-' + config.metadata.name, config.metadata.namespace, config.spec.replicas),
}
