/*
 * mutation: one write of one object, from the body to the store (kube-api.md 8, 11).
 *
 *	decode -> findings -> prune -> default -> metadata -> admit -> managedFields -> validate
 *	-> no-op? -> store
 *
 * Used by the verbs (registry.c) and by the server's own writers (gc.c, namespaces.c, simulate.c).
 */
#ifndef ALM_APISERVER_MUTATION_H
#define ALM_APISERVER_MUTATION_H

#include "alm/apiserver/options.h"
#include "alm/apiserver/store/store.h"

#define FINDINGS_MAX 64

struct findings {
	const char *items[FINDINGS_MAX];
	size_t n;
};

/* Which object the body of an apply means; "": it does not say. */
struct stated {
	const char *ns, *name, *rv, *uid;
};

struct mutation {
	struct request *r;
	const struct kind *kind; /* as asked */
	struct store_table *resource;
	struct write_options opt;
	const char *ns, *name;
	struct head *head; /* NULL: create */
	/* The state before, as kind shows it; and as it is stored. */
	struct obj *before, *stored;
	struct obj *after;            /* of the arena, under construction */
	const struct obj *in_storage; /* after as the version that is stored has it, or NULL */
	struct findings findings;
	const char *twice; /* keys of a YAML body that stand there twice, a line each; or NULL */
	const char *verb;  /* for the audit entry */
	/* Under which webhooks and policies are asked about it, whatever one of them called it
	 * since; NULL: name. */
	const char *asked_name;
	const struct obj *delete_options; /* of a deletion, as its body states them, or NULL */
	const struct obj *strategic;      /* the body of a strategic merge patch, or NULL */
	const char *other_uid;            /* that a patch gives it, or NULL */
	const char
		*emptied; /* a list or map that is there and empty, where Go tells that from none */
	const struct obj *
		as_read; /* of a definition: after, with the lists and maps that are empty, or NULL */
	bool is_put, is_status, is_apply;
	bool is_ordered;                /* a JSON patch: its values are read as they were written */
	struct stated stated;           /* of is_apply */
	bool is_bare, is_unconditional; /* a PUT that states no uid, no revision */
	const struct obj *
		metrics; /* that a status of autoscaling/v1 stands for; NULL: none. Its annotation has more */
	const char *too_large;   /* an annotation that is not read; NULL: none */
	bool has_labels_of_pods; /* a Job that came without its own */
	bool has_bare_pods;      /* spec.template came with a map of labels that has none */
	bool by_webhook;         /* after is what one, or a policy, made of it */
	bool has_empty;          /* lists that mutation_drop_empty() takes away */
	bool keep_managers;      /* after has its managedFields already (apply) */
	bool asks;               /* a deletion of the server's own that policies are asked of */
	bool whole; /* status comes with the object, of the server's own writers alone */
	/* The outcome: text is borrowed until the next write; unchanged: nothing was stored. */
	struct text *text;
	bool created, removed, unchanged;
};

/* Sets up for (ns, name); reads the head if there is one. E_CORRUPT. */
int mutation_init(struct mutation *m, struct request *r, const char *ns, const char *name,
		  struct error *err);
/* --- mutation_shape.c --- */
/* Checks kind and apiVersion, shapes metadata, prunes and defaults m->after; collects findings. */
int mutation_shape(struct mutation *m, struct error *err);
/* A definition, its schemas as they were read. */
const struct obj *mutation_definition(const struct mutation *m);
/* What is applied to a built-in kind is of its types; of what is left out of it nobody else asks. */
int mutation_reads(struct mutation *m, const struct obj *config, struct error *err);
/* Strict: E_BADREQUEST; Warn: headers. */
int mutation_report(struct mutation *m, struct error *err);

/* --- mutation_create.c --- */
int mutation_create(struct mutation *m, struct error *err);
/* m->after is of m->ns, or says another one: E_BADREQUEST. */
int mutation_in_namespace(struct mutation *m, struct error *err);
/* --- mutation_update.c --- */
int mutation_update(struct mutation *m, struct error *err);
/* Does a write of the status leave this field of the metadata alone? NULL: all of it. */
bool mutation_status_keeps(const struct mutation *m, const char *field);
/* --- mutation_track.c --- */
/* For who owns what in another version than is asked; of the arena, or NULL. */
struct apply_forms;
const struct apply_forms *mutation_forms(struct mutation *m);

/* --- mutation.c --- */
/* Removes the object; m->before is its last state. */
int mutation_remove(struct mutation *m, struct error *err);
/* Is rv a revision at all? E_INTERNAL, as the real server has it. */
int mutation_reads_revision(const struct mutation *m, const char *rv, struct error *err);
/* o names itself, and as the URL does. E_BADREQUEST. */
int mutation_fits_url(const struct mutation *m, const struct obj *o, struct error *err);
/* Marks for deletion: finalizers, deletionTimestamp, generation. */
int mutation_mark(struct mutation *m, struct error *err);

#endif
