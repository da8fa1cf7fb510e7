#include "alm/main/embedded.h"

#include <stdio.h>
#include <string.h>

#include "alm/apiserver/apiserver.h"
#include "alm/base/clock.h"
#include "alm/base/file.h"
#include "alm/base/hash.h"
#include "alm/base/log.h"
#include "alm/cli/cli.h"
#include "alm/console/console.h"
#include "alm/io/data_dir.h"
#include "alm/io/jws.h"
#include "alm/io/serving_cert.h"
#include "alm/io/tls.h"
#include "alm/main/anchors.h"

#define TOKENS_MAX       1024
#define TOKEN_GROUPS_MAX 32
#define CONFIG_BYTES_MAX ((size_t)1 << 20)
#define STOP_GRACE_NS    (2 * NS_PER_S)

struct embedded {
	const char *data_dir, *listen, *token_file, *audit_origin;
	bool simulate, no_audit, own_controllers, no_legacy, new_ca, new_token;
	const struct anchor_setup *setup;
	struct anchors *anchors;
	struct metrics *metrics;
	const char *token; /* of admin */
	struct arena *arena;
	struct loop *loop;
	struct db *db;
	struct audit *audit;
	struct pruner *pruner;
	struct disk_watch *disk;
	struct apiserver *api;
	struct server *http;
	struct allowed_hosts hosts;
	struct apiserver_token tokens[TOKENS_MAX];
	size_t n_tokens;
	char *ca_cert, *ca_key;
	struct serving_cert serving;
	/* Of ServiceAccount tokens: the one that signs, and one whose tokens still count. */
	char *account_key, *account_old_key;
	bool new_account_key;
};

#define ACCOUNT_KEY     "service-account.key"
#define ACCOUNT_OLD_KEY "service-account.old.key"

/* What the certificate has, too: those of a Pod in a cluster. */
static const char *const cluster_names[] = {"kubernetes", "kubernetes.default",
					    "kubernetes.default.svc",
					    "kubernetes.default.svc.cluster.local"};

static const char *path_in(struct embedded *c, const char *name)
{
	return arena_fmt(c->arena, "%s/%s", c->data_dir, name);
}

/* The text of a file of the data folder, owned; NULL if it is not there, or was left empty by a
 * power cut before it could be used. */
static int read_own(struct embedded *c, const char *name, char **ret, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	*ret = NULL;
	int r = file_read(path_in(c, name), &b, err);
	if (r < 0)
		return err->code == E_NOTFOUND ? 0 : r;
	if (b.len)
		*ret = strbuf_detach(&b);
	return 0;
}

static int write_own(struct embedded *c, const char *name, const char *text, struct error *err)
{
	return file_replace(path_in(c, name), str_of(text), 0600, err);
}

/* The CA stays in the folder; a serving certificate is never stored. */
static int make_certificates(struct embedded *c, struct error *err)
{
	if (read_own(c, "ca.crt", &c->ca_cert, err) < 0 ||
	    read_own(c, "ca.key", &c->ca_key, err) < 0)
		return -err->code;
	c->new_ca = !c->ca_cert || !c->ca_key;
	if (c->new_ca) {
		xfree(STEAL(c->ca_cert));
		xfree(STEAL(c->ca_key));
		if (tls_ca_new(c->loop, "alm-ca", &c->ca_cert, &c->ca_key, err) < 0)
			return -err->code;
	}
	c->serving = (struct serving_cert){.loop = c->loop,
					   .ca_cert = c->ca_cert,
					   .ca_key = c->ca_key,
					   .listen = c->listen,
					   .hosts = c->hosts.names,
					   .n_hosts = c->hosts.n};
	if (serving_cert_make(&c->serving, err) < 0)
		return error_wrap(err, "%s, ca.key (remove both to get a new CA)",
				  path_in(c, "ca.crt"));
	return 0;
}

static int read_account_key(struct embedded *c, const char *name, char **ret, struct error *err)
{
	CLEANUP(jws_key_freep) struct jws_key *k = NULL;
	if (read_own(c, name, ret, err) < 0)
		return -err->code;
	if (*ret && jws_key_read(*ret, &k, err) < 0)
		return error_wrap(err, "%s (remove it, and the tokens it signed end)",
				  path_in(c, name));
	return 0;
}

/* To rotate: rename service-account.key to service-account.old.key and start again. */
static int account_keys(struct embedded *c, struct error *err)
{
	if (read_account_key(c, ACCOUNT_KEY, &c->account_key, err) < 0 ||
	    read_account_key(c, ACCOUNT_OLD_KEY, &c->account_old_key, err) < 0)
		return -err->code;
	c->new_account_key = !c->account_key;
	return c->new_account_key ? jws_key_new(&c->account_key, err) : 0;
}

static void add_token(struct embedded *c, const char *token, const char *user, const char *uid,
		      const char *const *groups, size_t n_groups)
{
	if (c->n_tokens < TOKENS_MAX)
		c->tokens[c->n_tokens++] =
			(struct apiserver_token){token, user, uid, groups, n_groups};
}

static int admin_token(struct embedded *c, struct error *err)
{
	static const char *const groups[] = {"system:masters", "system:authenticated"};
	char fresh[TLS_TOKEN_MAX];
	CLEANUP(xfreep) char *stored = NULL;
	if (read_own(c, "token", &stored, err) < 0)
		return -err->code;
	struct str t = str_trim(str_of(stored ? stored : ""));
	c->new_token = !t.len;
	if (c->new_token) {
		tls_token(c->loop, fresh);
		t = str_of(fresh);
	}
	c->token = arena_strndup(c->arena, t.ptr, t.len);
	add_token(c, c->token, "admin", "1", groups, 2);
	return 0;
}

/* token,user,uid,"group,group" a line. */
static int read_token_line(struct embedded *c, struct str line, struct error *err)
{
	struct str part[3], groups = line, group;
	for (int i = 0; i < 3; i++)
		if (!str_cut(groups, ',', &part[i], &groups) && i < 2)
			return error_set(err, E_USAGE, "%s: want token,user,uid[,\"groups\"]",
					 c->token_file);
	const char **list = ARENA_ARRAY(c->arena, const char *, TOKEN_GROUPS_MAX + 1);
	size_t n = 0;
	groups = str_trim(groups);
	if (groups.len >= 2 && groups.ptr[0] == '"')
		groups = str_sub(groups, 1, groups.len - 2);
	while (groups.len && n < TOKEN_GROUPS_MAX && str_next(&groups, ',', &group))
		list[n++] = arena_strndup(c->arena, group.ptr, group.len);
	list[n++] = "system:authenticated";
	add_token(c, arena_strndup(c->arena, part[0].ptr, part[0].len),
		  arena_strndup(c->arena, part[1].ptr, part[1].len),
		  arena_strndup(c->arena, part[2].ptr, part[2].len), list, n);
	return 0;
}

static int read_tokens(struct embedded *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct str rest, line;
	if (!c->token_file)
		return 0;
	if (credentials_check(c->token_file, err) < 0 || file_read(c->token_file, &b, err) < 0)
		return -err->code;
	rest = strbuf_str(&b);
	while (str_next_line(&rest, &line)) {
		line = str_trim(line);
		if (line.len && line.ptr[0] != '#' && read_token_line(c, line, err) < 0)
			return -err->code;
	}
	return 0;
}

static int write_kubeconfig(struct embedded *c, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf ca = STRBUF_INIT(CONFIG_BYTES_MAX);
	CLEANUP(xfreep) char *old = NULL;
	base64_encode(str_of(c->ca_cert), &ca);
	const char *text =
		arena_fmt(c->arena,
			  "apiVersion: v1\nkind: Config\nclusters:\n- name: alm\n  "
			  "cluster:\n    server: https://%s\n    "
			  "certificate-authority-data: %s\nusers:\n- name: admin\n  user:\n"
			  "    token: %s\ncontexts:\n- name: alm\n  context:\n    cluster: "
			  "alm\n    user: admin\ncurrent-context: alm\n",
			  server_address(c->http), ca.buf, c->token);
	if (read_own(c, "kubeconfig", &old, err) < 0)
		return -err->code;
	return cstr_eq(old, text) ? 0 : write_own(c, "kubeconfig", text, err);
}

void embedded_handle(void *arg, struct exchange *x)
{
	struct embedded *c = arg;
	if (!console_handle(x))
		apiserver_handle(c->api, x);
}

/* Health and the page of the console are everybody's. */
static bool admit(void *arg, struct exchange *x, struct server_client *ret)
{
	struct embedded *c = arg;
	return !console_handle(x) && apiserver_admit(c->api, x, ret);
}

/* What the folder lacks; after the database, whose lock keeps a second alm away. */
static int write_identity(struct embedded *c, struct error *err)
{
	if (c->new_ca && (write_own(c, "ca.key", c->ca_key, err) < 0 ||
			  write_own(c, "ca.crt", c->ca_cert, err) < 0))
		return -err->code;
	if (c->new_token && write_own(c, "token", c->token, err) < 0)
		return -err->code;
	if (c->new_account_key && write_own(c, ACCOUNT_KEY, c->account_key, err) < 0)
		return -err->code;
	return c->new_ca || c->new_token || c->new_account_key ? dir_flush(c->data_dir, err) : 0;
}

static int open_folder(struct embedded *c, struct error *err)
{
	struct db_config dc = {.path = path_in(c, "alm.db"), .layout = DB_LAYOUT};
	if (data_dir_make(c->data_dir, err) < 0)
		return -err->code;
	if (db_open(&dc, &c->db, err) < 0 || write_identity(c, err) < 0)
		return err->code == E_IO || err->code == E_UNAVAILABLE
			       ? error_wrap(err, "data folder")
			       : -err->code;
	struct audit_config ac = {.db = c->db,
				  .loop = c->loop,
				  .origin = c->audit_origin,
				  .key_dir = c->data_dir,
				  .anchor_files = c->setup->files,
				  .tells_end = !c->no_audit};
	return c->no_audit ? audit_bypass(&ac, err) : audit_open(&ac, &c->audit, err);
}

/* Listening comes first: where the port is taken, nothing has been written. Requests wait in the
 * kernel until the loop runs. */
static int start(struct embedded *c, struct error *err)
{
	if (data_dir_check(c->data_dir, err) < 0 || make_certificates(c, err) < 0 ||
	    account_keys(c, err) < 0 || admin_token(c, err) < 0 || read_tokens(c, err) < 0)
		return -err->code;
	const char *hosts[ALLOWED_HOSTS_MAX + ARRAY_LEN(cluster_names)];
	memcpy(hosts, cluster_names, sizeof(cluster_names));
	memcpy(hosts + ARRAY_LEN(cluster_names), c->hosts.names,
	       c->hosts.n * sizeof(*c->hosts.names));
	struct server_config sc = {.listen = c->listen,
				   .cert_pem = c->serving.cert,
				   .key_pem = c->serving.key,
				   .admit = admit,
				   .hosts = hosts,
				   .n_hosts = ARRAY_LEN(cluster_names) + c->hosts.n};
	if (server_listen(c->loop, &sc, embedded_handle, c, &c->http, err) < 0)
		return error_wrap(err, "--listen");
	if (open_folder(c, err) < 0)
		return -err->code;
	serving_cert_keep(&c->serving, c->http);
	struct disk_watch_config wc = {c->db, c->loop, c->audit, c->metrics};
	c->disk = disk_watch_new(&wc);
	struct apiserver_config ac = {
		.db = c->db,
		.loop = c->loop,
		.audit = c->audit,
		.disk = c->disk,
		.tokens = c->tokens,
		.n_tokens = c->n_tokens,
		.account_key = c->account_key,
		.account_old_key = c->account_old_key,
		.ca_pem = c->ca_cert,
		.address = server_address(c->http),
		.simulate_workloads = c->simulate,
		.own_controllers = c->own_controllers,
		.no_legacy = c->no_legacy,
		.dial = transport_curl_new,
		.metrics = c->metrics,
	};
	if (apiserver_new(&ac, &c->api, err) < 0 || write_kubeconfig(c, err) < 0)
		return -err->code;
	const char *notice;
	for (size_t i = 0; (notice = apiserver_notice(c->api, i)) != NULL; i++)
		log_warn("found at the start", "what", notice);
	if (c->audit && audit_read_only(c->audit))
		log_error("audit log", "error", audit_read_only(c->audit));
	if (!c->audit)
		return 0;
	if (anchor_setup_start(c->setup, c->audit, c->db, c->loop, NULL, &c->anchors, err) < 0)
		return -err->code;
	c->pruner = anchor_setup_prune(c->setup, c->audit, c->db, c->loop, c->anchors);
	return 0;
}

int embedded_legacy(const struct cli *c, bool *ret_deny, struct error *err)
{
	const char *mode = cli_value(c, "legacy-yaml");
	*ret_deny = cstr_eq(mode, "deny");
	if (mode && !*ret_deny && !cstr_eq(mode, "warn"))
		return error_set(err, E_USAGE, "--legacy-yaml is warn or deny, not %s", mode);
	return 0;
}

int embedded_start(const struct embedded_config *config, struct loop *l, struct embedded **ret,
		   struct error *err)
{
	CLEANUP(embedded_freep) struct embedded *e = xcalloc(1, sizeof(*e));
	e->arena = arena_new(CONFIG_BYTES_MAX * 4);
	e->loop = l;
	e->data_dir = arena_strdup(e->arena, config->data_dir);
	e->listen = arena_strdup(e->arena, config->listen);
	e->token_file = config->token_file;
	e->simulate = config->simulate_workloads;
	e->metrics = config->metrics;
	e->hosts = config->hosts;
	e->no_audit = config->no_audit;
	e->own_controllers = config->own_controllers;
	e->no_legacy = config->no_legacy;
	e->audit_origin = config->audit_origin;
	e->setup = config->anchors;
	if (start(e, err) < 0)
		return -err->code;
	*ret = STEAL(e);
	return 0;
}

const char *embedded_address(const struct embedded *e)
{
	return server_address(e->http);
}

const char *embedded_kubeconfig(const struct embedded *e)
{
	return arena_fmt(e->arena, "%s/kubeconfig", e->data_dir);
}

const char *embedded_token(const struct embedded *e)
{
	return e->token;
}

struct audit *embedded_audit(struct embedded *e)
{
	return e->audit;
}

struct db *embedded_db(struct embedded *e)
{
	return e->db;
}

struct disk_watch *embedded_disk(struct embedded *e)
{
	return e->disk;
}

void embedded_stop(struct embedded *e, void (*done)(void *arg), void *arg)
{
	server_stop(e->http, STOP_GRACE_NS, done, arg);
}

void embedded_free(struct embedded *e)
{
	if (!e)
		return;
	apiserver_free(e->api);
	serving_cert_release(&e->serving);
	server_free(e->http);
	disk_watch_free(e->disk);
	pruner_free(e->pruner);
	audit_close(e->audit); /* its anchors hear of the last checkpoint */
	anchors_free(e->anchors);
	db_close(e->db);
	xfree(e->ca_cert);
	xfree(e->ca_key);
	xfree(e->account_key);
	xfree(e->account_old_key);
	arena_free(e->arena);
	xfree(e);
}
