/* subresources: what built-in kinds have besides status and scale. To add one: a row, and who
 * serves it, in registry.c. */
#include "alm/apiserver/kinds/kinds.h"

#define PODS    "", "pods"
#define CHANGE  (VERB_GET | VERB_PATCH | VERB_UPDATE)
#define STREAM  (VERB_CREATE | VERB_GET)
#define PROXY   (STREAM | VERB_DELETE | VERB_PATCH | VERB_UPDATE)
#define OF_KIND NULL, NULL, NULL

/* clang-format off */
static const struct kind_subresource all[] = {
	{"", "nodes", "proxy", PROXY, "", "v1", "NodeProxyOptions", true},
	{"", "services", "proxy", PROXY, "", "v1", "ServiceProxyOptions", true},
	{PODS, "proxy", PROXY, "", "v1", "PodProxyOptions", true},
	{"", "namespaces", "finalize", VERB_UPDATE, OF_KIND, false},
	{"", "serviceaccounts", "token", VERB_CREATE, "authentication.k8s.io", "v1", "TokenRequest", false},
	{PODS, "attach", STREAM, "", "v1", "PodAttachOptions", true},
	{PODS, "binding", VERB_CREATE, "", "v1", "Binding", false},
	{PODS, "ephemeralcontainers", CHANGE, OF_KIND, false},
	{PODS, "eviction", VERB_CREATE, "policy", "v1", "Eviction", false},
	{PODS, "exec", STREAM, "", "v1", "PodExecOptions", true},
	{PODS, "log", VERB_GET, OF_KIND, true},
	{PODS, "portforward", STREAM, "", "v1", "PodPortForwardOptions", true},
	{PODS, "resize", CHANGE, OF_KIND, false},
	{"certificates.k8s.io", "certificatesigningrequests", "approval", CHANGE, OF_KIND, false},
};
/* clang-format on */

const struct kind_subresource *kind_subresource_at(const struct kind *k, size_t i)
{
	for (size_t n = 0; n < ARRAY_LEN(all); n++)
		if (!(k->flags & KIND_CUSTOM) && cstr_eq(all[n].group, k->group) &&
		    cstr_eq(all[n].plural, k->plural) && i-- == 0)
			return &all[n];
	return NULL;
}

const struct kind_subresource *kind_subresource(const struct kind *k, const char *name)
{
	const struct kind_subresource *s;
	for (size_t i = 0; (s = kind_subresource_at(k, i)); i++)
		if (cstr_eq(s->name, name))
			return s;
	return NULL;
}
