#include "alm/unit/check_fields.h"

#include "alm/base/clock.h"
#include "alm/base/hash.h"
#include "alm/base/visible.h"
#include "alm/obj/json.h"
#include "alm/obj/meta.h"

#define MISSING_BYTES_MAX 900 /* a condition's message has 1,024 */

struct found {
	const struct obj *value; /* NULL: n is not 1 */
	size_t n;
};

static struct found find(const struct jsonpath *p, const struct obj *live, size_t *work)
{
	CLEANUP(jsonpath_values_release) struct jsonpath_values v = {.work = work};
	if (live)
		jsonpath_eval(p, live, &v);
	return (struct found){v.n == 1 ? v.items[0] : NULL, v.n};
}

static void add_value(struct strbuf *b, const struct obj *o, bool secret)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STRBUF_SMALL);
	if (secret) {
		strbuf_adds(b, "(not shown)");
		return;
	}
	json_print(o, &text);
	visible_add(b, str_clip(strbuf_str(&text), CHECK_VALUE_TEXT_MAX));
	if (text.len > CHECK_VALUE_TEXT_MAX)
		strbuf_adds(b, "...");
}

static void add_missing(struct strbuf *b, const char *path, const struct found *f)
{
	if (f->n > 1)
		visible_addf(b, "%s has %zu values, wanted one", path, f->n);
	else
		visible_addf(b, "%s is not there yet", path);
}

static void explain(struct strbuf *b, const struct expected_value *e, const struct found *is,
		    const struct found *want, bool secret)
{
	if (b->len)
		strbuf_adds(b, "; ");
	if (e->name != e->path_text)
		visible_addf(b, "%s: ", e->name);
	if (!is->value) {
		add_missing(b, e->path_text, is);
	} else if (!want->value) {
		add_missing(b, e->value_text, want);
	} else {
		visible_addf(b, "%s is ", e->path_text);
		add_value(b, is->value, secret);
		strbuf_adds(b, ", wanted ");
		add_value(b, want->value, secret);
		if (e->value_text)
			visible_addf(b, " of %s", e->value_text);
	}
}

/* Into the digest that tells whether anything moved. */
static void digest_value(struct sha256 *h, const struct found *f)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)64 << 20);
	if (f->value)
		json_print_canonical(f->value, &text);
	else
		strbuf_addf(&text, "%zu values", f->n);
	sha256_add(h, text.buf, text.len + 1);
}

static void remember(struct sha256 *h, int64_t now_ns, const struct obj *record, struct arena *a,
		     struct fields_look *ret)
{
	unsigned char digest[SHA256_BYTES];
	char hex[SHA256_HEX], moved[CLOCK_TEXT_MAX];
	const char *before = obj_str(record, "moved");
	sha256_final(h, digest);
	hex_encode(digest, sizeof(digest), hex);
	ret->moved_ns = now_ns;
	if (before && cstr_eq(obj_str(record, "values"), hex) &&
	    !clock_parse(str_of(before), &ret->moved_ns))
		ret->moved_ns = now_ns;
	clock_format(ret->moved_ns, CLOCK_MICROS, moved);
	ret->record = obj_keep(a, obj_map());
	obj_set_str(ret->record, "values", hex);
	obj_set_str(ret->record, "moved", moved);
}

void check_fields(const struct rollout_check *c, const struct obj *live, int64_t now_ns,
		  const struct obj *record, struct arena *a, struct fields_look *ret)
{
	CLEANUP(sha256_freep) struct sha256 *h = sha256_new();
	CLEANUP(strbuf_release) struct strbuf missing = STRBUF_INIT(STRBUF_SMALL);
	size_t work = CHECK_VALUES_LOOKED_AT;
	bool secret = cstr_eq(meta_kind(live), "Secret");
	*ret = (struct fields_look){.holds = true};
	for (size_t i = 0; i < c->n_values; i++) {
		const struct expected_value *e = &c->values[i];
		struct found is = find(e->path, live, &work), want = {e->want, 1};
		if (e->value_path)
			want = find(e->value_path, live, &work);
		digest_value(h, &is);
		if (e->value_path)
			digest_value(h, &want);
		if (!is.n && e->fallback && live)
			is = (struct found){e->fallback, 1};
		if (is.value && want.value && obj_equal(is.value, want.value))
			continue;
		ret->holds = false;
		if (missing.len < MISSING_BYTES_MAX)
			explain(&missing, e, &is, &want, secret);
	}
	ret->missing = ret->holds ? NULL : arena_strdup(a, missing.buf);
	remember(h, now_ns, record, a, ret);
}
