#include "alm/io/editor.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alm/base/mem.h"
#include "alm/base/strbuf.h"

int editor_run(const char *command, const char *path, struct error *err)
{
	CLEANUP(strbuf_release) struct strbuf script = STRBUF_INIT(STRBUF_SMALL);
	CLEANUP(xfreep) char *file = xstrdup(path);
	char sh[] = "sh", flag[] = "-c";
	pid_t pid;
	int status;
	strbuf_addf(&script, "%s \"$1\"", command); /* may have arguments: code --wait */
	char *const argv[] = {sh, flag, script.buf, sh, file, NULL};
	pid = fork();
	if (pid < 0)
		return error_set(err, E_IO, "%s: %s", command, strerror(errno));
	if (!pid) {
		execv("/bin/sh", argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, E_IO, "%s: %s", command, strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(err, E_IO, "%s %s: it failed, nothing is changed", command, path);
	return 0;
}
