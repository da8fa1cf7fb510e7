/* `alm dashboard`: the address of the console, with a token for it. */

#include "alm/base/file.h"
#include "alm/cli/cmds.h"
#include "alm/cli/session.h"
#include "alm/cli/term.h"
#include "alm/obj/meta.h"

#define CONSOLE     "/ui"
#define SHORT_LIFE  "10m" /* the least a TokenRequest may ask for */
#define SHORT_S     600
#define TOKEN_BYTES ((size_t)64 << 10)
#define REVIEWS     "/apis/authorization.k8s.io/v1/subjectaccessreviews"

/* Only the servers of this program have the page. */
static int check_server(struct session *s, struct error *err)
{
	const struct obj *version = NULL;
	if (session_get(s, "/version", &version, err) < 0)
		return -err->code;
	const char *git = obj_str(version, "gitVersion");
	if (git && str_contains(str_of(git), STR("+alm")))
		return 0;
	return error_set(err, E_UNSUPPORTED,
			 "%s is a Kubernetes %s, which has no console: %s is a page of `alm up`",
			 session_config(s)->base_url, git ? git : "API server", CONSOLE);
}

/* As it is; "" without one. */
static int own_token(struct cli *c, const struct transport_config *t, const char **ret,
		     struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(TOKEN_BYTES);
	*ret = t->token ? t->token : "";
	if (!t->token_file)
		return 0;
	if (file_read(t->token_file, &b, err) < 0)
		return -err->code;
	struct str text = str_trim(strbuf_str(&b));
	*ret = arena_strndup(c->arena, text.ptr, text.len);
	return 0;
}

static int request_token(struct cli *c, struct session *s, const char *account, const char **ret,
			 struct error *err)
{
	struct session_reply reply;
	CLEANUP(obj_unrefp) struct obj *body =
		meta_skeleton("authentication.k8s.io/v1", "TokenRequest", NULL, NULL);
	obj_set(body, "spec", obj_map());
	obj_set_int(obj_get_mut(body, "spec"), "expirationSeconds", SHORT_S);
	const char *target = arena_fmt(c->arena, "/api/v1/namespaces/%s/serviceaccounts/%s/token",
				       url_encode(str_of(session_namespace(s)), c->arena),
				       url_encode(str_of(account), c->arena));
	struct session_request q = {.method = "POST", .target = target, .body = body};
	if (session_send(s, &q, &reply, err) < 0)
		return -err->code;
	*ret = obj_str(reply.body, "status.token");
	return *ret ? 0 : error_set(err, E_INTERNAL, "%s: the answer has no token", target);
}

/* Whether the account may approve; *ret stays NULL where the reader may not ask. */
static const char *rights_of(struct session *s, const char *user)
{
	struct error ignored = ERROR_INIT;
	struct session_reply reply;
	CLEANUP(obj_unrefp) struct obj *body =
		meta_skeleton("authorization.k8s.io/v1", "SubjectAccessReview", NULL, NULL);
	struct obj *spec = obj_map(), *what = obj_map();
	obj_set_str(what, "group", "opinstaller.coreos.com");
	obj_set_str(what, "resource", "installstrategies");
	obj_set_str(what, "verb", "patch");
	obj_set_str(spec, "user", user);
	obj_set(spec, "resourceAttributes", what);
	obj_set(body, "spec", spec);
	struct session_request q = {.method = "POST", .target = REVIEWS, .body = body};
	if (session_send(s, &q, &reply, &ignored) < 0)
		return "whether it may approve could not be asked";
	return obj_flag(obj_get(reply.body, "status"), "allowed", false)
		       ? "it may approve"
		       : "it may not approve (patch installstrategies)";
}

static int pick_token(struct cli *c, struct session *s, const char **ret, struct error *err)
{
	const char *account = cli_value(c, "service-account");
	if (account) {
		if (request_token(c, s, account, ret, err) < 0)
			return -err->code;
		const char *user = arena_fmt(c->arena, "system:serviceaccount:%s:%s",
					     session_namespace(s), account);
		term_error("The token is of %s for " SHORT_LIFE "; %s.\n", user,
			   rights_of(s, user));
		return 0;
	}
	*ret = "";
	if (!cli_flag(c, "own-token")) {
		term_error("The page asks for a token. With --service-account NAME the address "
			   "has one of " SHORT_LIFE ", with --own-token that of the kubeconfig.\n");
		return 0;
	}
	if (own_token(c, session_config(s), ret, err) < 0)
		return -err->code;
	if (!**ret)
		return error_set(err, E_NOTFOUND,
				 "--own-token: the kubeconfig has no token; --service-account NAME "
				 "asks for one");
	term_error("The token is the one of the kubeconfig, with all its rights and no end of "
		   "its own: whoever sees the address has them.\n");
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	CLEANUP(session_freep) struct session *s = NULL;
	const char *token;
	if (cli_value(c, "service-account") && cli_flag(c, "own-token"))
		return error_set(err, E_USAGE,
				 "one token: either --service-account or --own-token");
	if (session_open(c, &s, err) < 0 || check_server(s, err) < 0 ||
	    pick_token(c, s, &token, err) < 0)
		return -err->code;
	struct str base = str_of(session_config(s)->base_url);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	term_print("%.*s" CONSOLE "%s%s\n", STR_ARG(base), *token ? "#token=" : "",
		   url_encode(str_of(token), c->arena));
	return 0;
}

static const struct cmd_option options[] = {
	{"service-account", "NAME",
	 "a token of this ServiceAccount (of namespace -n) that ends after " SHORT_LIFE, 0},
	{"own-token", NULL, "the token of the kubeconfig, with all its rights", 0},
	{0},
};

const struct cmd cmd_dashboard = {
	.name = "dashboard",
	.usage = "alm dashboard [--service-account NAME [-n NAMESPACE] | --own-token]",
	.summary = "print the address of the console, with a token if one is asked for",
	.description =
		"The console is a page of `alm up`: apps, candidates with reasons and "
		"steps, and approvals. It asks for a token. One that is asked for here stands "
		"behind the # of the address, which browsers do not send; the page takes it "
		"from the address bar, uses it after a click, and keeps it in its tab. "
		"Whoever has the address has the rights of the token, until it ends.",
	.examples = "alm dashboard\nalm dashboard --service-account release-manager -n ops",
	.options = options,
	.run = run,
};
