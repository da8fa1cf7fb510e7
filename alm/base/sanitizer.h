/* sanitizer: is this a build whose run-time needs memory, debugging and calls that we close? */
#ifndef ALM_BASE_SANITIZER_H
#define ALM_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_RUNS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#define SANITIZER_RUNS 1
#endif
#endif
#ifndef SANITIZER_RUNS
#define SANITIZER_RUNS 0
#endif

#endif
