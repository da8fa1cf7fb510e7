// The Deployment of a Grafana of that name.
{
  deployment(name, namespace, replicas):: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: name, namespace: namespace, labels: { app: name } },
    spec: {
      replicas: replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [{
            name: 'grafana',
            image: 'grafana/grafana:10.4.2',
            ports: [{ name: 'http', containerPort: 3000 }],
          }],
        },
      },
    },
  },
}
