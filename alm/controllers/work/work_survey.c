/* Objects are read live: {KEY: object} of those that are there. Of several of one kind in one
 * namespace a list says first which are there at all: of a release that begins none is, which is
 * one request then and not one an object. */
#include "alm/controllers/work/works.h"
#include "alm/obj/meta.h"

#define WORTH_A_LIST 3           /* objects of one kind in one namespace */
#define LIST_QUERY   "limit=200" /* what has more is read one by one */

enum row_state {
	NOT_LISTED,
	READ, /* one by one */
	ABSENT,
};

struct surveying {
	enum row_state *rows;
	size_t listed; /* the first row of those that are being listed */
};

static void survey_next(struct work *w);

static struct surveying *surveying_of(struct work *w)
{
	return *(struct surveying **)w->state;
}

static const struct obj *row_at(const struct work *w, size_t i)
{
	return obj_at(w->action->body, i);
}

static bool is_beside(const struct obj *row, const struct obj *other)
{
	static const char *const keys[] = {"group", "version", "kind", "namespace", NULL};
	bool same = true;
	for (const char *const *k = keys; same && *k; k++)
		same = cstr_eq(obj_str(row, *k), obj_str(other, *k));
	return same;
}

static bool is_worth_a_list(const struct work *w, size_t first)
{
	const struct obj *row = row_at(w, first);
	size_t n = 0;
	for (size_t i = first; obj_str(row, "namespace") && i < obj_len(w->action->body); i++)
		n += is_beside(row_at(w, i), row);
	return n >= WORTH_A_LIST;
}

static bool has_item(const struct obj *list, const char *name)
{
	const struct obj *items = obj_get(list, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(meta_name(obj_at(items, i)), name))
			return true;
	return false;
}

/* A list that is refused, or cut, tells nothing. */
static void survey_listed(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	struct surveying *s = surveying_of(w);
	const struct obj *first = row_at(w, s->listed);
	const char *more = reply->err ? NULL : obj_str(reply->body, "metadata.continue");
	bool tells = !reply->err && !(more && *more);
	w->call = NULL;
	for (size_t i = s->listed; i < obj_len(w->action->body); i++)
		if (is_beside(row_at(w, i), first))
			s->rows[i] = tells && !has_item(reply->body, obj_str(row_at(w, i), "name"))
					     ? ABSENT
					     : READ;
	survey_next(w);
}

static void survey_found(void *arg, const struct client_reply *reply)
{
	struct work *w = arg;
	const struct obj *row = row_at(w, w->at - 1);
	w->call = NULL;
	if (!reply->err) {
		obj_set(w->found, obj_str(row, "key"), obj_ref(reply->body));
	} else if (reply->err->code != E_NOTFOUND) {
		work_fail(w, reply->err);
		return;
	}
	survey_next(w);
}

static void survey_next(struct work *w)
{
	static const struct client_options brief = {.metadata_only = true};
	struct surveying *s = surveying_of(w);
	for (; w->at < obj_len(w->action->body); w->at++) {
		const struct obj *row = row_at(w, w->at);
		const struct resource *res =
			discovery_kind(w->discovery, obj_str(row, "group"), obj_str(row, "version"),
				       obj_str(row, "kind"));
		if (!res || s->rows[w->at] == ABSENT)
			continue; /* not served: it cannot exist */
		if (s->rows[w->at] == NOT_LISTED && is_worth_a_list(w, w->at)) {
			s->listed = w->at;
			w->call = client_list_with(w->client, res, obj_str(row, "namespace"),
						   LIST_QUERY, &brief, survey_listed, w);
			return;
		}
		w->at++;
		w->call = client_get(w->client, res, obj_str(row, "namespace"),
				     obj_str(row, "name"), NULL, survey_found, w);
		return;
	}
	work_put(w, NULL, STR_NONE, STEAL(w->found));
	work_done(w);
}

static void start(struct work *w)
{
	struct surveying *s = ARENA_NEW(w->a, struct surveying);
	*(struct surveying **)w->state = s;
	s->rows = ARENA_ARRAY(w->a, enum row_state, obj_len(w->action->body) + 1);
	w->found = obj_map();
	survey_next(w);
}

const struct work_kind survey_work = {.name = "survey", .start = start};
