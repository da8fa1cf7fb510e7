{
  cm: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'text' },
    data: {
      script: |||
        #!/bin/sh
        import 'no/import'
          indented

        echo "||| is text"
      |||,
      verbatim: @'C:\temp\n it''s',
      double: @"say ""no""",
      escapes: "tab\tquote\"unicode\u00e9\u0041",
    },
  },
}
