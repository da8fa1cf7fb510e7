/*
 * flat: the flat map, which is all that a renderer gives to a rollout (fleet.md 1.1): key -> object.
 * Pure.
 *
 * Everything lives in the arena. Objects are checked when they are added: a map with apiVersion,
 * kind and metadata.name. The key is the name that the renderer gives (the path of a file, a key of
 * Jsonnet), of one of several documents NAME!DOC, of an item of a List NAME!DOC.ITEM, counted from
 * 0: a List is never an object of the map. After flat_sort() the objects are in byte order of their
 * keys, no key is there twice, and no object: its group, kind, namespace and name count, not its
 * version.
 *
 * A map may have instances: the objects of the files below the folder of one are its own, labelled with
 * its name (app.coreos.com/instance), and their keys are INSTANCE/KEY, the folder left out. Below one
 * folder there may be several, each with its copy. What is below none is of no instance (0).
 *
 * Errors are E_INVALID and begin with the place, "web/a.yaml!1 (line 12): ", or with
 * DuplicateObject and both places; E_LIMIT for more objects than FLAT_OBJECTS_MAX. With a list of
 * flaws each is put there, and the object is left out.
 */
#ifndef ALM_UNIT_FLAT_H
#define ALM_UNIT_FLAT_H

#include "alm/base/arena.h"
#include "alm/base/flaws.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define FLAT_OBJECTS_MAX   10000
#define FLAT_KEY_MAX       1024
#define FLAT_INSTANCES_MAX 200

struct flat_instance {
	const char *name;   /* a label */
	const char *folder; /* "apps/web" */
	const char *ns;     /* of its objects that name none; NULL: as of all others */
	size_t rank;        /* a smaller one is applied before; equal: as listed */
};

struct flat_instances {
	const struct flat_instance *items;
	size_t n;
};

struct flat_object {
	const char *key, *file;
	size_t doc;      /* of those in the file that are not empty, from 0 */
	int line;        /* of the document; 0: not known */
	size_t instance; /* from 1, in their order; 0: none */
	struct obj *object;
	struct obj *ignore; /* paths of fields that others write (theirs.h); NULL: none */
};

struct flat {
	struct arena *a;
	struct flat_object *objects;
	size_t n, cap;
	struct flaws *flaws;                    /* NULL: the first one ends it */
	const struct flat_instances *instances; /* NULL: there are none */
};

/* Where an object stands. */
struct flat_place {
	const char *name; /* "web/a.yaml"; a key of Jsonnet */
	const char *file; /* "web/a.yaml", "main.jsonnet" */
	size_t doc;
	bool alone; /* the only document of that name: the key is the name itself */
	int line;
};

void flat_init(struct flat *f, struct arena *a);
/* Consumes object, also on failure. The items of a List take its place; those of a typed one
 * (RoleList) have its apiVersion and kind, as in kubectl. */
int flat_add(struct flat *f, const struct flat_place *p, struct obj *object, struct error *err);
/* Objects without a namespace count as of that of their instance, else of ns (NULL: of none). */
int flat_sort(struct flat *f, const char *ns, struct error *err);
/* NULL: it is of none. */
const struct flat_instance *flat_instance_of(const struct flat *f, const struct flat_object *o);
/* Each instance has an object, and no key of another one begins as its keys do. */
int flat_check_instances(const struct flat *f, struct error *err);

/* Of a sorted map; NULL if there is no such key. */
const struct flat_object *flat_get(const struct flat *f, const char *key);

/* {"objects": {KEY: OBJECT, ..}, "rollout": ROLLOUT} in JSON with an indent, keys sorted, a newline
 * at the end; without a rollout if that is NULL. */
void flat_print(const struct flat *f, const struct obj *rollout, struct strbuf *b);

/* The way out of a sandbox: a list of {key, file, doc, line, instance, object}, owned; and back, with all
 * checks, as the list is as hostile as what was rendered. */
struct obj *flat_encode(const struct flat *f);
int flat_decode(const struct obj *list, const char *ns, struct flat *f, struct error *err);

#endif
