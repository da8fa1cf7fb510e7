{
  x: {
    apiVersion: 'example.com/v1',
    kind: 'Numbers',
    metadata: { name: 'n' },
    spec: {
      port: 8080,
      big: 9007199254740991,
      negative: -17,
      float: 0.1 + 0.2,
      half: 0.5,
      exp: 1e21,
      tiny: 1e-7,
      million: 1000000.0,
      div: 7 / 2,
      mod: 7 % 3,
      shift: 1 << 10,
      negzero: -0,
    },
  },
}
