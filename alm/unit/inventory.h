/*
 * inventory: what a unit has on a cluster, as lines of text that ConfigMaps there hold:
 *
 *	apps/v1 Deployment default grafana 6f1c.. 3a5e.. grafana/deployment.yaml
 *
 * apiVersion, kind, namespace ("-": none), name, uid ("-": not known yet), digest of what was
 * wanted, and the key, in byte order. Any trigger and any side goes on from it. Pure.
 *
 * A create has no precondition against a deletion: one that is delayed, or carried out once more by
 * a proxy, makes anew what was deleted meanwhile. So what was deleted stays named for a while, in a
 * text of its own: with the time of its last create in place of the digest, and in place of its uid
 * that of an object of the name that is left alone ("-": there is none).
 *
 * Nor does a deletion know what has become wanted again since it was sent. So before the first one it is
 * noted of which objects one may be under way: their digest is "-RUN", of the run that deletes. What is
 * there and in no inventory is no less doubtful ("-": of nobody knows which run). Whoever wants such an
 * object marks it with that RUN, once, which gives it a resourceVersion that no deletion of before has;
 * its line has a digest when a run has succeeded.
 *
 * More than one ConfigMap takes lies in several, its pieces. Each write changes one of them, so a line
 * stays in the piece that has it, and there is no moment at which none does, whichever write was the
 * last. What grows out of its piece goes to a later one, which is written before the other loses it;
 * of an object that two pieces name the later one counts.
 */
#ifndef ALM_UNIT_INVENTORY_H
#define ALM_UNIT_INVENTORY_H

#include "alm/base/arena.h"
#include "alm/base/error.h"
#include "alm/base/strbuf.h"
#include "alm/obj/obj.h"

#define INVENTORY_BYTES_MAX  ((size_t)900 << 10) /* a ConfigMap holds 1 MiB */
#define INVENTORY_PIECES_MAX 64
#define INVENTORY_DOUBTFUL   "-" /* begins the digest of what somebody may be deleting */

struct inventory_line {
	const char *api_version, *kind, *ns, *name; /* ns NULL: cluster-scoped */
	const char *uid;                            /* NULL: not known */
	const char *digest, *key;
	size_t piece; /* that has it, from 1; 0: none yet */
	size_t row;   /* of what is wanted: in its unit */
};

struct inventory {
	struct inventory_line *lines;
	size_t n;
};

/* What the ConfigMaps hold together. */
struct inventory_pieces {
	struct inventory lines, late;
	size_t n;   /* of pieces */
	bool moves; /* inventory_place(): a line goes from one to another */
};

/* The lines of a piece. E_CORRUPT with the number of the line. */
int inventory_parse(struct str text, size_t piece, struct arena *a, struct inventory *ret,
		    struct error *err);
/* Of how many pieces the first one says that it is (ANNOTATION_PIECES): 1 to INVENTORY_PIECES_MAX. */
bool inventory_count(const char *text, size_t *ret);
/* Those of all pieces, in their order, as one. */
struct inventory inventory_join(const struct inventory *pieces, size_t n, struct arena *a);
/* It was lost, and not all that it had is in it yet: annotated by its first ConfigMap, which says "false" once it was and
 * is not any more, as who creates a field cannot take it away by an apply. NULL: no. */
bool inventory_is_incomplete(const struct obj *first);
/* Names the object of a line, whatever version of its kind: "Deployment.apps/default/grafana". */
const char *inventory_id(const struct inventory_line *l, struct arena *a);
/* Lines of i whose object other does not name go behind those of *to, which has room. Returns how
 * many. */
size_t inventory_add_missing(struct inventory *to, const struct inventory *i,
			     const struct inventory *other, struct arena *a);
/* What is to be named before the first write of a run, in *to, which has room for all: what had names, then
 * what else is wanted. Doubtful is what is there (its uid is known) and was not named, and, if the run
 * deletes, what is wanted no more. The lines of wanted are doubtful where those are. True: *to says
 * something else than had. */
struct inventory_run {
	const char *name;
	bool deletes;
};
bool inventory_begin(struct inventory *to, const struct inventory *had, struct inventory *wanted,
		     const struct inventory_run *run, struct arena *a);
/* ANNOTATION_MAIN of an object that a unit is run for: "Grafana.monitoring.coreos.com default/main". name NULL: the
 * beginning that all of its kind have, up to the blank. In the arena. */
const char *inventory_main(const char *api_version, const char *kind, const char *ns,
			   const char *name, struct arena *a);
/* The run that an object is to be marked with; NULL: it is not doubtful. */
const char *inventory_doubt(const struct inventory_line *l);
/* When the last create of an object may have been sent: known (NULL: nothing is), or when what is
 * live as ours (NULL: nothing) was made, whichever is later; without both, now. RFC 3339, UTC, whole
 * seconds. */
const char *inventory_since(const char *known, const struct obj *ours, const char *now);
/* Lines of those rows (apiVersion, kind, metadata: all that has its labels) that were applied by the manager for this
 * owner: doubtful, and of no file. What was copied from one has its marks, but was written by somebody else; what a
 * controller made of it is the controller's. */
struct inventory_owner {
	const char *id, *manager;
	const char *
		main; /* uid of the object that it is run for, which is the owner of what is made; NULL */
	const char *book_ns, *book; /* its first ConfigMap, which has the marks, too */
};
struct inventory inventory_found(const struct obj *rows, const struct inventory_owner *owner,
				 struct arena *a);
/* Sorts what is to be there from now on and says of each line in which piece: where it was, a new one
 * where there is room for it. Pieces stay, if empty. E_LIMIT: INVENTORY_PIECES_MAX of bytes_max each
 * do not take it. */
int inventory_place(struct inventory_pieces *now, const struct inventory_pieces *was,
		    size_t bytes_max, struct arena *a, struct error *err);
/* The lines of one piece, in their order. */
void inventory_print(const struct inventory *i, size_t piece, struct strbuf *b);

#endif
