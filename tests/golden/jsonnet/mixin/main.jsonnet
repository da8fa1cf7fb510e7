local deployment(name, image) = {
  local labels = { app: name },
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: name, labels: labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels: labels }, spec: { containers: [{ name: name, image: image }] } },
  },
};
local scaled(n) = { spec+: { replicas: n } };
local sidecar = { spec+: { template+: { spec+: { containers+: [{ name: 'log', image: 'log:1' }] } } } };
{
  [name + '.json']: deployment(name, name + ':1.0') + scaled(if name == 'db' then 3 else 2) + sidecar
  for name in ['api', 'db', 'web']
} + { 'api.json'+: { metadata+: { annotations: { changed: 'yes' } }, assert self.spec.replicas > 1 } }
