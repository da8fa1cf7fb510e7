#include "alm/io/curl_lane.h"

#include <assert.h>
#include <event2/event.h>

#include "alm/base/clock.h"
#include "alm/base/pool.h"
#include "alm/io/curl_lib.h"
#include "alm/io/loop_event.h"

#define IDLE_CONNECTIONS_MAX 64L
#define LOOK_NS              (4 * NS_PER_S)
#define SPARE_CONNECTIONS    8 /* for each call that there was lately */

static void reap(struct curl_lane *l)
{
	CURLMsg *msg;
	int left;
	while ((msg = l->curl->multi_info_read(l->multi, &left)) != NULL) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		l->ended(msg->easy_handle, msg->data.result);
	}
}

static void on_timer(void *arg)
{
	struct curl_lane *l = arg;
	int running;
	l->curl->multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	reap(l);
}

static int set_timer(CURLM *multi UNUSED, long ms, void *arg)
{
	struct curl_lane *l = arg;
	if (ms < 0)
		loop_disarm(l->loop, &l->timer);
	else
		loop_arm(l->loop, &l->timer, ms * NS_PER_MS);
	return 0;
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct curl_lane *l = arg;
	int running, flags = (what & EV_READ ? CURL_CSELECT_IN : 0) |
			     (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
	l->curl->multi_socket_action(l->multi, fd, flags, &running);
	reap(l);
}

static int set_socket(CURL *easy UNUSED, curl_socket_t fd, int what, void *arg, void *socket)
{
	struct curl_lane *l = arg;
	struct event *e = socket;
	if (e)
		event_free(e);
	e = NULL;
	if (what != CURL_POLL_REMOVE) {
		short events = EV_PERSIST;
		if (what != CURL_POLL_OUT)
			events |= EV_READ;
		if (what != CURL_POLL_IN)
			events |= EV_WRITE;
		e = event_new(loop_event_base(l->loop), fd, events, on_socket, l);
		assert(e);
		event_add(e, NULL);
	}
	l->curl->multi_assign(l->multi, fd, e);
	return 0;
}

void curl_lane_close(struct curl_lane *l)
{
	assert(!l->n_calls);
	if (l->multi)
		l->curl->multi_cleanup(l->multi);
	l->multi = NULL;
	l->most = 0;
	loop_disarm(l->loop, &l->timer);
	loop_disarm(l->loop, &l->look);
}

static void on_look(void *arg)
{
	struct curl_lane *l = arg;
	if (!l->n_calls && l->most > SPARE_CONNECTIONS * l->most_lately) {
		curl_lane_close(l);
		pool_trim();
		return;
	}
	l->most_lately = l->n_calls;
	loop_arm(l->loop, &l->look, LOOK_NS);
}

static void lane_open(struct curl_lane *l)
{
	l->multi = l->curl->multi_init();
	assert(l->multi);
	loop_arm(l->loop, &l->look, LOOK_NS);
	l->curl->multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	l->curl->multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
	l->curl->multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	l->curl->multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
	l->curl->multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS_MAX);
}

void curl_lane_init(struct curl_lane *l, struct loop *loop, const struct curl_lib *curl,
		    void (*ended)(CURL *easy, CURLcode code))
{
	*l = (struct curl_lane){.curl = curl,
				.ended = ended,
				.loop = loop,
				.timer = {.fn = on_timer, .arg = l},
				.look = {.fn = on_look, .arg = l}};
}

void curl_lane_add(struct curl_lane *l, CURL *easy)
{
	if (!l->multi)
		lane_open(l);
	l->n_calls++;
	l->most = l->n_calls > l->most ? l->n_calls : l->most;
	l->most_lately = l->n_calls > l->most_lately ? l->n_calls : l->most_lately;
	CURLMcode code = l->curl->multi_add_handle(l->multi, easy);
	assert(code == CURLM_OK);
}

void curl_lane_remove(struct curl_lane *l, CURL *easy)
{
	l->curl->multi_remove_handle(l->multi, easy);
	l->n_calls--;
}
