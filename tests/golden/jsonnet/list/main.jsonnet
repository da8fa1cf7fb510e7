{
  roles: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleList',
    items: [{ metadata: { name: 'r%d' % i, namespace: ns }, rules: [] } for i in [1, 2] for ns in ['a', 'b']],
  },
}
