#include "alm/io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/securebits.h>
#include <seccomp.h>

#include "alm/base/mem.h"
#include "alm/base/sanitizer.h"
#include "alm/base/strbuf.h"

#define PASSWD_BYTES 16384
#define CAPS_MAX     64 /* bits of the kernel's sets */

/* Which kinds of memory a dump has, core(5): none. Keys and tokens are in more places than could be
 * marked one by one (OpenSSL, SQLite's pages, texts of requests). */
static void dump_nothing(void)
{
	int fd = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, "0", 1);
	(void)n; /* the limit below holds without */
	if (fd >= 0)
		close(fd);
}

void process_seal(bool debuggable)
{
	const struct rlimit none = {0, 0};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (debuggable)
		return;
	dump_nothing();
	setrlimit(RLIMIT_CORE, &none);
	if (!SANITIZER_RUNS) /* leaks are looked for by a debugger of its own */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* --- user and capabilities --- */

/* permitted and effective become those of keep that are there; the others are gone for good. */
static int keep_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &head, data);
}

static int failed(struct error *err, const char *what)
{
	return error_set(err, E_IO, "%s: %s", what, strerror(errno));
}

int process_become(const char *name, struct error *err)
{
	char text[PASSWD_BYTES];
	struct passwd user, *found = NULL;
	if (!name)
		return 0;
	if (getpwnam_r(name, &user, text, sizeof(text), &found) != 0 || !found)
		return error_set(err, E_NOTFOUND, "--user: no user is named %s", name);
	if (geteuid() == user.pw_uid)
		return 0;
	if (geteuid() != 0)
		return error_set(
			err, E_FORBIDDEN,
			"--user %s: only root can become another user, and this is user %u", name,
			geteuid());
	int dumpable = prctl(PR_GET_DUMPABLE);
	uint64_t keep = UINT64_C(1) << CAP_NET_BIND_SERVICE | UINT64_C(1) << CAP_SETPCAP;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(1, &user.pw_gid) < 0 ||
	    setresgid(user.pw_gid, user.pw_gid, user.pw_gid) < 0 ||
	    setresuid(user.pw_uid, user.pw_uid, user.pw_uid) < 0 || keep_capabilities(keep) < 0)
		return failed(err, "--user");
	/* a change of user sets it to what the machine has for setuid programs */
	prctl(PR_SET_DUMPABLE, dumpable == 1, 0, 0, 0);
	return 0;
}

int process_drop_capabilities(void)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* These two need a capability themselves: who has none to lose may go without. */
	prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS, 0, 0, 0);
	for (unsigned long cap = 0; cap < CAPS_MAX; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	return keep_capabilities(0);
}

/* --- system calls --- */

/* Other programs, namespaces, the machine, other processes' memory, keys of the kernel, and doors
 * that faults of kernels came through. A list of what is refused: libraries go on as before. */
static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(process_madvise),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(setuid),
	SCMP_SYS(setgid),
	SCMP_SYS(setreuid),
	SCMP_SYS(setregid),
	SCMP_SYS(setresuid),
	SCMP_SYS(setresgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(setfsuid),
	SCMP_SYS(setfsgid),
	SCMP_SYS(capset),
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(name_to_handle_at),
	SCMP_SYS(fanotify_init),
	SCMP_SYS(quotactl),
	SCMP_SYS(acct),
	SCMP_SYS(syslog),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	SCMP_SYS(modify_ldt),
	SCMP_SYS(personality),
	SCMP_SYS(vhangup),
	SCMP_SYS(lookup_dcookie),
	SCMP_SYS(ustat),
	SCMP_SYS(sysfs),
};

static int refuse(scmp_filter_ctx f, int call, unsigned n, const struct scmp_arg_cmp *when)
{
	return seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM), call, n, when);
}

/* What depends on the arguments. */
static int refuse_some(scmp_filter_ctx f)
{
	static const scmp_datum_t namespaces[] = {CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWNET,
						  CLONE_NEWPID,   CLONE_NEWIPC, CLONE_NEWUTS,
						  CLONE_NEWCGROUP};
	const scmp_datum_t wx = PROT_WRITE | PROT_EXEC;
	const struct scmp_arg_cmp writable_code = SCMP_A2(SCMP_CMP_MASKED_EQ, wx, wx);
	const struct scmp_arg_cmp code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
	const struct scmp_arg_cmp typing = SCMP_A1(SCMP_CMP_EQ, TIOCSTI);
	const struct scmp_arg_cmp local = SCMP_A0(SCMP_CMP_GT, AF_NETLINK);
	int r = refuse(f, SCMP_SYS(mmap), 1, &writable_code);
	if (r == 0) /* code is mapped by dlopen() and never made of data */
		r = refuse(f, SCMP_SYS(mprotect), 1, &code);
	if (r == 0)
		r = refuse(f, SCMP_SYS(pkey_mprotect), 1, &code);
	/* Threads (of libcurl's resolver) and a new zygote of the sandbox are made as ever. */
	for (size_t i = 0; i < ARRAY_LEN(namespaces) && r == 0; i++) {
		const struct scmp_arg_cmp new =
			SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]);
		r = refuse(f, SCMP_SYS(clone), 1, &new);
	}
	if (r == 0) /* its flags are in memory, where no filter looks: glibc then takes clone */
		r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (r == 0)
		r = refuse(f, SCMP_SYS(ioctl), 1, &typing);
	for (scmp_datum_t family = 0; family < AF_NETLINK && r == 0; family++) {
		const struct scmp_arg_cmp is = SCMP_A0(SCMP_CMP_EQ, family);
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
			r = refuse(f, SCMP_SYS(socket), 1, &is);
	}
	return r ? r : refuse(f, SCMP_SYS(socket), 1, &local);
}

static int load_filter(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int r = f ? seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2) : -ENOMEM;
	if (r == 0)
		r = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; i < ARRAY_LEN(refused) && r == 0; i++)
		r = refuse(f, refused[i], 0, NULL);
	if (r == 0)
		r = refuse_some(f);
	if (r == 0)
		r = seccomp_load(f);
	seccomp_release(f);
	return r;
}

int process_confine(struct error *err)
{
	if (SANITIZER_RUNS)
		return 0;
	if (process_drop_capabilities() < 0)
		return failed(err, "capabilities cannot be dropped");
	int r = load_filter();
	return r == 0 ? 0
		      : error_set(err, E_UNSUPPORTED, "system calls cannot be closed (seccomp): %s",
				  strerror(-r));
}

/* --- what holds --- */

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	return syscall(SYS_capget, &head, data) < 0 || data[0].permitted || data[1].permitted;
}

void process_describe(char *out, size_t size)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	struct rlimit core = {1, 1};
	getrlimit(RLIMIT_CORE, &core);
	strbuf_addf(&b, "user %u", geteuid());
	if (prctl(PR_GET_DUMPABLE) == 0 && core.rlim_max == 0)
		strbuf_adds(&b, ", no core dumps, no debuggers");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		strbuf_adds(&b, ", no new privileges");
	if (!has_capabilities())
		strbuf_adds(&b, ", no capabilities");
	if (prctl(PR_GET_SECCOMP) == 2)
		strbuf_adds(&b, ", system calls filtered");
	if (SANITIZER_RUNS)
		strbuf_adds(&b, " (a sanitizer's build)");
	(void)snprintf(out, size, "%s", b.buf);
}
