/*
 * fuzz_watch: what a server may answer to an informer. The first line is the list, the rest the
 * stream of a watch, in pieces of the length that its first byte says. Whatever comes, the cache
 * adds up: what was told added and not deleted is what it holds.
 */
#include <assert.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/mem.h"
#include "alm/client/informer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/loop_fake.h"
#include "tests/lib/transport_fake.h"

#define INPUT_BYTES_MAX 8192
#define ROWS            64 /* answers; more calls than these are not made in SPAN_NS */
#define SPAN_NS         (30 * NS_PER_S)

static void on_change(void *arg, enum informer_change change, const struct informer_object *before,
		      const struct informer_object *after)
{
	size_t *n = arg;
	assert((before == NULL) == (change == INFORMER_ADDED));
	assert((after == NULL) == (change == INFORMER_DELETED));
	fuzz_note_number(change);
	fuzz_note_text(after ? after->name : before->name);
	*n += before == NULL;
	*n -= after == NULL;
}

static void answer(struct transport_fake *t, char *text)
{
	char *stream = strchr(text, '\n');
	if (stream)
		*stream++ = '\0';
	fake_answer(t, "GET", "/api/v1/configmaps?limit=*", 200, text);
	for (int i = 0; i < ROWS; i++)
		fake_answer(t, "GET", "/api/v1/configmaps?limit=*", 200,
			    "{\"metadata\":{\"resourceVersion\":\"99\"},\"items\":[]}");
	fake_stream(t, "GET", "/api/v1/configmaps?watch=1*", 200, "");
	for (int i = 0; i < ROWS; i++)
		fake_answer(t, "GET", "/api/v1/configmaps?watch=1*", 200, "");
}

static void push(struct transport_fake *t, const char *stream, struct loop *l)
{
	size_t len = strlen(stream), piece = len ? 1 + (size_t)(unsigned char)*stream % 64 : 1;
	for (size_t i = 0; i < len && fake_open(t) > 0; i += piece) {
		char part[65] = {0};
		memcpy(part, stream + i, len - i < piece ? len - i : piece);
		fake_push(t, part);
		loop_fake_settle(l);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = 0;
	if (size > INPUT_BYTES_MAX)
		return 0;
	CLEANUP(xfreep) char *text = xstrndup((const char *)data, size);
	struct loop *l = loop_fake_new(0);
	struct transport_fake *t = transport_fake_new(l);
	struct client *c = client_new(l, transport_fake_transport(t));
	const struct informer_config config = {
		.client = c,
		.resource = {"", "v1", "configmaps", "ConfigMap", true},
		.changed = on_change,
		.arg = &n,
	};
	size_t head = strcspn(text, "\n");
	const char *stream = text[head] ? text + head + 1 : "";
	answer(t, text);
	struct informer *i = informer_new(&config);
	informer_start(i);
	loop_fake_settle(l);
	if (informer_is_synced(i))
		push(t, stream, l);
	loop_fake_run(l, SPAN_NS);
	assert(informer_count(i) == n);
	const struct informer_object *o = NULL;
	while ((o = informer_next(i, o))) {
		assert(informer_get(i, o->ns, o->name) == o);
		n--;
	}
	assert(n == 0);
	informer_free(i);
	client_free(c);
	transport_fake_free(t);
	loop_free(l);
	return 0;
}
