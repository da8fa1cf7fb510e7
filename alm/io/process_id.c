#include "alm/io/process_id.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alm/base/hash.h"
#include "alm/base/str.h"

#define HOST_MAX     64
#define STAT_MAX     1024 /* of /proc/PID/stat: 52 numbers and a name of 16 bytes */
#define LINK_MAX     64
#define PLACE_LEN    12
#define STAT_STATE   0 /* fields after the name */
#define STAT_THREADS 17
#define STAT_START   19
#define UNKNOWN      "-"

static bool read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, out, size - 1);
	(void)close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

struct process_stat {
	char state;
	int64_t threads, start;
};

/* Of /proc/PID/stat, behind the name, which may hold anything; false: not readable. */
static bool read_stat(const char *path, struct process_stat *ret)
{
	char text[STAT_MAX];
	struct str rest, field = {0};
	if (!read_text(path, text, sizeof(text)) || !strrchr(text, ')'))
		return false;
	rest = str_trim(str_of(strrchr(text, ')') + 1));
	for (int i = 0; i <= STAT_START; i++) {
		if (!rest.len)
			return false;
		(void)str_cut(rest, ' ', &field, &rest);
		if (i == STAT_STATE)
			ret->state = field.ptr[0];
		if (i == STAT_THREADS && !str_parse_i64(field, &ret->threads))
			return false;
	}
	return str_parse_i64(field, &ret->start);
}

static bool add_link(struct strbuf *b, const char *path)
{
	char to[LINK_MAX];
	ssize_t n = readlink(path, to, sizeof(to));
	if (n <= 0 || n == (ssize_t)sizeof(to))
		return false;
	strbuf_addf(b, " %.*s", (int)n, to);
	return true;
}

/* Is /proc that of the namespace in which we have our number? Else it knows other processes by it. */
static bool is_our_proc(void)
{
	char self[LINK_MAX];
	int64_t pid;
	ssize_t n = readlink("/proc/self", self, sizeof(self));
	return n > 0 && str_parse_i64(str_n(self, (size_t)n), &pid) && pid == getpid();
}

/* Copies of a running machine have one boot. What one of them does not have, the others have not, either. */
static void add_machine(struct strbuf *b)
{
	char id[LINK_MAX], host[HOST_MAX + 1] = "";
	if (read_text("/etc/machine-id", id, sizeof(id)))
		strbuf_addf(b, " %.*s", STR_ARG(str_trim(str_of(id))));
	if (gethostname(host, sizeof(host) - 1) == 0)
		strbuf_addf(b, " %s", host);
}

/* out stays as it is where that is not known. */
static void find_place(char out[SHA256_HEX])
{
	char boot[LINK_MAX];
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	if (!is_our_proc() || !read_text("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)))
		return;
	strbuf_addstr(&b, str_trim(str_of(boot)));
	if (!add_link(&b, "/proc/self/ns/pid"))
		return;
	(void)add_link(&b, "/proc/self/ns/time"); /* a kernel without them has one time */
	add_machine(&b);
	sha256_hex(strbuf_str(&b), out);
	out[PLACE_LEN] = '\0';
}

const char *process_id(struct loop *l, struct arena *a)
{
	char host[HOST_MAX + 1] = "", place[SHA256_HEX] = UNKNOWN;
	uint32_t random;
	struct process_stat self = {0};
	bool known = gethostname(host, sizeof(host) - 1) == 0 && *host;
	loop_random(l, &random, sizeof(random));
	find_place(place);
	if (!read_stat("/proc/self/stat", &self))
		(void)snprintf(place, sizeof(place), UNKNOWN);
	return arena_fmt(a, "%s_%ld_%lld_%s_%08x", known ? host : "alm", (long)getpid(),
			 (long long)self.start, place, random);
}

/* The last field of text, which is cut off. */
static bool cut_last(struct str *text, struct str *ret)
{
	for (size_t i = text->len; i > 0; i--)
		if (text->ptr[i - 1] == '_') {
			*ret = str_n(text->ptr + i, text->len - i);
			text->len = i - 1;
			return true;
		}
	return false;
}

bool process_id_is_dead(const char *text)
{
	char place[SHA256_HEX] = UNKNOWN, path[LINK_MAX];
	struct str rest = str_of(text), random, where, began, number;
	struct process_stat now = {0};
	int64_t pid, start;
	if (!cut_last(&rest, &random) || !cut_last(&rest, &where) || !cut_last(&rest, &began) ||
	    !cut_last(&rest, &number) || !str_parse_i64(number, &pid) ||
	    !str_parse_i64(began, &start) || pid <= 0 || pid > INT32_MAX || start <= 0)
		return false;
	find_place(place);
	if (!str_is(where, place) || !strcmp(place, UNKNOWN))
		return false;
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return true;
	(void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (!read_stat(path, &now))
		return false; /* hidden, or it has just ended */
	if (now.start != start)
		return true; /* another one has its number */
	/* nobody has asked yet how it ended, and none of its threads is still on its way out */
	return (now.state == 'Z' || now.state == 'X') && now.threads <= 1;
}
