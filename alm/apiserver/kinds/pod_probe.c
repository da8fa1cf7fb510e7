/* pod_probe: see pod_probe.h. */
#include "alm/apiserver/kinds/pod_probe.h"

#include <string.h>

#include "alm/apiserver/kinds/field_check.h"

#define RANGE_TEXT    "must be between 1 and 65535, inclusive"
#define PORT_NAME_MAX 15

void check_port_or_name(struct field_errors *e, const char *path, const struct obj *port)
{
	int64_t n = 0;
	struct str name = obj_as_str(port);
	bool letter = false, good = name.len > 0;
	if (!name.ptr) {
		obj_as_i64(port, &n);
		if (n < 1 || n > 65535)
			field_errors_add(e, FIELD_INVALID, path, "Invalid value: %lld: " RANGE_TEXT,
					 (long long)n);
		return;
	}
	for (size_t i = 0; i < name.len; i++) {
		letter = letter || char_is_lower(name.ptr[i]);
		good = good && (char_is_lower(name.ptr[i]) || char_is_digit(name.ptr[i]) ||
				name.ptr[i] == '-');
	}
	if (name.len > PORT_NAME_MAX)
		check_invalid_text(
			e, path, name.ptr,
			arena_fmt(e->arena, "must be no more than %d characters", PORT_NAME_MAX));
	if (!good)
		check_invalid_text(e, path, name.ptr,
				   "must contain only alpha-numeric characters (a-z, 0-9), and "
				   "hyphens (-)");
	if (!letter)
		check_invalid_text(e, path, name.ptr, "must contain at least one letter (a-z)");
	if (strstr(name.ptr, "--"))
		check_invalid_text(e, path, name.ptr, "must not contain consecutive hyphens");
	if (name.len && (name.ptr[0] == '-' || name.ptr[name.len - 1] == '-'))
		check_invalid_text(e, path, name.ptr, "must not begin or end with a hyphen");
}

static void check_http(struct field_errors *e, const char *path, const struct obj *http)
{
	static const char *const schemes[] = {"HTTP", "HTTPS", NULL};
	const struct obj *headers = obj_get(http, "httpHeaders");
	size_t from = e->n;
	if (obj_has(http, "scheme"))
		field_errors_one_of(e, check_below(e, path, "scheme"), check_text(http, "scheme"),
				    schemes);
	for (size_t i = 0; i < obj_len(headers); i++) {
		const char *name = check_text(obj_at(headers, i), "name"), *p = name;
		while (char_is_alnum(*p) || *p == '-')
			p++;
		if (!*name || *p)
			check_invalid_text(e, check_below(e, path, "httpHeaders"), name,
					   "a valid HTTP header must consist of alphanumeric "
					   "characters or '-' (e.g. 'X-Header-Name', regex used "
					   "for validation is '[-A-Za-z0-9]+')");
	}
	check_said_since(e, from, http);
}

/* Of a probe or of a hook: one of them. How many there are. */
static size_t check_handler(struct field_errors *e, const char *path, const struct obj *o)
{
	static const char *const handlers[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
		const struct obj *h = obj_get(o, handlers[i]);
		const char *at = check_below(e, path, handlers[i]);
		if (h && n++ > 0)
			check_forbidden(e, at, "may not specify more than 1 handler type");
		else if (h && i == 0 && !obj_len(obj_get(h, "command")))
			check_required(e, check_below(e, at, "command"), NULL);
		else if (h && i > 0 && i < 4)
			check_port_or_name(e, check_below(e, at, "port"), obj_get(h, "port"));
		if (h && i == 1 && n == 1)
			check_http(e, at, h);
	}
	if (!n)
		check_required(e, path, "must specify a handler type");
	return n;
}

void pod_check_hook(struct field_errors *e, const char *path, const struct obj *hook, int64_t grace)
{
	const struct obj *seconds = obj_path(hook, "sleep.seconds");
	int64_t n = 0;
	if (check_handler(e, path, hook) > 1 || !obj_as_i64(seconds, &n) || (n >= 0 && n <= grace))
		return;
	check_invalid(e, check_below(e, path, "sleep"), seconds,
		      arena_fmt(e->arena,
				"must be non-negative and less than terminationGracePeriodSeconds "
				"(%lld)",
				(long long)grace));
	check_said_of(e, seconds);
}

void pod_check_probe(struct field_errors *e, const char *path, const struct obj *probe, bool once)
{
	static const char *const numbers[] = {"initialDelaySeconds", "timeoutSeconds",
					      "periodSeconds", "successThreshold",
					      "failureThreshold"};
	const struct obj *successes = obj_get(probe, "successThreshold");
	const struct obj *grace = obj_get(probe, "terminationGracePeriodSeconds");
	const char *at = check_below(e, path, "terminationGracePeriodSeconds");
	int64_t n = 1;
	if (!probe)
		return;
	check_handler(e, path, probe);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		check_at_least(e, check_below(e, path, numbers[i]), obj_get(probe, numbers[i]), 0);
	size_t from = e->n;
	if (obj_as_i64(grace, &n) && n <= 0)
		check_invalid(e, at, grace, "must be greater than 0");
	if (grace && !once)
		check_invalid(e, at, grace, "must not be set for readinessProbes");
	check_said_since(e, from, grace);
	n = 1;
	if (once && obj_as_i64(successes, &n) && n != 1)
		check_invalid(e, check_below(e, path, "successThreshold"), successes, "must be 1");
}
