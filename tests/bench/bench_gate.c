/*
 * bench_gate: the gate on two definitions of 500 KiB against parsing both of them in the same run,
 * and the live check of objects against parsing each. Lines are "NAME ratio R", and milliseconds.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alm/obj/json.h"
#include "catalog/gate/gate.h"

#define ROUNDS  30
#define OBJECTS 5000

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void add_fields(struct strbuf *b, int max_length)
{
	for (int i = 0; i < 64; i++) {
		strbuf_addf(b, "%s\"group%d\":{\"type\":\"object\",\"properties\":{", i ? "," : "",
			    i);
		for (int k = 0; k < 60; k++)
			strbuf_addf(b,
				    "%s\"field%d\":{\"type\":\"string\",\"description\":\"a text "
				    "about as long as those of large operators are, a line and a "
				    "half of it\",\"maxLength\":%d}",
				    k ? "," : "", k, max_length);
		strbuf_adds(b, "}}");
	}
}

static void definition(struct strbuf *b, int max_length)
{
	strbuf_adds(b,
		    "{\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"as.x.io\"},"
		    "\"spec\":{\"group\":\"x.io\",\"names\":{\"kind\":\"A\"},\"versions\":[{"
		    "\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
		    "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
		    "\"object\",\"properties\":{");
	add_fields(b, max_length);
	strbuf_adds(b, "}}}}}}]}}");
}

static struct obj *parsed(const struct strbuf *b)
{
	struct obj *o = NULL;
	struct error err = ERROR_INIT;
	if (json_parse(strbuf_str(b), &o, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
	return o;
}

static struct gate *begin(const struct obj *before, const struct obj *after)
{
	const struct gate_input in = {.before = before, .after = after};
	struct gate *g = NULL;
	struct error err = ERROR_INIT;
	if (gate_begin(&in, &g, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
	return g;
}

/* name: "definitions", where every field got wider; "findings", where every one got narrower. */
static void definitions(const char *name, const struct strbuf *x, const struct strbuf *y)
{
	double parse = 0, gate = 0;
	for (int i = 0; i < ROUNDS; i++) {
		double t0 = now_ms();
		struct obj *before = parsed(x), *after = parsed(y);
		double t1 = now_ms();
		struct gate *g = begin(before, after);
		gate_offline(g);
		gate_free(g);
		parse += t1 - t0;
		gate += now_ms() - t1;
		obj_unref(before);
		obj_unref(after);
	}
	printf("gate_%s ratio %.2f (%.1f ms for 2 x %zu KiB)\n", name, gate / parse, gate / ROUNDS,
	       x->len >> 10);
}

static void objects(const struct strbuf *x, const struct strbuf *y)
{
	static const char text[] =
		"{\"apiVersion\":\"x.io/"
		"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"o\"},\"spec\":{"
		"\"group1\":{\"field1\":\"a\",\"field2\":\"b\",\"field3\":\"c\"},\"group2\":{"
		"\"field1\":\"a\",\"field2\":\"b\",\"field3\":\"c\"}}}";
	struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct obj *before = parsed(x), *after = parsed(y);
	struct gate *g = begin(before, after);
	double parse = 0, gate = 0;
	strbuf_adds(&b, text);
	for (int i = 0; i < OBJECTS; i++) {
		double t0 = now_ms();
		struct obj *o = parsed(&b);
		double t1 = now_ms();
		gate_object(g, o, "v1");
		parse += t1 - t0;
		gate += now_ms() - t1;
		obj_unref(o);
	}
	gate_finish(g);
	printf("gate_objects ratio %.2f (%.0f us an object)\n", gate / parse, gate * 1e3 / OBJECTS);
	gate_free(g);
	obj_unref(before);
	obj_unref(after);
	strbuf_release(&b);
}

int main(void)
{
	struct strbuf x = STRBUF_INIT((size_t)4 << 20), y = STRBUF_INIT((size_t)4 << 20);
	definition(&x, 10);
	definition(&y, 20);
	definitions("definitions", &x, &y);
	definitions("findings", &y, &x);
	objects(&x, &y);
	strbuf_release(&x);
	strbuf_release(&y);
	return 0;
}
