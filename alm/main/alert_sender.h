/* alert_sender: what `--alertmanager URL` needs: a connection of its own and the alerts on it. */
#ifndef ALM_MAIN_ALERT_SENDER_H
#define ALM_MAIN_ALERT_SENDER_H

#include "alm/engine/alerts.h"

struct alert_sender {
	struct transport *transport;
	struct client *client;
	struct alerts *alerts; /* NULL without a URL */
};

/* url NULL: none, which is no error. */
int alert_sender_open(struct alert_sender *s, struct loop *l, const char *url, struct metrics *m,
		      struct error *err);
void alert_sender_close(struct alert_sender *s);

#endif
