/* cmd_backup: the database of a data folder as one file, beside a server that writes. */
#include <inttypes.h>
#include <string.h>

#include "alm/base/file.h"
#include "alm/cli/audit/audit_cmds.h"
#include "alm/cli/audit/backup_check.h"
#include "alm/cli/cmds.h"
#include "alm/cli/term.h"
#include "alm/io/db_copy.h"

static const char *folder_of(struct cli *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? arena_strndup(c->arena, path, slash == path ? 1 : (size_t)(slash - path))
		     : ".";
}

/* It would lie among the files that are lost together with the database. */
static int check_place(struct cli *c, const char *file, struct error *err)
{
	struct file_info folder, data;
	if (file_info(folder_of(c, file), &folder, err) < 0 ||
	    file_info(cli_data_dir(c), &data, err) < 0)
		return -err->code;
	if (folder.device == data.device && folder.inode == data.inode)
		return error_set(err, E_USAGE,
				 "%s lies in the data folder itself: name a file elsewhere, best "
				 "on another disk",
				 file);
	if (file_exists(file) && !cli_flag(c, "force"))
		return error_set(err, E_EXISTS,
				 "%s is there already: choose another name, or --force replaces "
				 "it when the new one is whole",
				 file);
	return 0;
}

static int check(struct cli *c, const char *part, struct verify_report *rep, int64_t *ret_objects,
		 struct error *err)
{
	struct db_config dc = {.path = part, .read_only = true, .layout = DB_LAYOUT};
	CLEANUP(db_closep) struct db *db = NULL;
	if (db_open(&dc, &db, err) < 0)
		return -err->code;
	return backup_check(db, cli_data_dir(c), rep, ret_objects, err);
}

static void tell(struct cli *c, const char *file, const struct verify_report *rep, int64_t objects)
{
	struct error none = ERROR_INIT;
	struct file_info info = {.size = 0};
	(void)file_info(file, &info, &none);
	term_print("%s: %" PRIu64 " bytes", file, info.size);
	if (objects >= 0)
		term_print(", %" PRId64 " objects", objects);
	term_print(", %" PRId64 " entries of the log\n", rep->last);
	term_print("not in it: the keys of %s (audit.key, redact.key, ca.key, "
		   "service-account.key, token); keep them apart from it\n",
		   cli_data_dir(c));
	if (!rep->n_findings)
		return;
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(STRBUF_SMALL);
	verify_print(rep, &b);
	term_error("alm: the log itself is not what was written; alm restore would refuse this "
		   "copy:\n");
	term_error_lines(strbuf_str(&b));
	c->exit_code = 4;
}

static int run_backup(struct cli *c, struct error *err)
{
	const char *file = c->args[0];
	const char *db = arena_fmt(c->arena, "%s/alm.db", cli_data_dir(c));
	const char *part = arena_fmt(c->arena, "%s.partial", file);
	struct verify_report *rep = ARENA_NEW(c->arena, struct verify_report);
	int64_t objects = -1;
	CLEANUP(db_unlock) int lock =
		-1; /* of two at once each would remove the other's FILE.partial */
	if (check_place(c, file, err) < 0)
		return -err->code;
	if (db_lock(arena_fmt(c->arena, "%s/backup", cli_data_dir(c)), &lock, err) < 0)
		return error_wrap(err, "another backup is under way");
	if (file_remove(part, err) < 0)
		return -err->code;
	int r = db_copy(db, part, err);
	if (r < 0)
		return r;
	r = check(c, part, rep, &objects, err);
	if (r >= 0)
		r = file_rename(part, file, cli_flag(c, "force"), err);
	if (r < 0) {
		struct error none = ERROR_INIT;
		(void)file_remove(part, &none);
		return error_wrap(err, "backup of %s", db);
	}
	tell(c, file, rep, objects);
	return 0;
}

static const struct cmd_option options[] = {
	{"force", NULL, "replace FILE, when the new backup is whole", 0},
	{0},
};
const struct cmd cmd_backup = {
	.name = "backup",
	.usage = "alm backup FILE [--data-dir DIR]",
	.summary = "copy the database of a data folder into one file, while alm runs",
	.description =
		"FILE holds all objects and the audit log as they were at one instant: what was "
		"acknowledged before is in it. It is checked (pages, chain of the log, objects) "
		"before it gets its name; until then it is FILE.partial, which a later backup "
		"replaces; one backup of a folder at a time. Its disk must have room for all of it "
		"before the first page is written. alm does not stop for it; its write-ahead log "
		"grows meanwhile.\n"
		"The keys are not in it, so that who gets hold of a backup can sign nothing and "
		"guess no redacted value: keep audit.key, redact.key, ca.crt, ca.key, "
		"service-account.key and token of the folder in another place. Secrets are in it "
		"as they are in the database: FILE is 0600, and is to be kept like them.\n"
		"Exit status: 0 done, 4 done, but the log was altered before.",
	.examples = "alm backup --data-dir /var/lib/alm /mnt/backup/alm-monday.db",
	.options = options,
	.args = {1, 1},
	.run = run_backup,
};
