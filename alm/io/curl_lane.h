/*
 * curl_lane: one multi handle of libcurl with its connections, on the loop.
 *
 * A connection that waits for the next call takes 70 KiB. What closes all of them is the end of
 * their multi handle, so calls without end (watches) have a lane of their own, and each is looked at
 * every LOOK_NS: one that has many more connections than it had calls lately goes.
 *
 * Calls are added and removed from tasks and timers only, never from inside one of libcurl's
 * callbacks, where that is forbidden.
 */
#ifndef ALM_IO_CURL_LANE_H
#define ALM_IO_CURL_LANE_H

#include "alm/io/curl_lib.h"
#include "alm/io/loop.h"

struct curl_lane {
	const struct curl_lib *curl;
	void (*ended)(CURL *easy, CURLcode code);
	struct loop *loop;
	CURLM *multi; /* NULL: no call has needed it lately */
	size_t n_calls;
	size_t most, most_lately; /* of them at a time: since it is open, since the last look */
	struct timer timer;       /* libcurl's own */
	struct timer look;        /* while there are calls, or were since the last one */
};

/* ended: of each call once, in on_timer's or on_socket's turn; it may remove the call. */
void curl_lane_init(struct curl_lane *l, struct loop *loop, const struct curl_lib *curl,
		    void (*ended)(CURL *easy, CURLcode code));
/* Opens the lane if it is not. */
void curl_lane_add(struct curl_lane *l, CURL *easy);
/* Also of a call under way. */
void curl_lane_remove(struct curl_lane *l, CURL *easy);
/* There are no calls any more. It may be used again. */
void curl_lane_close(struct curl_lane *l);

#endif
