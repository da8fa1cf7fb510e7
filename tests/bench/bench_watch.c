/*
 * bench_watch: what a change costs with 1, 100 and 1,000 watches open on its kind, and with one
 * more whose client takes nothing: that one is cut, and every other is told of all. Fails if a
 * change is lost, the stuck one stays, or it makes the others dearer; or if that they select by
 * fields does, as the object is read once for all. Without sockets and TLS.
 */
#include <stdio.h>
#include <time.h>

#include "alm/base/strbuf.h"
#include "tests/lib/exchange_fake.h"

#define CHANGES   100
#define CMS       "/api/v1/namespaces/default/configmaps"
#define WATCH     CMS "?watch=1"
#define SELECTING WATCH "&fieldSelector=metadata.name%21%3Dnone"
#define STUCK_MAX ((size_t)64 << 20) /* what its client has not taken */

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t lines_of(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++)
		n += s.ptr[i] == '\n';
	return n;
}

static void change(struct apifake *f, int i)
{
	char name[64], body[256];
	snprintf(name, sizeof(name), "w%06d", i);
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"},"
		 "\"data\":{\"k\":\"some text\"}}",
		 name);
	(void)apifake_send(f, "POST", CMS, NULL, body);
	apifake_run(f);
}

struct outcome {
	double us, longest_ms; /* of processor time, for one change; of the dearest */
	size_t lost;
	bool cut;
};

static struct outcome run(size_t watchers, bool stuck, const char *path)
{
	struct outcome ret = {.cut = !stuck};
	CLEANUP(apifake_freep) struct apifake *f = apifake_new(NULL);
	CLEANUP(xfreep) size_t *streams = xcalloc(watchers, sizeof(*streams));
	for (size_t i = 0; i < watchers; i++)
		streams[i] = apifake_send(f, "GET", path, NULL, NULL);
	size_t last = stuck ? apifake_send(f, "GET", WATCH, NULL, NULL) : 0;
	apifake_run(f);
	size_t before = lines_of(apifake_answer(f, streams[0]).body);
	if (stuck)
		apifake_clog(f, last, STUCK_MAX);
	double all = cpu_s();
	for (int i = 0; i < CHANGES; i++) {
		double t = cpu_s();
		change(f, i);
		double ms = (cpu_s() - t) * 1e3;
		ret.longest_ms = ms > ret.longest_ms ? ms : ret.longest_ms;
	}
	ret.us = (cpu_s() - all) * 1e6 / CHANGES;
	for (size_t i = 0; i < watchers; i++)
		ret.lost += CHANGES + before - lines_of(apifake_answer(f, streams[i]).body);
	if (stuck)
		ret.cut = apifake_answer(f, last).cut;
	return ret;
}

int main(void)
{
	static const size_t watchers[] = {1, 100, 1000};
	bool good = true;
	for (size_t i = 0; i < ARRAY_LEN(watchers); i++) {
		struct outcome free = run(watchers[i], false, WATCH);
		struct outcome stuck = run(watchers[i], true, WATCH);
		struct outcome picky = run(watchers[i], false, SELECTING);
		printf("%4zu watches: %7.0f us a change, dearest %.1f ms; one more stuck: %7.0f "
		       "us, "
		       "dearest %.1f ms, %s; %zu changes lost\n",
		       watchers[i], free.us, free.longest_ms, stuck.us, stuck.longest_ms,
		       stuck.cut ? "cut" : "NOT CUT", free.lost + stuck.lost);
		printf("%4zu watches by field: %7.0f us a change, %zu changes lost\n", watchers[i],
		       picky.us, picky.lost);
		good = good && stuck.cut && !free.lost && !stuck.lost && !picky.lost &&
		       stuck.us < 2 * free.us + 100 && picky.us < 2 * free.us + 100;
	}
	return good ? 0 : 1;
}
