/*
 * yaml: YAML manifests <-> obj, scalars resolved as kubectl does (YAML 1.1, sigs.k8s.io/yaml;
 * story.md 12 "Traps"). Events of libyaml; flow depth <= 100, depth <= OBJ_DEPTH_MAX, 1,000
 * anchors, aliases expand to at most 1 M nodes and 100 times the text, 4 M nodes in all
 * (reliability.md 5).
 */
#ifndef ALM_OBJ_YAML_H
#define ALM_OBJ_YAML_H

#include "alm/base/carried.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

struct yaml_document {
	struct obj *value; /* owned; a document of only comments is left out */
	int line;          /* of its first node, from 1 */
	size_t n_duplicates;
	char **duplicates; /* owned: "line 6: key \"size\" already set in map" */
};

struct yaml_documents {
	struct yaml_document *items;
	size_t n;
};
void yaml_documents_release(struct yaml_documents *d);

#define YAML_DOCUMENTS_MAX 10000
#define YAML_BYTES_MAX     ((size_t)16 << 20)
#define YAML_NODES_MAX     ((size_t)4 << 20)

/* JSON is YAML. E_BADREQUEST "yaml: line N: ..." with the texts and lines of Go's library.
 * Duplicate keys: the last wins, and they are listed. */
int yaml_parse(struct str text, struct yaml_documents *ret, struct error *err);
/* E_TOOLARGE for more than nodes_max nodes, those of aliases counted. */
int yaml_parse_max(struct str text, size_t nodes_max, struct yaml_documents *ret,
		   struct error *err);
/* Exactly one document, duplicates refused. */
int yaml_parse_one(struct str text, struct obj **ret, struct error *err);
int yaml_parse_one_max(struct str text, size_t nodes_max, struct obj **ret, struct error *err);
int yaml_parse_carried(const struct carried_text *t, struct obj **ret, struct error *err);
/* For long files of others: the values of one place, one by one, never all at once. Anchors and
 * aliases are refused (no program writes them there), so what is made is no larger than the text.
 * item consumes value; a negative return ends the reading. */
struct yaml_items {
	const char *top; /* "entries": the elements of entries.NAME[]; NULL: whole documents */
	size_t bytes_max;
	int (*item)(void *arg, const char *name, struct obj *value, int line, struct error *err);
	void *arg;
};
/* *ret_rest (top is given): the document without the items; owned. */
int yaml_each(struct str text, const struct yaml_items *items, struct obj **ret_rest,
	      struct error *err);
/* As sigs.k8s.io/yaml (kubectl -o yaml) writes it: keys sorted, lists not indented, strings quoted
 * where they would read back as something else. Ends with a newline. */
void yaml_print(const struct obj *o, struct strbuf *b);

#endif
