/*
 * fuzz_kubeconfig: any text as a kubeconfig file. Whatever it names, no plugin is taken, and
 * insecure-skip-tls-verify without the caller's word is a warning.
 */
#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alm/client/kubeconfig.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 16384

/* A file in memory, private as such a file must be; path has room for its name. */
static int make_file(const uint8_t *data, size_t size, char path[32])
{
	int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
	assert(fd >= 0);
	ssize_t n = write(fd, data, size);
	assert(n == (ssize_t)size && fchmod(fd, 0600) == 0);
	(void)snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void resolve_all(const struct kubeconfig *k, struct arena *a)
{
	struct error err = ERROR_INIT;
	for (size_t i = 0; i <= kubeconfig_n_contexts(k); i++) {
		const char *context = i ? kubeconfig_context(k, i - 1) : NULL;
		struct kubeconfig_target t = {0}, u = {0};
		int r = kubeconfig_resolve(k, context, false, a, &t, &err);
		assert(r == 0 || *err.msg);
		fuzz_note_number(r);
		if (r == 0)
			fuzz_note_text(t.transport.base_url);
		assert(r < 0 || t.transport.base_url);
		assert(r < 0 || !t.transport.insecure_skip_tls_verify || t.n_warnings > 0);
		r = kubeconfig_resolve(k, context, true, a, &u, &err);
		assert(r < 0 || u.transport.base_url);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = NULL;
	struct error err = ERROR_INIT;
	char path[32];
	if (size > INPUT_BYTES_MAX)
		return 0;
	int fd = make_file(data, size, path);
	struct kubeconfig_sources s = {.path = path};
	if (kubeconfig_load(&s, &k, &err) < 0)
		assert(*err.msg);
	else
		resolve_all(k, a);
	(void)close(fd);
	return 0;
}
