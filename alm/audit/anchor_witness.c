/*
 * anchor_witness: a C2SP witness (c2sp.org/tlog-witness). It takes a checkpoint with a proof that
 * the one it cosigned last is a prefix, and answers with its cosignature; so it is never asked what
 * it remembers: a log that was rolled back has no such proof, or is too short for one.
 */
#include <inttypes.h>
#include <string.h>

#include "alm/audit/anchor.h"
#include "alm/audit/log.h"
#include "alm/audit/proof.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/io/transport.h"

#define TARGET          "witness:"
#define ANSWER_MAX      ((size_t)16 << 10)
#define REQUEST_MAX     ((size_t)64 << 10)
#define TIMEOUT_NS      (30 * NS_PER_S)
#define STATUS_CONFLICT 409

struct anchor_witness {
	struct anchor anchor;
	struct db *db;
	struct transport *transport;
	struct call *call;
	char *path, *vkey; /* vkey NULL: nobody said which key the witness has */
	int64_t cosigned;  /* the size that it cosigned last, as far as known */
	bool asked_again;
	int status;
	struct strbuf answer;
	int64_t size;
	char note[CHECKPOINT_BYTES_MAX + 1];
};

static struct anchor_witness *witness_of(struct anchor *t)
{
	return CONTAINER_OF(t, struct anchor_witness, anchor);
}

static int request_body(struct anchor_witness *w, struct strbuf *b, struct error *err)
{
	struct proof *p = xcalloc(1, sizeof(*p));
	int64_t old = w->cosigned <= w->size ? w->cosigned : 0;
	int r = proof_consistency(log_subtree, w->db, old, w->size, p, err);
	strbuf_addf(b, "old %" PRId64 "\n", old);
	proof_print(p, b);
	strbuf_addf(b, "\n%s", w->note);
	xfree(p);
	return r < 0 ? r : strbuf_check(b, "request to the witness", err);
}

static void witness_head(void *arg, int status, const struct http_headers *h)
{
	struct anchor_witness *w = arg;
	(void)h;
	w->status = status;
}

static void witness_data(void *arg, struct str chunk)
{
	struct anchor_witness *w = arg;
	strbuf_addstr(&w->answer, chunk);
}

static void ask(struct anchor_witness *w);

/* The note with the cosignatures, for proofs and for verify. */
static int keep_note(struct anchor_witness *w, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(REQUEST_MAX);
	int64_t time_s;
	if (w->vkey && !cosignature_fits(str_of(w->note), strbuf_str(&w->answer), w->vkey, &time_s))
		return error_set(err, E_CORRUPT, "%s: its cosignature is not one of %.80s",
				 w->anchor.target, w->vkey);
	strbuf_addf(&b, "%s", w->note);
	strbuf_addstr(&b, strbuf_str(&w->answer));
	return file_replace(w->path, strbuf_str(&b), 0600, err);
}

/* It has cosigned another size than we thought: perhaps one that this log never had. */
static void conflict(struct anchor_witness *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	int64_t size = -1;
	if (!str_parse_i64(str_trim(strbuf_str(&w->answer)), &size) || size < 0) {
		(void)error_set(&err, E_CORRUPT, "%s: its answer names no size", w->anchor.target);
		anchor_kept(&w->anchor, &err);
	} else if (size > w->size || size == w->cosigned) {
		strbuf_addf(&why,
			    "anchor %s remembers %" PRId64 " records, and the database has %s",
			    w->anchor.target, size, size > w->size ? "fewer" : "others");
		anchor_refused(&w->anchor, why.buf);
	} else if (w->asked_again) {
		(void)error_set(&err, E_CONFLICT, "%s: somebody else sends it checkpoints",
				w->anchor.target);
		anchor_kept(&w->anchor, &err);
	} else {
		w->asked_again = true;
		w->cosigned = size;
		ask(w);
	}
}

static void answered(struct anchor_witness *w)
{
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(STRBUF_SMALL);
	switch (w->status) {
	case 200:
		w->cosigned = w->size;
		anchor_kept(&w->anchor, keep_note(w, &err) < 0 ? &err : NULL);
		return;
	case STATUS_CONFLICT:
		conflict(w);
		return;
	case 422:
		strbuf_addf(&why,
			    "anchor %s remembers %" PRId64 " records, and the database has others",
			    w->anchor.target, w->cosigned);
		anchor_refused(&w->anchor, why.buf);
		return;
	case 403:
	case 404:
		(void)error_set(&err, E_FORBIDDEN,
				"%s does not know the key of this log: alm audit key prints it",
				w->anchor.target);
		break;
	default:
		(void)error_set(&err, E_UNAVAILABLE, "%s: HTTP status %d", w->anchor.target,
				w->status);
	}
	anchor_kept(&w->anchor, &err);
}

static void witness_done(void *arg, const struct error *err)
{
	struct anchor_witness *w = arg;
	w->call = NULL;
	if (err)
		anchor_kept(&w->anchor, err);
	else
		answered(w);
}

static void ask(struct anchor_witness *w)
{
	static const struct transport_events events = {witness_head, witness_data, witness_done};
	struct error err = ERROR_INIT;
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(REQUEST_MAX);
	if (request_body(w, &body, &err) < 0) {
		anchor_kept(&w->anchor, &err);
		return;
	}
	struct transport_request r = {.method = "POST",
				      .target = "/add-checkpoint",
				      .body = strbuf_str(&body),
				      .timeout_ns = TIMEOUT_NS,
				      .body_max = ANSWER_MAX};
	http_header_add(&r.headers, "Content-Type", "text/plain");
	strbuf_clear(&w->answer);
	w->status = 0;
	w->call = transport_start(w->transport, &r, &events, w);
}

/* While the log closes there is no time for an answer. */
static void witness_keep(struct anchor *t, int64_t size, struct str note, bool last)
{
	struct anchor_witness *w = witness_of(t);
	if (last || note.len > CHECKPOINT_BYTES_MAX)
		return;
	memcpy(w->note, note.ptr, note.len);
	w->note[note.len] = '\0';
	w->size = size;
	w->asked_again = false;
	ask(w);
}

static void witness_free(struct anchor *t)
{
	struct anchor_witness *w = witness_of(t);
	if (w->call)
		transport_cancel(w->transport, w->call);
	transport_free(w->transport);
	strbuf_release(&w->answer);
	xfree(w->path);
	xfree(w->vkey);
	xfree(w);
}

static const struct anchor_ops witness_ops = {NULL, witness_keep, witness_free};

/* What the table of anchors says it was told last: only to spare the first question. */
static int64_t last_size(struct db *d, const char *target)
{
	struct stmt *s;
	struct error err = ERROR_INIT;
	if (db_prepare(d, "SELECT max(size) FROM audit_anchor WHERE target = ?", &s, &err) < 0)
		return 0;
	stmt_bind_cstr(s, 1, target);
	int64_t size = stmt_step(s, &err) > 0 ? stmt_int(s, 0) : 0;
	stmt_reset(s);
	return size;
}

const char *anchor_witness_path(const char *url, const char *dir, struct arena *a)
{
	char hex[SHA256_HEX];
	struct str base, vkey;
	str_cut(str_of(url), '#', &base, &vkey);
	sha256_hex(base, hex);
	return arena_fmt(a, "%s/audit.witness-%.8s", dir, hex);
}

int anchor_witness_check(const char *url, struct loop *l, struct error *err)
{
	struct str base, vkey;
	bool has_key = str_cut(str_of(url), '#', &base, &vkey);
	CLEANUP(xfreep) char *address = str_dup(base), *key = str_dup(vkey);
	CLEANUP(transport_freep) struct transport *unused = NULL;
	const struct transport_config c = {.base_url = address};
	if (!str_has_prefix(base, STR("http://")) && !str_has_prefix(base, STR("https://")))
		return error_set(err, E_USAGE,
				 "witness %s: want https://HOST/PREFIX, with #VKEY behind it", url);
	if (transport_curl_new(l, &c, &unused, err) < 0)
		return error_wrap(err, "witness");
	if (has_key && !cosigner_is_valid(key))
		return error_set(err, E_USAGE,
				 "witness %s: what follows # is no key of a witness: want "
				 "NAME+8 HEX DIGITS+BASE64, as the witness publishes it",
				 url);
	return 0;
}

struct anchor *anchor_witness_new(const char *url, struct loop *l, struct db *d, const char *dir,
				  struct error *err)
{
	struct str base, vkey;
	CLEANUP(arena_freep) struct arena *a = arena_new(64 << 10);
	CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT(STRBUF_SMALL);
	bool has_key = str_cut(str_of(url), '#', &base, &vkey);
	if (anchor_witness_check(url, l, err) < 0)
		return NULL;
	strbuf_addf(&target, TARGET "%s", url);
	struct anchor_witness *w = xcalloc(1, sizeof(*w));
	anchor_init(&w->anchor, &witness_ops, target.buf);
	w->db = d;
	w->path = xstrdup(anchor_witness_path(url, dir, a));
	w->vkey = has_key ? str_dup(vkey) : NULL;
	w->cosigned = last_size(d, target.buf);
	strbuf_init(&w->answer, ANSWER_MAX);
	struct transport_config c = {.base_url = arena_strndup(a, base.ptr, base.len),
				     .user_agent = "alm/" ALM_VERSION};
	if (transport_curl_new(l, &c, &w->transport, err) < 0) {
		char *name = w->anchor.target;
		witness_free(&w->anchor);
		xfree(name);
		return NULL;
	}
	return &w->anchor;
}
