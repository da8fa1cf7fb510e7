local grafana = import 'grafana.libsonnet';
{
  objects: { 'grafana/deployment': grafana.deployment('grafana-jsonnet', 'default', 1) },
  rollout: {
    apiVersion: 'workflow.kubernetes.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'grafana-jsonnet' },
    spec: { groups: [{ steps: [{ object: 'grafana/deployment', action: 'CreateOrUpdate' }] }] },
  },
}
