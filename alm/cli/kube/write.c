#include "alm/cli/kube/write.h"

#include <string.h>

#include "alm/base/visible.h"
#include "alm/cli/kube/printer.h"
#include "alm/cli/term.h"
#include "alm/io/http.h"
#include "alm/obj/meta.h"
#include "crds/legacy_crd.h"

/* In 2017 each version of a kind was a definition of its own. */
static int join_versions(struct cli *c, struct session *s, struct manifest_item *m,
			 struct error *err)
{
	struct resource r;
	struct error absent = ERROR_INIT;
	const struct obj *there = NULL;
	if (session_kind(s, m->o, &r, err) < 0 ||
	    session_get(s, session_target(s, &r, NULL, meta_name(m->o), NULL), &there, &absent) < 0)
		return absent.code && absent.code != E_NOTFOUND ? error_copy(err, &absent)
								: -err->code;
	if (legacy_crd_fits(there, m->o, err) < 0)
		return -err->code;
	struct obj *now = obj_keep(c->arena, obj_copy(m->o));
	legacy_crd_join(there, now);
	/* of these versions: whoever adds another one meanwhile is not overwritten (409) */
	obj_set_path(now, "metadata.resourceVersion", obj_string(meta_resource_version(there)));
	m->said = m->o;
	m->there = there;
	m->is_new_version = !legacy_crd_has(there, m->o);
	m->has_more = obj_len(obj_path(now, "spec.versions")) > 1;
	if (m->is_new_version)
		term_error("Warning: %s:%d: %s is there; this is its version %s\n", m->file,
			   m->line, meta_name(there),
			   obj_str(obj_at(obj_path(m->o, "spec.versions"), 0), "name"));
	m->o = now;
	return 0;
}

int write_modern(struct cli *c, struct session *s, struct manifest_item *m, struct error *err)
{
	struct error unknown = ERROR_INIT;
	struct resource r;
	struct legacy now;
	int rc = legacy_convert(m->o, c->arena, &now, err);
	if (rc < 0)
		return error_wrap(err, "%s:%d", m->file, m->line);
	if (!now.o || (now.is_instance && s && session_kind(s, m->o, &r, &unknown) >= 0))
		return 0;
	for (size_t i = 0; i < now.n_warnings; i++)
		term_error("Warning: %s:%d: %s\n", m->file, m->line, now.warnings[i]);
	bool says_one = !obj_len(obj_path(m->o, "spec.versions"));
	m->o = now.o;
	if (!s || !says_one || !cstr_eq(meta_kind(m->o), LEGACY_CRD_KIND))
		return 0;
	rc = join_versions(c, s, m, err);
	return rc < 0 ? error_wrap(err, "%s:%d", m->file, m->line) : 0;
}

bool write_is_dry(const struct cli *c)
{
	return cstr_eq(cli_value(c, "dry-run"), "server");
}

int write_check_dry(const struct cli *c, struct error *err)
{
	const char *dry = cli_value(c, "dry-run");
	if (!dry || write_is_dry(c) || !strcmp(dry, "none"))
		return 0;
	return error_set(err, E_USAGE, "--dry-run is server or none, not %s", dry);
}

int write_each(struct cli *c, struct session **s, struct manifest *m, write_fn fn,
	       struct error *err)
{
	struct error first = ERROR_INIT;
	int r = write_check_dry(c, err);
	if (r >= 0)
		r = manifest_read(c, m, err);
	if (r >= 0)
		r = session_open(c, s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->n; i++) {
		struct error one = ERROR_INIT;
		if (write_modern(c, *s, &m->items[i], &one) >= 0 &&
		    fn(c, *s, &m->items[i], &one) >= 0)
			continue;
		if (first.code)
			term_error("alm: %s\n", first.msg);
		first = one;
	}
	return first.code ? error_copy(err, &first) : 0;
}

const char *write_query(struct cli *c, const char *manager, const char *more)
{
	const char *own = cli_value(c, "field-manager");
	return arena_fmt(c->arena, "fieldManager=%s&fieldValidation=Strict%s%s",
			 url_encode(str_of(own ? own : manager), c->arena),
			 write_is_dry(c) ? "&dryRun=All" : "", more);
}

const struct obj *write_manifest(struct cli *c, const struct obj *o, bool is_new)
{
	static const char *const identity[] = {"metadata.uid", "metadata.resourceVersion",
					       "metadata.creationTimestamp"};
	struct obj *copy = obj_keep(c->arena, obj_copy(o));
	obj_del_path(copy, "metadata.managedFields");
	for (size_t i = 0; is_new && i < ARRAY_LEN(identity); i++)
		obj_del_path(copy, identity[i]);
	return copy;
}

const char *write_namespace(const struct session *s, const struct resource *r, const struct obj *o)
{
	const char *ns = meta_namespace(o);
	return !r->namespaced ? NULL : ns && *ns ? ns : session_namespace(s);
}

int write_print(struct cli *c, const struct obj *o, const char *verb, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT((size_t)64 << 20);
	struct printer p;
	int r = printer_parse(cli_value(c, "output"), &p, err);
	if (r < 0)
		return r;
	if (printer_is_table(&p)) {
		printer_name(o, &b);
		visible_addf(&b, " %s%s\n", verb, write_is_dry(c) ? " (server dry run)" : "");
	} else
		r = printer_object(&p, o, &b, err);
	printer_write(&p, strbuf_str(&b));
	return r;
}
