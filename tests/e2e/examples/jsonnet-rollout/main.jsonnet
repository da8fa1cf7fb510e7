local app = 'dashboard';
local labels = { app: app };
{
  objects: {
    'dashboard/deployment': {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: app, namespace: 'default', labels: labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels: labels },
          spec: { containers: [{ name: app, image: 'grafana/grafana:6.0.1', ports: [{ name: 'http', containerPort: 3000 }] }] },
        },
      },
    },
    'dashboard/service': {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: app, namespace: 'default' },
      spec: { selector: labels, ports: [{ name: 'http', port: 3000 }] },
    },
  },
  rollout: {
    apiVersion: 'workflow.kubernetes.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: app },
    spec: { groups: [{ steps: [{ object: key, action: 'CreateOrUpdate' } for key in ['dashboard/deployment', 'dashboard/service']] }] },
  },
}
