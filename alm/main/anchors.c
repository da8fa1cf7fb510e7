#include "alm/main/anchors.h"

#include <string.h>

#include "alm/base/log.h"
#include "alm/cli/term.h"
#include "alm/engine/anchor_configmap.h"
#include "alm/obj/json.h"

#define FILE_PREFIX    ANCHOR_TARGET_FILE
#define WITNESS_PREFIX "witness:"

/* The log of the process: who collects it has the anchor. */

static void log_keep(struct anchor *t, int64_t size, struct str note, bool last)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(2 * CHECKPOINT_BYTES_MAX);
	(void)size;
	(void)last;
	json_quote(note, &b);
	term_print("alm: audit anchor %s\n", b.buf);
	(void)term_flush();
	anchor_kept(t, NULL);
}

static void log_free(struct anchor *t)
{
	xfree(t);
}

static const struct anchor_ops log_ops = {NULL, log_keep, log_free};

static struct anchor *anchor_log_new(void)
{
	struct anchor *t = xcalloc(1, sizeof(*t));
	anchor_init(t, &log_ops, "log");
	return t;
}

static int check_spec(const char *spec, bool is_embedded, struct error *err)
{
	if (cstr_eq(spec, "log") || cstr_eq(spec, FILE_PREFIX ANCHOR_DEFAULT) ||
	    cstr_has_prefix(spec, FILE_PREFIX "/"))
		return 0;
	if (cstr_has_prefix(spec, FILE_PREFIX))
		return error_set(err, E_USAGE,
				 "--audit-anchor %s: want an absolute path: the log remembers it",
				 spec);
	if (cstr_has_prefix(spec, WITNESS_PREFIX))
		return 0; /* anchor_setup_check() looks at the URL */
	if (cstr_eq(spec, "configmap") && is_embedded)
		return error_set(
			err, E_USAGE,
			"--audit-anchor configmap is for alm controller: here it would lie in "
			"the very database that it guards; file:PATH on another volume, or "
			"witness:URL");
	if (cstr_eq(spec, "configmap"))
		return 0;
	return error_set(err, E_USAGE,
			 "--audit-anchor %s: want file:PATH, configmap, log or witness:URL", spec);
}

static int add_spec(struct cli *c, struct anchor_setup *s, const char *spec, bool is_embedded,
		    struct error *err)
{
	size_t n_files = 0;
	if (check_spec(spec, is_embedded, err) < 0)
		return -err->code;
	if (s->n == ANCHORS_MAX)
		return error_set(err, E_USAGE, "--audit-anchor is given more than %d times",
				 ANCHORS_MAX);
	s->specs[s->n++] = spec;
	while (s->files[n_files])
		n_files++;
	if (cstr_has_prefix(spec, FILE_PREFIX))
		s->files[n_files] = anchor_file_path(spec + strlen(FILE_PREFIX), s->dir, c->arena);
	return 0;
}

static int parse_retain(struct cli *c, int64_t *ret_ns, struct error *err)
{
	if (cli_flag(c, "force") && !cli_value(c, "audit-retain"))
		return error_set(err, E_USAGE, "--force is of --audit-retain, which is not given");
	if (cli_duration(c, "audit-retain", 0, ret_ns, err) < 0)
		return -err->code;
	if (cli_value(c, "audit-retain") && *ret_ns <= 0)
		return error_set(err, E_USAGE, "--audit-retain is a duration above 0");
	if (*ret_ns && *ret_ns / NS_PER_S < PRUNE_RETAIN_MIN_S && !cli_flag(c, "force"))
		return error_set(err, E_USAGE,
				 "--audit-retain %s is under 365d: most rules of evidence ask for "
				 "more; --force takes it",
				 cli_value(c, "audit-retain"));
	return 0;
}

int anchor_setup_parse(struct cli *c, const char *dir, const char *fallback, bool is_embedded,
		       struct anchor_setup *ret, struct error *err)
{
	const char *spec;
	*ret = (struct anchor_setup){.dir = dir};
	if (cli_value(c, "audit-policy"))
		return error_set(
			err, E_USAGE,
			"--audit-policy: every write has its entry but those of Leases and "
			"core Events, which come every few seconds: no file changes that, "
			"so that a system at rest appends nothing; leave the option out, "
			"kubectl get leases,events -A -w shows them");
	const char *origin = cli_value(c, "audit-origin");
	if (origin && audit_check_origin(origin, NULL, err) < 0)
		return error_set(err, E_USAGE, "--audit-origin: %s", err->msg);
	if (parse_retain(c, &ret->retain_ns, err) < 0)
		return -err->code;
	for (size_t i = 0; (spec = cli_value_at(c, "audit-anchor", i)); i++)
		if (add_spec(c, ret, spec, is_embedded, err) < 0)
			return -err->code;
	return ret->n ? 0 : add_spec(c, ret, fallback, is_embedded, err);
}

int anchor_setup_check(const struct anchor_setup *s, struct loop *l, struct error *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (cstr_has_prefix(s->specs[i], WITNESS_PREFIX) &&
		    anchor_witness_check(s->specs[i] + strlen(WITNESS_PREFIX), l, err) < 0)
			return error_wrap(err, "--audit-anchor");
	return 0;
}

int anchor_setup_embedded(struct cli *c, const char *dir, struct anchor_setup *ret,
			  struct error *err)
{
	return anchor_setup_parse(c, dir, FILE_PREFIX ANCHOR_DEFAULT, true, ret, err);
}

static void tell_weak(const char *path, const char *dir)
{
	if (!cstr_has_prefix(path, "/") || anchor_file_is_weak(path, dir))
		log_info("the audit anchor is on the volume of the log, so it is weak: who can "
			 "write "
			 "there can cut off both; --audit-anchor names another place",
			 "anchor", path);
}

static struct anchor *target_new(const char *spec, const struct anchor_setup *s, struct db *d,
				 struct loop *l, struct client *client, struct error *err)
{
	if (cstr_eq(spec, "log"))
		return anchor_log_new();
	if (cstr_eq(spec, "configmap"))
		return anchor_configmap_new(client);
	if (cstr_has_prefix(spec, WITNESS_PREFIX))
		return anchor_witness_new(spec + strlen(WITNESS_PREFIX), l, d, s->dir, err);
	tell_weak(spec + strlen(FILE_PREFIX), s->dir);
	return anchor_file_new(spec + strlen(FILE_PREFIX), s->dir);
}

int anchor_setup_start(const struct anchor_setup *s, struct audit *a, struct db *d, struct loop *l,
		       struct client *client, struct anchors **ret, struct error *err)
{
	struct anchor *targets[ANCHORS_MAX];
	size_t n = 0;
	for (; n < s->n; n++) {
		targets[n] = target_new(s->specs[n], s, d, l, client, err);
		if (!targets[n])
			break;
	}
	bool all = n == s->n;
	*ret = anchors_new(a, l, d, targets, n);
	return all ? 0 : -err->code;
}

struct pruner *anchor_setup_prune(const struct anchor_setup *s, struct audit *a, struct db *d,
				  struct loop *l, struct anchors *anchors)
{
	struct pruner_config c = {.audit = a,
				  .loop = l,
				  .db = d,
				  .anchors = anchors,
				  .dir = s->dir,
				  .retain_ns = s->retain_ns};
	return s->retain_ns ? pruner_new(&c) : NULL;
}
