local late = import 'base/name.libsonnet', early = import 'base/only.libsonnet';
{ a: early.map(late.name) }
