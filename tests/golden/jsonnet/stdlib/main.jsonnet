local data = { z: 1, a: [true, null, 'x'], m: { deep: { er: 0.5 } } };
{
  cm: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'std', labels: { hash: std.md5('alm') } },
    data: {
      yaml: std.manifestYamlDoc(data),
      json: std.manifestJsonEx(data, '  '),
      ini: std.manifestIni({ main: { k: 'v' }, sections: { s: { n: 1 } } }),
      base64: std.base64('hello, world'),
      format: '%05.2f|%-6s|%x|%s' % [3.14159, 'ab', 255, { a: 1 }],
      sorted: std.toString(std.sort([3, 1, 2], function(x) -x)),
      set: std.toString(std.setUnion(['b', 'a'], ['c', 'a'])),
      join: std.join(',', [std.asciiUpper(c) for c in std.split('a-b-c', '-')]),
      fold: std.toString(std.foldl(function(a, b) a * 2 + b, std.range(1, 20), 0)),
      pruned: std.toString(std.prune({ a: null, b: [], c: { d: {} }, e: 1 })),
      escaped: std.escapeStringBash("it's") + std.escapeStringJson('"\n'),
      patched: std.toString(std.mergePatch({ a: 1, b: 2 }, { a: null, c: 3 })),
    },
  },
}
