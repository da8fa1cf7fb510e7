{
  hidden:: 'not seen',
  objects: { one: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'prod' } } },
  rollout: {
    apiVersion: 'workflow.kubernetes.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'r' },
    spec: { groups: [{ name: 'g', steps: [{ name: 's', object: 'one', action: 'CreateOrUpdate' }] }] },
  },
}
