#include "alm/audit/query_select.h"

#include "alm/audit/query.h"
#include "alm/audit/snapshot.h"
#include "alm/base/arena.h"

/* What users write besides the kind itself: short names, and plurals that are not the kind and s. */
static const struct {
	const char *word, *kind;
} aliases[] = {
	{"app", "AppType"},
	{"apps", "AppType"},
	{"ist", "InstallStrategy"},
	{"installstrategies", "InstallStrategy"},
	{"cj", "CronJob"},
	{"cm", "ConfigMap"},
	{"crd", "CustomResourceDefinition"},
	{"crds", "CustomResourceDefinition"},
	{"deploy", "Deployment"},
	{"ds", "DaemonSet"},
	{"hpa", "HorizontalPodAutoscaler"},
	{"ing", "Ingress"},
	{"ingresses", "Ingress"},
	{"netpol", "NetworkPolicy"},
	{"networkpolicies", "NetworkPolicy"},
	{"ns", "Namespace"},
	{"pdb", "PodDisruptionBudget"},
	{"po", "Pod"},
	{"pvc", "PersistentVolumeClaim"},
	{"rs", "ReplicaSet"},
	{"sa", "ServiceAccount"},
	{"sts", "StatefulSet"},
	{"svc", "Service"},
};

/* Loose index scan: the distinct kinds without reading every row. */
static const char kinds_sql[] =
	"WITH RECURSIVE k(v) AS (SELECT min(kind) FROM audit UNION ALL SELECT (SELECT min(kind)"
	" FROM audit WHERE kind > v) FROM k WHERE v IS NOT NULL) SELECT v FROM k WHERE"
	" v = ?1 COLLATE NOCASE OR v || 's' = ?1 COLLATE NOCASE";

static int find_kind(struct db *d, struct str word, struct arena *a, const char **ret,
		     struct error *err)
{
	struct stmt *s;
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (str_is(word, aliases[i].word)) {
			*ret = aliases[i].kind;
			return 0;
		}
	int r = db_prepare(d, kinds_sql, &s, err);
	if (r < 0)
		return r;
	stmt_bind_text(s, 1, word);
	r = stmt_step(s, err);
	if (r > 0) {
		struct str kind = stmt_text(s, 0);
		*ret = arena_strndup(a, kind.ptr, kind.len);
	}
	stmt_reset(s);
	return r == 0 ? error_set(err, E_NOTFOUND, "the audit log has no entry of a %.*s",
				  STR_ARG(word))
		      : r;
}

int query_subject(struct db *d, const char *text, struct arena *a, struct query_selector *sel,
		  struct error *err)
{
	struct str kind, rest, ns, name;
	if (!str_cut(str_of(text), '/', &kind, &rest) || !kind.len || !rest.len)
		return error_set(err, E_USAGE, "subject %s is not KIND/[NAMESPACE/]NAME", text);
	bool has_ns = str_cut(rest, '/', &ns, &name);
	if (has_ns)
		sel->ns = arena_strndup(a, ns.ptr, ns.len);
	else
		name = rest;
	/* kind.group is accepted, the group does not tell more here */
	struct str group;
	str_cut(kind, '.', &kind, &group);
	sel->name = arena_strndup(a, name.ptr, name.len);
	return find_kind(d, kind, a, &sel->kind, err);
}

struct condition_sql {
	const char *sql;
	const char *text;
	int64_t value;
};

/* The index begins with kind and ns: a name alone would read every row of the kind. The kind is
 * parameter 1 wherever it is given. */
static const char any_ns[] =
	"ns IN (WITH RECURSIVE n(v) AS (SELECT min(ns) FROM audit WHERE kind = ?1 UNION ALL SELECT"
	" (SELECT min(ns) FROM audit WHERE kind = ?1 AND ns > v) FROM n WHERE v IS NOT NULL)"
	" SELECT v FROM n) AND ";

static size_t conditions(const struct query_selector *sel, struct condition_sql out[12])
{
	const struct condition_sql all[] = {
		{"kind = ?", sel->kind, 0},         {"ns = ?", sel->ns, 0},
		{"name = ?", sel->name, 0},         {"cluster = ?", sel->cluster, 0},
		{"uid = ?", sel->uid, 0},           {"type = ?", sel->type, 0},
		{"reason = ?", sel->reason, 0},     {"actor = ?", sel->actor, 0},
		{"time >= ?", NULL, sel->since_us}, {"time <= ?", NULL, sel->until_us},
		{"seq >= ?", NULL, sel->from_seq},  {"seq <= ?", NULL, sel->to_seq},
	};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].text || all[i].value)
			out[n++] = all[i];
	return n;
}

int query_select(struct db *d, const char *head, const struct query_selector *sel, const char *tail,
		 struct stmt **ret, struct error *err)
{
	struct condition_sql c[12];
	size_t n = conditions(sel, c);
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&sql, "%sWHERE ", head);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sql, "%s AND ", c[i].sql);
	if (sel->kind && sel->name && !sel->ns)
		strbuf_adds(&sql, any_ns);
	strbuf_adds(&sql, tail);
	int r = db_prepare(d, sql.buf, ret, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		if (c[i].text)
			stmt_bind_cstr(*ret, (int)i + 1, c[i].text);
		else
			stmt_bind_int(*ret, (int)i + 1, c[i].value);
	}
	return r < 0 ? r : (int)n;
}

struct query_selector query_subject_of(const struct obj *row)
{
	return (struct query_selector){
		.kind = obj_str(row, "subject.kind"),
		.ns = obj_str(row, "subject.namespace"),
		.name = obj_str(row, "subject.name"),
		.cluster = obj_str(row, "subject.cluster"),
	};
}
