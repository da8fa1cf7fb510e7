#include "alm/io/curl_lib.h"

#include <dlfcn.h>
#include <string.h>

#include "alm/io/library_memory.h"

#define LIBRARY "libcurl.so.4"

/* ISO C has no cast from an object pointer to a function pointer. */
static bool find(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);
	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

int curl_lib_load(const struct curl_lib **ret, struct error *err)
{
	static struct curl_lib lib;
	static bool loaded;
	if (!loaded) {
		void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return error_set(err, E_UNSUPPORTED, "no network without " LIBRARY ": %s",
					 dlerror());
#define X(name)                                       \
	if (!find(library, "curl_" #name, &lib.name)) \
		return error_set(err, E_UNSUPPORTED, LIBRARY " has no curl_%s", #name);
		CURL_FUNCTIONS(X)
#undef X
		if (lib.global_init_mem(CURL_GLOBAL_DEFAULT, library_malloc, library_free,
					library_realloc, library_strdup,
					library_calloc) != CURLE_OK)
			return error_set(err, E_INTERNAL, "libcurl cannot be initialised");
		loaded = true;
	}
	*ret = &lib;
	return 0;
}
