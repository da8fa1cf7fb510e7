/*
 * load: clients of an API server on loopback, for bench_table.sh. The same requests to whichever server is named.
 *
 *	load PORT TOKEN create CLIENTS N FIRST    N objects named wFIRST and on, by so many clients, as fast as they are answered
 *	load PORT TOKEN patch|get CLIENTS N FIRST the same of objects that are there, FIRST to FIRST + 1,000
 *	load PORT TOKEN list N                    all of them, N times
 *	load PORT TOKEN watch WATCHERS RATE N     N creates, RATE a second (0: one after the other): each watcher's delay
 *	load PORT TOKEN hold WATCHERS             opens so many watches, prints a line, ends when its input does
 *
 * Prints `RATE P50 P99 COUNT`, per second and in ms; exit 1 if an answer was no 2xx or a watcher missed an event.
 * A thread a client, over TLS with HTTP/1.1. NAMESPACE=default: where the objects are; a watch begins with all that are there.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alm/base/strbuf.h"
#include "alm/io/http_parse.h"

#define STACK_BYTES ((size_t)256 << 10)
#define PATCHED     1000 /* objects that patches and gets take turns with */
#define BODY_MAX    ((size_t)256 << 20)
#define CLIENTS_MAX 4096
#define POSTERS_MAX 16
#define RATE_OF_ONE 100 /* creates a second that one connection is sure to have answered */

struct link {
	SSL *ssl;
	struct strbuf in;
};

static SSL_CTX *tls;
static int port;
static const char *token, *mode;
static char kind[128]; /* the path of its objects */
static long n_clients, n_wanted, first, rate;
static long next_one, n_bad, n_times;
static double *times; /* ms */
static long times_max;

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "load: %s\n", what);
	exit(2);
}

static void took(double ms)
{
	long i = __atomic_fetch_add(&n_times, 1, __ATOMIC_SEQ_CST);
	if (i < times_max)
		times[i] = ms;
}

/* The wire */

static struct link link_open(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("no connection");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct link l = {.ssl = SSL_new(tls), .in = STRBUF_INIT(BODY_MAX)};
	if (!l.ssl || !SSL_set_fd(l.ssl, fd) || SSL_connect(l.ssl) != 1)
		die("no TLS");
	return l;
}

static void link_close(struct link *l)
{
	close(SSL_get_fd(l->ssl));
	SSL_free(l->ssl);
	strbuf_release(&l->in);
}

static void ask(struct link *l, const char *method, const char *target, const char *type,
		struct str body)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	strbuf_addf(&b,
		    "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: "
		    "application/json\r\n",
		    method, target, token);
	if (body.len)
		strbuf_addf(&b, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, body.len);
	strbuf_adds(&b, "\r\n");
	strbuf_addstr(&b, body);
	if (SSL_write(l->ssl, b.buf, (int)b.len) != (int)b.len)
		die("the connection broke off");
}

static void more(struct link *l)
{
	char piece[16384];
	int n = SSL_read(l->ssl, piece, sizeof(piece));
	if (n <= 0)
		die("the answer broke off");
	strbuf_add(&l->in, piece, (size_t)n);
}

/* Where text begins from at on; reads until it is there. */
static size_t until(struct link *l, size_t at, const char *text)
{
	const char *found;
	while (at > l->in.len ||
	       !(found = memmem(l->in.buf + at, l->in.len - at, text, strlen(text))))
		more(l);
	return (size_t)(found - l->in.buf);
}

/* The number behind text in what was read, up to end; -1: there is none. */
static int64_t number_behind(const struct link *l, const char *text, size_t end)
{
	const char *found = memmem(l->in.buf, end, text, strlen(text));
	struct str digits;
	int64_t n = -1;
	if (!found)
		return -1;
	str_cut(str_of(found + strlen(text)), '\r', &digits, &(struct str){0});
	return str_parse_i64(digits, &n) ? n : -1;
}

/* The answer is taken out of the buffer. Its status. */
static int64_t answer(struct link *l)
{
	struct error err = ERROR_INIT;
	struct http_chunked chunked = {0};
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);
	int64_t status = 0;
	size_t head = until(l, 0, "\r\n\r\n") + 4;
	int64_t length = number_behind(l, "\r\nContent-Length: ", head);
	str_parse_i64(str_n(l->in.buf + 9, 3), &status);
	if (length >= 0) {
		while (l->in.len < head + (size_t)length)
			more(l);
		strbuf_remove(&l->in, 0, head + (size_t)length);
		return status;
	}
	strbuf_remove(&l->in, 0, head);
	for (int r = 0; r == 0;) {
		struct str in = strbuf_str(&l->in);
		r = http_chunked_read(&chunked, &in, &body, &err);
		strbuf_remove(&l->in, 0, l->in.len - in.len);
		if (r < 0)
			die(err.msg);
		if (r == 0)
			more(l);
	}
	return status;
}

/* Requests */

static void object(struct strbuf *b, long i)
{
	strbuf_clear(b);
	strbuf_addf(b,
		    "{\"apiVersion\":\"e.io/"
		    "v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"w%06ld\",\"labels\":"
		    "{\"app\":\"bench\"}},\"spec\":{\"size\":%ld,\"at\":\"@%lld@\",\"text\":\"",
		    i, i, (long long)(now_ms() * 1e3));
	strbuf_pad(b, 'x', 300);
	strbuf_adds(b, "\"}}");
}

static void one(struct link *l, long i)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	char target[200];
	snprintf(target, sizeof(target), "%s/w%06ld", kind, first + i % PATCHED);
	double begin = now_ms();
	if (strcmp(mode, "get") == 0) {
		ask(l, "GET", target, "", str_of(""));
	} else if (strcmp(mode, "patch") == 0) {
		strbuf_addf(&b, "{\"spec\":{\"size\":%ld}}",
			    first + i + PATCHED); /* never what it is */
		ask(l, "PATCH", target, "application/merge-patch+json", strbuf_str(&b));
	} else if (strcmp(mode, "list") == 0) {
		ask(l, "GET", kind, "", str_of(""));
	} else {
		object(&b, first + i);
		ask(l, "POST", kind, "application/json", strbuf_str(&b));
	}
	if (answer(l) / 100 != 2)
		__atomic_fetch_add(&n_bad, 1, __ATOMIC_SEQ_CST);
	else
		took(now_ms() - begin);
}

static void *client(void *arg)
{
	struct link *l = arg;
	for (long i; (i = __atomic_fetch_add(&next_one, 1, __ATOMIC_SEQ_CST)) < n_wanted;)
		one(l, i);
	return NULL;
}

/* Each asks before the next one connects: a server has room for few that it does not know. */
static void watch(struct link *l)
{
	char target[200];
	snprintf(target, sizeof(target), "%s?watch=true&resourceVersion=0", kind);
	ask(l, "GET", target, "", str_of(""));
	size_t at = until(l, 0, "\r\n\r\n") + 4;
	if (!cstr_has_prefix(l->in.buf, "HTTP/1.1 200"))
		die(l->in.buf);
	strbuf_remove(&l->in, 0, at);
}

/* Of each event the time that its object was sent at. */
static void *watcher(void *arg)
{
	struct link *l = arg;
	for (long n = 0; n < n_wanted; n++) {
		int64_t sent = 0;
		size_t from = until(l, 0, "\"at\":\"@") + 7, end = until(l, from, "@");
		str_parse_i64(str_n(l->in.buf + from, end - from), &sent);
		strbuf_remove(&l->in, 0, end);
		took(now_ms() - (double)sent / 1e3);
	}
	return NULL;
}

/* Threads */

static pthread_t threads[CLIENTS_MAX];
static struct link links[CLIENTS_MAX];

static void start(void *(*fn)(void *arg))
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK_BYTES);
	for (long i = 0; i < n_clients; i++) {
		links[i] = link_open();
		if (fn == watcher)
			watch(&links[i]);
	}
	for (long i = 0; i < n_clients; i++)
		if (pthread_create(&threads[i], &a, fn, &links[i]) != 0)
			die("no thread");
	pthread_attr_destroy(&a);
}

static void join(void)
{
	for (long i = 0; i < n_clients; i++) {
		pthread_join(threads[i], NULL);
		link_close(&links[i]);
	}
}

static void sleep_until(double ms)
{
	double rest = ms - now_ms();
	struct timespec t = {.tv_sec = (time_t)(rest / 1e3)};
	t.tv_nsec = (long)((rest - (double)t.tv_sec * 1e3) * 1e6);
	if (rest > 0)
		nanosleep(&t, NULL);
}

static double began;

/* Creates, each in its time if there is a rate. */
static void *poster(void *arg)
{
	struct link *l = arg;
	for (long i; (i = __atomic_fetch_add(&next_one, 1, __ATOMIC_SEQ_CST)) < n_wanted;) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
		if (rate)
			sleep_until(began + (double)i * 1e3 / (double)rate);
		object(&b, first + i);
		ask(l, "POST", kind, "application/json", strbuf_str(&b));
		if (answer(l) / 100 != 2)
			__atomic_fetch_add(&n_bad, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void watched(void)
{
	start(watcher);
	sleep_until(now_ms() + 500);
	static pthread_t posters[POSTERS_MAX];
	static struct link lines[POSTERS_MAX];
	long n = rate > RATE_OF_ONE ? POSTERS_MAX : 1;
	for (long i = 0; i < n; i++)
		lines[i] = link_open();
	began = now_ms();
	for (long i = 0; i < n; i++)
		if (pthread_create(&posters[i], NULL, poster, &lines[i]) != 0)
			die("no thread");
	for (long i = 0; i < n; i++) {
		pthread_join(posters[i], NULL);
		link_close(&lines[i]);
	}
	join();
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int hold(void)
{
	n_wanted = 1;
	start(watcher);
	printf("open\n");
	(void)fflush(stdout);
	(void)getchar();
	_exit(0);
}

/* Word i of the command line, a number. */
static long number(int argc, char **argv, int i, long without)
{
	int64_t n = without;
	if (i < argc && (!str_parse_i64(str_of(argv[i]), &n) || n < 0 || n > 10000000))
		die("a number is expected: see the head of load.c");
	return (long)n;
}

static void take_words(int argc, char **argv)
{
	if (argc < 5)
		die("PORT TOKEN create|patch|get|list|watch|hold ...: see the head of load.c");
	port = (int)number(argc, argv, 1, 0);
	token = argv[2];
	mode = argv[3];
	bool watches = strcmp(mode, "watch") == 0, lists = strcmp(mode, "list") == 0;
	n_clients = lists ? 1 : number(argc, argv, 4, 1);
	n_wanted = number(argc, argv, lists ? 4 : watches ? 6 : 5, 1);
	rate = watches ? number(argc, argv, 5, 0) : 0;
	first = number(argc, argv, watches ? 7 : 6, 0);
	if (n_clients < 1 || n_clients > CLIENTS_MAX)
		die("so many clients are not to be had");
	const char *namespace = getenv("NAMESPACE");
	snprintf(kind, sizeof(kind), "/apis/e.io/v1/namespaces/%.63s/ws",
		 namespace ? namespace : "default");
	times_max = watches ? n_wanted * n_clients : n_wanted;
	times = xcalloc((size_t)times_max, sizeof(*times));
}

static int tell(double s)
{
	long n = n_times < times_max ? n_times : times_max;
	qsort(times, (size_t)n, sizeof(*times), by_size);
	printf("%.0f %.3f %.3f %ld\n", (double)n / s, n ? times[n / 2] : 0,
	       n ? times[n * 99 / 100] : 0, n);
	xfree(times);
	return n_bad || n < times_max;
}

int main(int argc, char **argv)
{
	take_words(argc, argv);
	tls = SSL_CTX_new(TLS_client_method());
	if (!tls)
		die("no TLS");
	SSL_CTX_set_verify(tls, SSL_VERIFY_NONE, NULL);
	if (strcmp(mode, "hold") == 0)
		return hold();
	double begin = now_ms();
	if (strcmp(mode, "watch") == 0) {
		watched();
	} else {
		start(client);
		begin = now_ms();
		join();
	}
	SSL_CTX_free(tls);
	return tell((now_ms() - begin) / 1e3);
}
