#include "alm/io/program_outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "alm/io/program.h"
#include "alm/io/program_child.h"

static int not_started(const char *path, int e, struct error *err)
{
	if (e == ENOENT || e == ENOTDIR)
		return error_set(err, E_NOTFOUND,
				 "%s: no such program, or the interpreter of its first line or "
				 "its working folder is missing",
				 path);
	if (e == EACCES)
		return error_set(err, E_NOTALLOWED,
				 "%s: not executable, or not for this user (chmod +x)", path);
	if (e == EPERM)
		return error_set(err, E_NOTALLOWED,
				 "%s: this process may not run programs any more: start it again",
				 path);
	if (e == ENOEXEC)
		return error_set(err, E_NOTALLOWED,
				 "%s: no program for this machine; a script begins with "
				 "#!/path/of/its/interpreter",
				 path);
	if (e == PROGRAM_NOT_OFFLINE)
		return error_set(err, E_UNSUPPORTED,
				 "%s: this machine cannot close the network to it (seccomp)", path);
	return error_set(err, E_IO, "%s: cannot be started: %s", path, strerror(e));
}

static int by_signal(const char *path, const struct program_limits *l, int signal,
		     struct error *err)
{
	if (signal == SIGXCPU || signal == SIGKILL)
		return error_set(err, E_LIMIT, "%s: used more than %d s of processor time%s", path,
				 l->cpu_s, signal == SIGKILL ? ", or was killed" : "");
	if (signal == SIGXFSZ)
		return error_set(err, E_LIMIT, "%s: wrote a file of more than %zu bytes", path,
				 l->file_bytes);
	return error_set(err, E_INTERNAL, "%s: ended by signal %d (%s)", path, signal,
			 strsignal(signal));
}

int program_outcome(const char *path, const struct program_limits *limits,
		    const struct program_report *report, struct error *err)
{
	if (report->failed)
		return not_started(path, report->failed, err);
	if (report->end == PROGRAM_DEADLINE)
		return error_set(err, E_LIMIT, "%s: has not ended within %lld ms", path,
				 (long long)(limits->wall_ns / NS_PER_MS));
	if (WIFSIGNALED(report->status))
		return by_signal(path, limits, WTERMSIG(report->status), err);
	return 0;
}
