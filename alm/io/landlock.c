#include "alm/io/landlock.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>

static long abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool landlock_is_there(void)
{
	return abi() >= 1;
}

/* All rights that this kernel and these headers know; the first version has 13. */
static uint64_t all_rights(long version)
{
	uint64_t rights = (UINT64_C(1) << 13) - 1;
#ifdef LANDLOCK_ACCESS_FS_REFER
	if (version >= 2)
		rights |= LANDLOCK_ACCESS_FS_REFER;
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
	if (version >= 3)
		rights |= LANDLOCK_ACCESS_FS_TRUNCATE;
#endif
	return rights;
}

static bool allow(int ruleset, const char *path, uint64_t rights)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		rights &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
	struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
	bool ok =
		syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
	close(fd);
	return ok;
}

bool landlock_confine(const char *const *reads, size_t n_reads, const char *const *writes,
		      size_t n_writes)
{
	const uint64_t read = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
			      LANDLOCK_ACCESS_FS_READ_DIR;
	long version = abi();
	if (version < 1)
		return false;
	struct landlock_ruleset_attr attr = {.handled_access_fs = all_rights(version)};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return false;
	bool ok = true;
	for (size_t i = 0; i < n_reads && ok; i++)
		ok = allow(fd, reads[i], read);
	for (size_t i = 0; i < n_writes && ok; i++)
		ok = allow(fd, writes[i], read | LANDLOCK_ACCESS_FS_WRITE_FILE);
	ok = ok && syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return ok;
}
