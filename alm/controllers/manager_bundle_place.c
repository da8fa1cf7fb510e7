/* Where a Bundle's repository is, and whether this ALM may read there. */
#include <string.h>

#include "alm/client/git_address.h"
#include "alm/controllers/manager_bundles.h"
#include "alm/source/git_url.h"
#include "catalog/weburl.h"

#define FIELD "spec.source.git.url"

static int check_folder(const struct manager *m, const char *url, struct error *err)
{
	struct file_info info;
	const char *path = url + strlen("file://");
	if (m->c.files->info(m->c.files->arg, path, &info, err) < 0) {
		error_wrap(err, FIELD);
		return err->code == E_NOTALLOWED ? -err->code
						 : error_set_reason(err, REASON_SOURCE_UNREACHABLE);
	}
	return info.is_dir ? 0
			   : error_because(err, E_INVALID, REASON_SOURCE_UNREACHABLE,
					   FIELD ": %s is a file, and no repository of git: name "
						 "the folder of one",
					   path);
}

/* Read by one parser, and git gets what that made of it. */
static int read_url(const char *url, struct arena *a, struct bundle_place *p, struct error *err)
{
	struct git_ssh_url ssh;
	struct weburl web;
	if (git_url_is_ssh(url)) {
		if (git_url_ssh(url, a, &ssh, err) < 0)
			return -err->code;
		p->url = ssh.text;
		p->origin = ssh.origin;
		return 0;
	}
	if (weburl_parse(str_of(url), "https", a, &web, err) < 0)
		return -err->code;
	p->url = weburl_text(&web, a);
	p->origin = web.origin;
	return 0;
}

/* As text: an address that is not public is read only if the administrator lists it. What a name
 * stands for is judged when git is about to connect to it. */
int bundle_place_read(const struct manager *m, const char *url, struct arena *a,
		      struct bundle_place *ret, struct error *err)
{
	struct bundle_place p = {.url = url};
	struct git_host host;
	if (cstr_has_prefix(url, "file://")) {
		*ret = p;
		return check_folder(m, url, err);
	}
	if (read_url(url, a, &p, err) < 0 || git_host_read(p.url, a, &host, err) < 0 ||
	    git_host_check(&host, m->c.addresses, err) < 0)
		return error_wrap(err, FIELD);
	*ret = p;
	return 0;
}
