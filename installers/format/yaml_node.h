/*
 * yaml_node: the nodes of one YAML document, before scalars mean anything. Made by yaml_node.c from
 * libyaml's events, read by yaml_go.c. Everything is in the arena, but a scalar that stands in the
 * text as it is points there.
 */
#ifndef INSTALLERS_FORMAT_YAML_NODE_H
#define INSTALLERS_FORMAT_YAML_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alm/base/arena.h"
#include "alm/base/str.h"
#include "alm/base/strbuf.h"

enum yaml_node_kind { YAML_NODE_SCALAR, YAML_NODE_LIST, YAML_NODE_MAP, YAML_NODE_ALIAS };

/* There are several for each line of a document: 40 bytes. */
struct yaml_node {
	uint8_t kind;     /* enum yaml_node_kind */
	bool implicit;    /* a plain scalar without a tag */
	bool is_forced;   /* with the tag "!": a string, but merges if it is "<<" */
	bool visiting;    /* of the decoder: an alias below it would contain itself */
	int line;         /* from 1 */
	const char *tag;  /* NULL if none */
	const char *name; /* of the anchor or alias */
	union {
		struct str text;          /* of a scalar */
		struct yaml_node *target; /* of an alias */
		struct {
			struct yaml_node **items; /* of a map: key, value, key, value ... */
			uint32_t n, cap;
		};
	};
};

#define YAML_NODE_DEPTH_MAX 1000
#define YAML_NODE_FLOW_MAX  100 /* libyaml takes quadratic time in flow depth */
#define YAML_NODES_MAX      2000000

/* A text that ends so was cut: "invalid leading UTF-8 octet", but only for who reads to the end. */
#define YAML_NODE_CUT "\xff\xff"

/* The first document; *ret is NULL if there is none. On failure the text of Go's yaml.v2 without
 * "yaml: " is in msg. */
int yaml_node_read(struct arena *a, struct str text, struct yaml_node **ret, struct strbuf *msg);

#endif
