#!/usr/bin/env python3
"""api_types_merge.py OPENAPI.tsv GO.tsv... >api_types.txt: the facts of Kubernetes' built-in kinds, merged.

OPENAPI.tsv is what a kube-apiserver publishes (required, defaults, list types), GO.tsv what reflection over k8s.io/api
says (Go shapes, protobuf numbers, merge keys), and api_types_go.tsv beside this script what it says besides:
`named TYPE FIELD GO-TYPE` of a scalar, or a list or map of them, that has a name in Go, and `always TYPE FIELD` of what Go
writes though it is empty (no omitempty or omitzero; no pointer, interface or struct but a time). `make api-types
OPENAPI=... GO=...` runs it, once for a release of Kubernetes; the build itself needs only api_types.txt. See there for the
form of a line.
"""
import fileinput
import json
import sys

SCALARS = {'string', 'bool', 'int32', 'int64', 'float64', 'bytes'}
SPECIAL = {
    'api.resource.Quantity': 'Quantity', 'util.intstr.IntOrString': 'IntOrString',
    'apis.meta.v1.Time': 'Time', 'apis.meta.v1.MicroTime': 'MicroTime', 'apis.meta.v1.FieldsV1': 'FieldsV1',
    'runtime.RawExtension': 'RawExtension', 'apiextensions.v1.JSON': 'JSON',
    'apiextensions.v1.JSONSchemaPropsOrArray': 'SchemaOrArray',
    'apiextensions.v1.JSONSchemaPropsOrBool': 'SchemaOrBool',
    'apiextensions.v1.JSONSchemaPropsOrStringArray': 'SchemaOrStrings',
}
PREFIXES = (('io.k8s.apimachinery.pkg.apis.', 'apis.'), ('io.k8s.apimachinery.pkg.', ''),
            ('io.k8s.apiextensions-apiserver.pkg.apis.', ''), ('io.k8s.kube-aggregator.pkg.apis.', ''), ('io.k8s.api.', ''))
# kube-aggregator is no part of k8s.io/api: the numbers of its generated.proto.
AGGREGATOR = {
    'APIService': {'metadata': 1, 'spec': 2, 'status': 3},
    'APIServiceSpec': {'service': 1, 'group': 2, 'version': 3, 'insecureSkipTLSVerify': 4, 'caBundle': 5,
                       'groupPriorityMinimum': 7, 'versionPriority': 8},
    'APIServiceStatus': {'conditions': 1},
    'APIServiceCondition': {'type': 1, 'status': 2, 'lastTransitionTime': 3, 'reason': 4, 'message': 5},
    'ServiceReference': {'namespace': 1, 'name': 2, 'port': 3},
}
# What is sent or answered besides the kinds that OpenAPI names.
MORE = ['apis.meta.v1.DeleteOptions', 'apis.meta.v1.Status', 'apis.meta.v1.ListMeta', 'authentication.v1beta1.SelfSubjectReview']
MORE_KINDS = [('authentication.k8s.io/v1beta1', 'SelfSubjectReview', 'authentication.v1beta1.SelfSubjectReview')]


# Defaults that OpenAPI tells and that the server sets otherwise: with the feature, and by kinds/defaults.c.
NO_DEFAULT = {('core.v1.FileKeySelector', 'optional'), ('core.v1.GRPCAction', 'service')}
# What is empty in these the server fills in, so nobody sees it.
FILLED = ('batch.v1.PodFailurePolicyOnPodConditionsPattern', 'flowcontrol.v1.FlowSchemaSpec', 'flowcontrol.v1.QueuingConfiguration', 'rbac.v1.RoleRef')


def short(name):
    for prefix, to in PREFIXES:
        if name.startswith(prefix):
            return to + name[len(prefix):]
    return name


def read(openapi, go):
    props, kinds, types, fields, names, always = {}, [], {}, {}, {}, set()
    for line in open(openapi):
        f = line.rstrip('\n').split('\t')
        if f[0] == 'prop':
            props.setdefault(short(f[1]), {})[f[2]] = f[3:]
        elif f[0] == 'gvk':
            kinds.append((f[2], f[3], short(f[1])))
        elif f[0] == 'type' and f[2] == 'map-type':
            types[short(f[1])] = f[3]
    for line in fileinput.input(go):
        f = line.rstrip('\n').split('\t')
        if f[0] == 'field' and f[2] != '-':
            fields.setdefault(f[1], []).append(f[2:])
        elif f[0] == 'named':
            names[f[1], f[2]] = f[3]
        elif f[0] == 'always':
            always.add((f[1], f[2]))
    return props, kinds, types, fields, names, always


def shape_of(text):
    words = text.split()
    marks = ''
    while words[0] in ('ptr', 'list', 'map'):
        marks += {'ptr': '*', 'list': '[]', 'map': '{}'}[words.pop(0)]
    name = words[-1]
    return marks, SPECIAL.get(name, name)


def openapi_shape(text):
    marks = ''
    words = text.split()
    while words[0] in ('array', 'map'):
        marks += '[]' if words.pop(0) == 'array' else '{}'
    if words[0] == 'ref':
        words.pop(0)
    name = {'boolean': 'bool', 'integer:int32': 'int32', 'integer:int64': 'int64', 'string:byte': 'bytes'}.get(words[0], words[0])
    return marks, SPECIAL.get(short(name), short(name))


def go_fields(name, props, fields):
    if name in fields or name not in props: # the latter: a struct without fields
        return fields.get(name, [])
    numbers = AGGREGATOR[name.split('.')[-1]]
    out = []
    for key, p in props[name].items():
        if key in numbers:
            marks, of = openapi_shape(p[0])
            out.append([key, str(numbers[key]), '', '', ('*' if key in ('service', 'port') else marks, of), '', ''])
    return out


def prop_of(name, key, props, fields):
    """What OpenAPI says of a field; embedded structs have none of their own, so it is asked of any that embeds them."""
    if name in props:
        return props[name].get(key, [''] * 8)
    for outer, list_ in fields.items():
        for f in list_:
            if f[0] == '(inline)' and f[4].split()[-1] == name:
                found = prop_of(outer, key, props, fields)
                if any(found):
                    return found
    return [''] * 8


def main():
    props, kinds, types, fields, names, always = read(sys.argv[1], sys.argv[2:])
    kinds = [k for k in kinds if not k[1].endswith('List') and not k[2].startswith('apis.meta.')] + MORE_KINDS
    want = [k[2] for k in kinds] + MORE
    done = {}
    while want:
        name = want.pop()
        if name in done:
            continue
        rows = []
        for key, number, _, _, shape, merge, strategy in go_fields(name, props, fields):
            marks, of = shape_of(shape) if isinstance(shape, str) else shape
            if of == 'apis.meta.v1.TypeMeta':
                continue
            if of not in SCALARS and of not in SPECIAL.values():
                want.append(of)
            row = ['+' if key == '(inline)' else key, number, marks + of]
            required, default, list_type, keys, map_type = prop_of(name, key, props, fields)[1:6]
            if required:
                row.append('required')
            plural, is_time = '[]' in marks or '{}' in marks, of in ('Time', 'MicroTime')
            plain = not marks and of in ('string', 'int32', 'int64', 'bool')
            if (name, key) in always and name not in FILLED and (is_time or (plural or plain) and not required):
                row.append('always')
            if required and plural and (name, key) not in always and name in fields:
                row.append('omitted')
            if default and (name, key) not in NO_DEFAULT and (default not in ('""', '{}', '0', 'false') or marks == '*' and default != '{}'):
                row.append('default=' + json.dumps(json.loads(default), separators=(',', ':')))
            if list_type == 'set':
                row.append('set')
            if list_type == 'map':
                row.append('map=' + keys.replace(' ', ','))
            if map_type == 'atomic':
                row.append('atomic')
            if 'merge' in strategy.split(','):
                row.append('merge=' + merge)
            if 'retainKeys' in strategy.split(','):
                row.append('retainKeys')
            if (name, key) in names and of in (*SCALARS, 'SchemaOrStrings', 'Quantity'):
                row.append('go=' + names[name, key])
            rows.append(row)
        done[name] = sorted(rows)
    print('# The types of the built-in kinds of Kubernetes 1.36, made by api_types_merge.py. Sorted bytewise.\n'
          '#   kind GROUP/VERSION KIND TYPE\n'
          '#   TYPE [atomic]                         and indented, its fields:\n'
          '#   NAME NUMBER SHAPE [required] [always] [omitted] [default=JSON] [set] [map=KEY,...] [atomic] [merge=KEY] [retainKeys] [go=TYPE]\n'
          '# NAME + is an embedded struct, whose fields are those of its holder in JSON. NUMBER is the one in protobuf.\n'
          '# SHAPE: * a pointer, [] a list, {} a map with string keys. TYPE: what Go calls a scalar, or a list or map of them, that has a name.')
    for gv, kind, name in sorted(kinds):
        print('kind', gv, kind, name)
    for name in sorted(done):
        print(name + (' atomic' if types.get(name) == 'atomic' else ''))
        for row in done[name]:
            print('\t' + ' '.join(row))


main()
