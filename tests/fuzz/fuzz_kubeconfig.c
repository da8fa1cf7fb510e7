/*
 * fuzz_kubeconfig: any text as a kubeconfig file. Whatever it names, no plugin is taken, and
 * insecure-skip-tls-verify only with the caller's word. Files that it names are read from the
 * folder of the input, which has none.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alm/base/file.h"
#include "alm/client/kubeconfig.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 16384

static char dir[64], path[80];

static void remove_dir(void)
{
	(void)remove(path);
	(void)remove(dir);
}

static void write_input(const uint8_t *data, size_t size)
{
	if (!*dir) {
		(void)snprintf(dir, sizeof(dir), "/tmp/alm-fuzz-XXXXXX");
		const char *made = mkdtemp(dir);
		assert(made);
		(void)snprintf(path, sizeof(path), "%s/config", dir);
		(void)atexit(remove_dir);
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0);
	ssize_t n = write(fd, data, size);
	assert(n == (ssize_t)size);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
	CLEANUP(kubeconfig_freep) struct kubeconfig *k = NULL;
	struct error err = ERROR_INIT;
	if (size > INPUT_BYTES_MAX)
		return 0;
	write_input(data, size);
	struct kubeconfig_sources s = {.path = path};
	if (kubeconfig_load(&s, &k, &err) < 0) {
		assert(*err.msg);
		return 0;
	}
	for (size_t i = 0; i <= kubeconfig_n_contexts(k); i++) {
		const char *context = i ? kubeconfig_context(k, i - 1) : NULL;
		struct kubeconfig_target t = {0}, u = {0};
		int r = kubeconfig_resolve(k, context, false, a, &t, &err);
		assert(r < 0 ? *err.msg
			     : !t.transport.insecure_skip_tls_verify && t.transport.base_url &&
				       *t.ns);
		r = kubeconfig_resolve(k, context, true, a, &u, &err);
		assert(r < 0 || u.transport.base_url);
	}
	return 0;
}
