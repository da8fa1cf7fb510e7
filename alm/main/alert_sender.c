#include "alm/main/alert_sender.h"

#include "alm/base/str.h"
#include "alm/controllers/alerts_of.h"

int alert_sender_open(struct alert_sender *s, struct loop *l, const char *url, struct metrics *m,
		      struct error *err)
{
	if (!url)
		return 0;
	if (!cstr_has_prefix(url, "http://") && !cstr_has_prefix(url, "https://"))
		return error_set(err, E_USAGE,
				 "--alertmanager %s: want http://HOST:PORT or https://HOST:PORT",
				 url);
	struct transport_config c = {.base_url = url, .user_agent = "alm/" ALM_VERSION};
	if (transport_curl_new(l, &c, &s->transport, err) < 0)
		return -err->code;
	s->client = client_new(l, s->transport);
	s->alerts = alerts_new(s->client, alerts_of, m);
	return 0;
}

void alert_sender_close(struct alert_sender *s)
{
	alerts_free(STEAL(s->alerts));
	client_free(STEAL(s->client));
	transport_free(STEAL(s->transport));
}
