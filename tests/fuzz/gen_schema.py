"""Random JSON schemas of all drafts, and values near them."""
import json

DRAFTS = [None, None, "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "https://json-schema.org/draft/2019-09/schema",
          "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/schema#", "http://json-schema.org/draft-07/schema"]
TYPES = ["string", "number", "integer", "object", "array", "boolean", "null"]
KEYS = ["a", "b", "c", "a/b", "x~y", "é", "d e"]
SCALARS = ["", "a", "abc", "1", "é€", "2020-01-02", "a@b.c", "10.0.0.1", "http://h/p", "x" * 30, 0, 1, -1, 2.5, 1e6, 5.0, 100, True, False, None, 12345678901]


def value(r, depth=2):
    k = r.random()
    if depth <= 0 or k < 0.4:
        return r.choice(SCALARS)
    if k < 0.65:
        return [value(r, depth - 1) for _ in range(r.randint(0, 4))]
    return {r.choice(KEYS): value(r, depth - 1) for _ in range(r.randint(0, 4))}


def plain(v):
    """v without 5.0: helm's messages have the digits of the schema's text, alm's those of the number."""
    return int(v) if isinstance(v, float) and v == int(v) else v


def number(r):
    return r.choice([0, 1, 2, 3, 5, -1, 2.5, 0.1, 100, 1e3])


class Schema:
    def __init__(self, r, draft):
        self.r, self.draft, self.old, self.defs = r, draft, draft is not None and "draft-04" in draft, 0

    def sub(self, depth):
        if not self.old and self.r.random() < 0.08:
            return self.r.choice([True, False])
        return self.schema(depth - 1)

    def keyword(self, depth):
        r = self.r
        name = r.choice(["type", "type", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems",
                         "uniqueItems", "items", "items", "contains", "minContains", "maxContains", "prefixItems", "additionalItems", "unevaluatedItems", "properties", "properties", "properties", "required", "required",
                         "additionalProperties", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas",
                         "unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "$ref", "title", "default", "$comment", "contentEncoding", "deprecated", "examples", "$anchor", "$dynamicRef"])
        if depth <= 0 and name not in ("type", "enum", "const", "minimum", "maximum", "minLength", "pattern", "required", "uniqueItems", "$ref", "multipleOf"):
            return {"type": r.choice(TYPES)}
        return self.of(name, depth)

    def of(self, name, depth):
        r = self.r
        keys = r.sample(KEYS, r.randint(1, 3))
        if name == "type":
            return {name: r.choice(TYPES) if r.random() < 0.75 else r.sample(TYPES, r.randint(1, 3))}
        if name in ("enum", "examples"):
            return {name: [plain(value(r, 1)) for _ in range(r.randint(1, 3))]}
        if name in ("const", "default"):
            return {name: plain(value(r, 1))}
        if name in ("exclusiveMinimum", "exclusiveMaximum") and self.old:
            return {name: r.choice([True, False]), name[9:].lower(): number(r)}
        if name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            return {name: number(r)}
        if name == "multipleOf":
            return {name: r.choice([1, 2, 0.5, 0.1, 3, 1e-3])}
        if name[:3] in ("min", "max"):
            return {name: r.choice([0, 1, 2, 3, 2.0])}
        if name == "pattern":
            return {name: r.choice(["^a", "^[a-z]+$", "\\d", "b", "^.{2,}$", "é", "(a|b)+", "^\\S+$"])}
        if name == "format":
            return {name: r.choice(["date", "date-time", "email", "ipv4", "ipv6", "uri", "hostname", "uuid", "regex", "time", "json-pointer", "x", "duration"])}
        if name in ("uniqueItems", "deprecated"):
            return {name: r.choice([True, True, False])}
        if name == "items" and r.random() < 0.3 and self.draft and "2020" not in self.draft:
            return {name: [self.sub(depth) for _ in range(r.randint(0, 2))]}
        if name in ("items", "contains", "additionalItems", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties", "not"):
            return {name: self.sub(depth) if r.random() < 0.6 or (self.old and name not in ("additionalItems", "additionalProperties")) else False}
        if name in ("prefixItems", "allOf", "anyOf", "oneOf"):
            return {name: [self.sub(depth) for _ in range(r.randint(1, 3))]}
        if name == "properties" or name == "dependentSchemas":
            return {name: {k: self.sub(depth) for k in keys}}
        if name == "required":
            return {name: keys}
        if name == "patternProperties":
            return {name: {k: self.sub(depth) for k in r.sample(["^a", "b", ".", "^x", "é"], r.randint(1, 2))}}
        if name in ("dependencies", "dependentRequired"):
            return {name: {k: r.sample(KEYS, r.randint(1, 2)) if name == "dependentRequired" or r.random() < 0.5 else self.sub(depth) for k in keys}}
        if name == "if":
            return {name: self.sub(depth), r.choice(["then", "else"]): self.sub(depth), r.choice(["then", "else"]): self.sub(depth)}
        if name == "$ref":
            return {name: r.choice(["#/definitions/d0", "#/$defs/d0", "#/definitions/d1", "#", "#/$defs/d1", "#/$defs/nope" if r.random() < 0.05 else "#/definitions/d0"])} if self.defs else {}
        if name == "$dynamicRef" or name == "$anchor":
            return {}
        return {name: r.choice(["x", "t"])}

    def schema(self, depth):
        out = {}
        for _ in range(self.r.choice([0, 1, 1, 2, 2, 3])):
            out.update(self.keyword(depth))
        return out

    def root(self):
        r = self.r
        self.defs = r.random() < 0.4
        out = {"$schema": self.draft} if self.draft else {}
        out.update(self.schema(3))
        if r.random() < 0.8:
            out["properties"] = {k: self.sub(3) for k in r.sample(KEYS, r.randint(2, 5))}
        if self.defs:
            for name in ("definitions", "$defs"):
                out[name] = {"d0": {"type": r.choice(TYPES)}, "d1": {"properties": {"a": {"$ref": "#/%s/d0" % name}}, "required": ["b"]}}
        if r.random() < 0.03:
            out.update(r.choice([{"type": "strin"}, {"required": "a"}, {"minLength": -1}, {"pattern": "("}, {"properties": []}, {"$ref": "urn:x:y"},
                                 {"items": 5}, {"enum": "x"}, {"$id": "http://h/s.json"}, {"$ref": "other.json"}, {"multipleOf": 0}]))
        return out


def schema(r):
    return Schema(r, r.choice(DRAFTS)).root()


def for_values(r, values):
    """A schema for a chart's values; mostly one they meet."""
    if r.random() < 0.4:
        return schema(r)
    return {"$schema": r.choice(DRAFTS[2:6]), "type": "object", "properties": {k: {"type": r.sample(TYPES, 5)} for k in values}}


def text(r):
    """A schema's text, now and then not JSON."""
    t = json.dumps(schema(r))
    return t if r.random() < 0.97 else r.choice(["", "{", "[]", "1", "null", "true", "{}x", "{\"a\":}", " "])
