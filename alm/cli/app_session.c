#include "alm/cli/app_session.h"

#include <stdio.h>
#include <string.h>

#include "alm/obj/meta.h"

#define APPS       "/apis/app.coreos.com/v1beta1/apps"
#define STRATEGIES "/apis/opinstaller.coreos.com/v1beta1/installstrategies"

int app_session_open(struct cli *c, const char *app, struct app_session *ret, struct error *err)
{
	*ret = (struct app_session){0};
	if (session_open(c, &ret->session, err) < 0)
		return -err->code;
	const char *target = arena_fmt(c->arena, APPS "/%s", url_encode(str_of(app), c->arena));
	if (session_get(ret->session, target, &ret->app, err) < 0 ||
	    session_get(ret->session, STRATEGIES, &ret->strategies, err) < 0)
		return -err->code;
	return 0;
}

void app_session_release(struct app_session *a)
{
	session_free(a->session);
}

const struct obj *app_session_candidate(const struct app_session *a, const char *version)
{
	const struct obj *list = obj_path(a->app, "status.candidates");
	for (size_t i = 0; i < obj_len(list); i++)
		if (cstr_eq(obj_str(obj_at(list, i), "version"), version))
			return obj_at(list, i);
	return NULL;
}

static bool has_version(const struct cli *c, const struct obj *strategy, const char *version)
{
	const struct obj *v = obj_path(strategy, "spec.version");
	if (obj_is_number(v))
		return cstr_eq(arena_fmt(c->arena, "%.*s", STR_ARG(obj_number_text(v))), version);
	return cstr_eq(obj_as_string(v), version);
}

const struct obj *app_session_strategy(const struct cli *c, const struct app_session *a,
				       const char *version)
{
	const struct obj *items = obj_get(a->strategies, "items");
	for (size_t i = 0; i < obj_len(items); i++)
		if (cstr_eq(obj_str(obj_at(items, i), "spec.appTypeRef.name"), meta_name(a->app)) &&
		    has_version(c, obj_at(items, i), version))
			return obj_at(items, i);
	return NULL;
}

/* "COMMAND # what it does; what comes first" over two lines. */
static void print_step(size_t n, const char *step)
{
	struct str command, rest, first;
	if (!str_cut(str_of(step), '#', &command, &rest)) {
		printf("  %zu. %s\n", n, step);
		return;
	}
	bool more = str_cut(str_trim(rest), ';', &rest, &first);
	command = str_trim(command);
	printf("  %zu. %-51.*s %.*s\n", n, STR_ARG(command), STR_ARG(str_trim(rest)));
	if (more)
		printf("     %.*s\n", STR_ARG(str_trim(first)));
}

void app_session_print_refusal(const struct app_session *a, const struct obj *candidate)
{
	const struct obj *dropped = obj_get(candidate, "dropped"),
			 *steps = obj_get(candidate, "steps");
	const char *reason = obj_str(candidate, "reason"), *message = obj_str(candidate, "message");
	printf("%s %s is not installable: ", meta_name(a->app), obj_str(candidate, "version"));
	if (cstr_eq(reason, "ResourceDropped") && obj_len(dropped)) {
		printf("it no longer manages ");
		for (size_t i = 0; i < obj_len(dropped); i++)
			printf("%s%s", i ? ", " : "", obj_as_string(obj_at(dropped, i)));
	} else {
		printf("%s: %s", reason ? reason : "unknown", message ? message : "");
	}
	if (!obj_len(steps)) {
		printf(".\n");
		return;
	}
	printf(". It would be after (checked by resolving again):\n");
	for (size_t i = 0; i < obj_len(steps); i++)
		print_step(i + 1, obj_as_string(obj_at(steps, i)));
}

int app_session_patch(struct app_session *a, const struct obj *live, const struct obj *patch,
		      struct error *err)
{
	struct session_reply reply;
	struct resource r;
	if (session_kind(a->session, live, &r, err) < 0)
		return -err->code;
	struct session_request request = {.method = "PATCH",
					  .target = session_target(a->session, &r, NULL,
								   meta_name(live),
								   "fieldManager=alm-cli"),
					  .content_type = MERGE_PATCH,
					  .body = patch};
	return session_send(a->session, &request, &reply, err);
}
