#include "tests/lib/generated_life.h"

#include <stdio.h>
#include <string.h>

#include "alm/base/clock.h"
#include "alm/base/strbuf.h"
#include "alm/obj/json.h"
#include "alm/obj/obj.h"
#include "tests/lib/digests.h"
#include "tests/lib/exchange_fake.h"

#define STEPS     200
#define BYTES_MAX ((size_t)8 << 20)
#define NS        "/namespaces/default/"
#define LOG       "/apis/audit.app.coreos.com/v1alpha1/auditrecords"

struct life {
	struct apifake *f;
	struct sha256 *hash;
	uint64_t state;
	bool shown;
	struct arena *a;
};

/* xorshift: the same everywhere */
static size_t below(struct life *l, size_t n)
{
	l->state ^= l->state << 13;
	l->state ^= l->state >> 7;
	l->state ^= l->state << 17;
	return (size_t)(l->state % n);
}

void digest_answer(const struct answer *a, struct strbuf *b)
{
	for (size_t i = 0; a->headers && i < a->headers->n; i++) {
		strbuf_addf(b, "[%s: ", a->headers->items[i].name);
		digest_neutral(str_of(a->headers->items[i].value), b);
		strbuf_adds(b, "] ");
	}
	digest_neutral(a->body, b);
}

static void note(struct life *l, const char *what, const struct answer *a)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(BYTES_MAX);
	strbuf_addf(&b, "%s -> %d ", what, a->status);
	digest_answer(a, &b);
	digest_add(l->hash, strbuf_str(&b));
	if (l->shown)
		printf("%s\n", b.buf);
}

static struct answer ask(struct life *l, const char *method, const char *target, const char *body)
{
	const char *type = method[1] == 'A' ? "application/merge-patch+json" : "application/json";
	struct answer a = apifake_do_type(l->f, method, target, type, body);
	note(l, arena_fmt(l->a, "%s %s %s", method, target, body ? body : ""), &a);
	return a;
}

/* --- what comes --- */

/* In what follows @ is a name and # a drawn digit. */
#define POD                                                                               \
	"\"containers\":[{\"name\":\"c\",\"image\":\"i:#\",\"resources\":{\"requests\":{" \
	"\"cpu\":\"#00m\"}}}]"
#define TEMPLATE(more) \
	"\"template\":{\"metadata\":{\"labels\":{\"app\":\"@\"}},\"spec\":{" more POD "}}"
#define SELECTOR "\"selector\":{\"matchLabels\":{\"app\":\"@\"}}"
#define WORKLOAD "{\"replicas\":#," SELECTOR "," TEMPLATE("") "}"
#define JOB      "{\"completions\":#," TEMPLATE("\"restartPolicy\":\"Never\",") "}"

static const struct place {
	const char *path, *version, *kind, *spec;
} places[] = {
	{"/apis/apps/v1" NS "deployments", "apps/v1", "Deployment", WORKLOAD},
	{"/apis/apps/v1" NS "statefulsets", "apps/v1", "StatefulSet", WORKLOAD},
	{"/apis/apps/v1" NS "replicasets", "apps/v1", "ReplicaSet", WORKLOAD},
	{"/apis/apps/v1" NS "daemonsets", "apps/v1", "DaemonSet",
	 "{" SELECTOR "," TEMPLATE("") "}"},
	{"/apis/batch/v1" NS "jobs", "batch/v1", "Job", JOB},
	{"/apis/batch/v1" NS "cronjobs", "batch/v1", "CronJob",
	 "{\"schedule\":\"*/1# * * * *\",\"jobTemplate\":{\"spec\":" JOB "}}"},
	{"/api/v1" NS "services", "v1", "Service",
	 "{\"selector\":{\"app\":\"@\"},\"ports\":[{\"port\":80}]}"},
	{"/api/v1" NS "pods", "v1", "Pod", "{" POD "}"},
	{"/api/v1" NS "configmaps", "v1", "ConfigMap", NULL},
	{"/api/v1" NS "secrets", "v1", "Secret", NULL},
	{"/api/v1" NS "serviceaccounts", "v1", "ServiceAccount", NULL},
	{"/api/v1" NS "persistentvolumeclaims", "v1", "PersistentVolumeClaim",
	 "{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}"
	 "}"},
	{"/api/v1" NS "resourcequotas", "v1", "ResourceQuota", "{\"hard\":{\"pods\":\"1#\"}}"},
	{"/api/v1" NS "limitranges", "v1", "LimitRange",
	 "{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"3#0m\"},\"default\":{\"cpu\":"
	 "\"200m\"}}]}"},
	{"/apis/policy/v1" NS "poddisruptionbudgets", "policy/v1", "PodDisruptionBudget",
	 "{\"minAvailable\":#," SELECTOR "}"},
	{"/apis/networking.k8s.io/v1" NS "ingresses", "networking.k8s.io/v1", "Ingress",
	 "{\"defaultBackend\":{\"service\":{\"name\":\"@\",\"port\":{\"number\":80}}}}"},
	{"/api/v1/namespaces", "v1", "Namespace", NULL},
};

static const char *const names[] = {"a", "b"};

static const char *name_of(struct life *l)
{
	return names[below(l, ARRAY_LEN(names))];
}

static const char *filled(struct life *l, const char *text, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	for (; *text; text++) {
		if (*text == '@')
			strbuf_adds(&b, name);
		else if (*text == '#')
			strbuf_addc(&b, (char)('0' + below(l, 5)));
		else
			strbuf_addc(&b, *text);
	}
	return arena_strndup(l->a, b.buf, b.len);
}

/* An owner among what is there, whose uid is asked for; or nobody. */
static const char *owners_of(struct life *l)
{
	const struct place *p = &places[below(l, ARRAY_LEN(places))];
	const char *name = name_of(l);
	if (below(l, 3))
		return "";
	struct answer a = apifake_do(l->f, "GET", arena_fmt(l->a, "%s/%s", p->path, name), NULL);
	const char *uid = obj_str(a.json, "metadata.uid");
	return arena_fmt(l->a,
			 ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%"
			 "s\",\"uid\":"
			 "\"%s\",\"blockOwnerDeletion\":%s}]",
			 p->version, p->kind, name,
			 a.status == 200 && uid ? uid : "00000000-0000-0000-0000-000000000000",
			 below(l, 2) ? "true" : "false");
}

static void create(struct life *l, const struct place *p)
{
	const char *name = name_of(l), *owners = owners_of(l);
	const char *method = "POST",
		   *finalizers = below(l, 6) ? "" : ",\"finalizers\":[\"x.io/f\"]";
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
		    "\"labels\":{\"app\":\"%s\"}%s%s}",
		    p->version, p->kind, name, name, owners, finalizers);
	if (p->spec)
		strbuf_addf(&b, ",\"spec\":%s", filled(l, p->spec, name));
	strbuf_adds(&b, "}");
	/* with the owner's uid it would not be the same text in each run: the answer alone is folded */
	struct answer a = apifake_do(l->f, method, p->path, b.buf);
	note(l, arena_fmt(l->a, "%s %s %s", method, p->path, name), &a);
}

/* --- what changes and goes --- */

static void change(struct life *l, const struct place *p)
{
	static const char *const patches[] = {
		"{\"spec\":{\"replicas\":#}}",
		"{\"metadata\":{\"labels\":{\"l\":\"#\"}}}",
		"{\"metadata\":{\"finalizers\":null}}",
		"{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":#}}}}",
		"{\"spec\":{\"paused\":true}}",
		"{\"spec\":{\"paused\":false,\"suspend\":false}}",
		"{\"spec\":{\"suspend\":true}}",
		"{\"metadata\":{\"ownerReferences\":null}}",
		"{\"spec\":{\"hard\":{\"pods\":\"#\"}}}",
		"{\"metadata\":{\"annotations\":{\"k\":\"#\"}}}",
	};
	const char *body = filled(l, patches[below(l, ARRAY_LEN(patches))], "");
	ask(l, "PATCH", arena_fmt(l->a, "%s/%s", p->path, name_of(l)), body);
}

static void end(struct life *l, const struct place *p)
{
	static const char *const ways[] = {
		NULL,
		"{\"propagationPolicy\":\"Foreground\"}",
		"{\"propagationPolicy\":\"Background\"}",
		"{\"propagationPolicy\":\"Orphan\"}",
		"{\"gracePeriodSeconds\":0}",
	};
	const char *way = ways[below(l, ARRAY_LEN(ways))];
	if (below(l, 8))
		ask(l, "DELETE", arena_fmt(l->a, "%s/%s", p->path, name_of(l)), way);
	else if (strstr(p->path, NS))
		ask(l, "DELETE", arena_fmt(l->a, "%s?labelSelector=l%%3D%zu", p->path, below(l, 5)),
		    way);
}

static void pass_time(struct life *l)
{
	static const int64_t spans[] = {NS_PER_S / 10, NS_PER_S,       5 * NS_PER_S,
					31 * NS_PER_S, 2 * NS_PER_MIN, NS_PER_HOUR};
	apifake_advance(l->f, spans[below(l, ARRAY_LEN(spans))]);
}

/* --- what is seen --- */

static void look(struct life *l)
{
	static const char *const more[] = {
		"/api/v1" NS "endpoints", "/apis/discovery.k8s.io/v1" NS "endpointslices",
		"/api/v1" NS "events", "/apis/apps/v1" NS "controllerrevisions"};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		ask(l, "GET", places[i].path, NULL);
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		ask(l, "GET", more[i], NULL);
	apifake_header(l->f, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
	ask(l, "GET", places[below(l, ARRAY_LEN(places))].path, NULL);
}

/* The log has no uids of requests, times are the loop's. */
static void look_at_log(struct life *l)
{
	ask(l, "GET", LOG "?limit=100", NULL);
	ask(l, "GET", LOG "/1", NULL);
	ask(l, "GET", LOG "/0", NULL);
	ask(l, "GET", LOG "/x", NULL);
	ask(l, "GET", LOG "/999999", NULL);
	ask(l, "GET", LOG "?fieldSelector=involvedObject.kind%3DDeployment", NULL);
	ask(l, "GET", LOG "?fieldSelector=type%3DWrite&limit=3", NULL);
}

static void step(struct life *l)
{
	const struct place *p = &places[below(l, ARRAY_LEN(places))];
	switch (below(l, 8)) {
	case 0:
	case 1:
	case 2:
		create(l, p);
		break;
	case 3:
	case 4:
		change(l, p);
		break;
	case 5:
		end(l, p);
		break;
	default:
		pass_time(l);
	}
}

void generated_life(struct sha256 *h, uint64_t seed, bool shown)
{
	static const char *const watches[] = {
		"/api/v1/pods?watch=1", "/api/v1" NS "pods?watch=1&labelSelector=app%3Da",
		"/apis/apps/v1" NS "deployments?watch=1&fieldSelector=metadata.name%3Db",
		"/api/v1/namespaces?watch=1&allowWatchBookmarks=true"};
	struct life l = {
		.hash = h, .state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1, .shown = shown};
	size_t open[ARRAY_LEN(watches)];
	l.f = apifake_new(&(struct apifake_options){.simulate = true, .with_audit = true});
	l.a = arena_new(BYTES_MAX);
	for (size_t i = 0; i < ARRAY_LEN(watches); i++)
		open[i] = apifake_send(l.f, "GET", watches[i], NULL, NULL);
	for (int i = 1; i <= STEPS; i++) {
		step(&l);
		if (i % 40 == 0)
			look(&l);
	}
	apifake_run(l.f);
	for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
		struct answer a = apifake_answer(l.f, open[i]);
		note(&l, watches[i], &a);
		apifake_close(l.f, open[i]);
	}
	look_at_log(&l);
	arena_free(l.a);
	apifake_free(l.f);
}
