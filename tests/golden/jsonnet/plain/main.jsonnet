{
  'web/service.yaml': {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'web' } },
  },
  'web/account.yaml': { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web' } },
}
