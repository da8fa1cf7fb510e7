#include "alm/main/injected_server.h"

static int sign(void *arg, const char *cert, const char *key, struct error *err)
{
	struct injected_server *s = arg;
	const char *former_cert = s->serving.ca_cert, *former_key = s->serving.ca_key;
	s->serving.ca_cert = cert;
	s->serving.ca_key = key;
	if (serving_cert_make(&s->serving, err) >= 0 &&
	    (!s->server || server_renew(s->server, s->serving.cert, s->serving.key, err) >= 0))
		return 0;
	s->serving.ca_cert = former_cert;
	s->serving.ca_key = former_key;
	return -err->code;
}

static int make_certificates(struct injected_server *s, const struct injected_server_config *c,
			     struct error *err)
{
	const struct injected_ca_config cc = {.client = c->client,
					      .place = c->place,
					      .dir = c->data_dir,
					      .name = c->ca_name,
					      .object = c->object,
					      .sign = sign,
					      .arg = s};
	s->hosts[0] = c->host;
	s->serving = (struct serving_cert){.loop = client_loop(c->client),
					   .listen = c->listen,
					   .hosts = s->hosts,
					   .n_hosts = ARRAY_LEN(s->hosts)};
	return injected_ca_open(&cc, &s->ca, err);
}

int injected_server_start(struct injected_server *s, const struct injected_server_config *c,
			  struct arena *arena, server_handler handler, void *arg, struct error *err)
{
	const char **hosts = ARENA_ARRAY(arena, const char *, c->n_hosts + 1);
	hosts[0] = c->host;
	for (size_t i = 0; i < c->n_hosts; i++)
		hosts[i + 1] = c->hosts[i];
	if (make_certificates(s, c, err) < 0)
		return -err->code;
	const struct server_config sc = {.listen = c->listen,
					 .cert_pem = s->serving.cert,
					 .key_pem = s->serving.key,
					 .admit = c->admit,
					 .body_max = c->body_max,
					 .body_ns = c->body_ns,
					 .limits = c->limits,
					 .hosts = hosts,
					 .n_hosts = c->n_hosts + 1};
	if (server_listen(client_loop(c->client), &sc, handler, arg, &s->server, err) < 0)
		return -err->code;
	serving_cert_keep(&s->serving, s->server);
	injected_ca_start(s->ca);
	return 0;
}

void injected_server_lead(struct injected_server *s, bool leads)
{
	injected_ca_lead(s->ca, leads);
}

void injected_server_end(struct injected_server *s)
{
	injected_ca_free(STEAL(s->ca));
}

void injected_server_release(struct injected_server *s)
{
	injected_server_end(s);
	server_free(s->server);
	serving_cert_release(&s->serving);
}
