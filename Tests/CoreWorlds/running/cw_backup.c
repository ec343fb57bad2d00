/// cw_backup.c: copies of the core's database in the middle of a history.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks/cw_compare.h"

/// Writes between two steps of a copy, to a table that the reference does not have and no comparison looks at: the copy must not have it.
static bool write_meanwhile(void *context, int64_t copied, int64_t all)
{
    static const char sql[] = "CREATE TABLE IF NOT EXISTS \"_mc_noise\"(a); INSERT INTO \"_mc_noise\" VALUES (zeroblob(3000)); "
                              "DELETE FROM \"_mc_noise\" WHERE rowid % 3 = 0";
    cw_run *const run = context;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .label = "backup"};
    mc_connection *writer = NULL;
    mc_error error;
    (void)copied;
    (void)all;
    mc_status status = mc_pool_checkout(run->pool, &checkout, &writer, &error);
    if (status == MC_OK) {
        status = mc_connection_exec(writer, sql, sizeof sql - 1, NULL, &error);
        mc_pool_return(run->pool, writer);
    }
    if (status != MC_OK)
        cw_fail(run, "backup", "a write during a backup: %s", error.message);
    return status == MC_OK;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t result = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        result = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return result;
}

/// The copy is sound, and has what the reference has now.
static void check_copy(cw_run *run, const char *path, int64_t noise)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        cw_fail(run, "backup", "a copy cannot be opened: %s", sqlite3_errmsg(db));
    else if (number(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") != 1)
        cw_fail(run, "backup", "a copy is damaged");
    else if (cw_database_digest(run, db, true) != cw_database_digest(run, run->reference, false))
        cw_fail(run, "backup", "a copy does not have the rows of the time when it was begun");
    else if (number(db, "SELECT count(*) FROM \"_mc_noise\"") != noise)
        cw_fail(run, "backup", "a copy has rows that were written later");
    (void)sqlite3_close(db);
}

static void back_up(cw_run *run, const char *line)
{
    const bool writes = cw_number(line, "writes", 0) != 0 && run->writer == NULL;
    char *const path = cw_path(run, "copy.db");
    mc_error error = {0};
    const mc_backup_options options = {MC_OPTIONS(mc_backup_options), .pages_per_step = (int)cw_number(line, "pages", 5),
                                       .progress = writes ? write_meanwhile : NULL, .context = run};
    cw_return_writer(run);
    const bool is_writing = run->level > 0 && run->writer != NULL;
    int64_t noise = -1;
    if (!is_writing) {
        mc_connection *const writer = cw_writer(run);
        noise = writer != NULL ? number(mc_connection_sqlite(writer), "SELECT count(*) FROM \"_mc_noise\"") : -1;
        cw_return_writer(run);
    }
    (void)unlink(path);
    const mc_status status = mc_pool_backup(run->pool, path, &options, &error);
    if (is_writing ? status != MC_ERROR_MISUSE || access(path, F_OK) == 0 : status != MC_OK)
        cw_fail(run, "backup", "%s: %s", is_writing ? "a backup within a write" : "a backup",
                status == MC_OK ? "it was made" : error.message);
    else if (!is_writing && run->kind == NULL)
        check_copy(run, path, noise);
    cw_meet(run, CW_BACKUP);
    free(path);
}

bool cw_step_backup(cw_run *run, const char *line)
{
    if (!cw_is(line, "backup"))
        return false;
    // The copy of a database in a recorded storage would be a part of its record.
    if (run->storage == NULL)
        back_up(run, line);
    return true;
}
