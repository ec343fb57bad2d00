/// mc_backup.c: copies the pages of a pool's database to another connection.
#include <string.h>

#include "backup/mc_backup_file.h"
#include "base/mc_options.h"
#include "pool/mc_pool_internal.h"

enum { PAGES_PER_STEP = 256, RESTARTS = 3 };

static const mc_backup_options defaults = {MC_OPTIONS(mc_backup_options)};

static mc_status check_options(const mc_backup_options *options, mc_error *error)
{
    const mc_status status = MC_OPTIONS_CHECK(mc_backup_options, options, error);
    if (status == MC_OK && options->pages_per_step < 0)
        return mc_fail(error, MC_ERROR_MISUSE, "backup: %d pages a step; use 1 or more, or 0 for the default (%d)", options->pages_per_step,
                       PAGES_PER_STEP);
    return status;
}

/// One copy on its way.
typedef struct copy {
    mc_connection *source;
    sqlite3_backup *backup;
    const mc_backup_options *options;
    int pages;     ///< of the next step; negative: all that are left
    int copied;    ///< after the last step
    int restarts;  ///< steps after which there was less than before
} copy;

static mc_status fail_step(const copy *copy, int code, mc_error *error)
{
    const mc_pool *const pool = copy->source->pool;
    const mc_status interrupted = mc_connection_check(copy->source, error);
    if (interrupted != MC_OK)
        return interrupted;
    return mc_fail_sqlite(error, NULL, code, "backup of \"%s\" after %d of %d pages", pool->path, copy->copied,
                          sqlite3_backup_pagecount(copy->backup));
}

/// Counts the steps after which a changed database was begun again: a database that changes all the time is copied in one step in the end.
static void note_progress(copy *copy)
{
    const int copied = sqlite3_backup_pagecount(copy->backup) - sqlite3_backup_remaining(copy->backup);
    if (copied <= copy->copied && ++copy->restarts >= RESTARTS)
        copy->pages = -1;
    copy->copied = copied;
}

static mc_status run(copy *copy, mc_error *error)
{
    const mc_backup_options *const options = copy->options;
    copy->pages = options->pages_per_step > 0 ? options->pages_per_step : PAGES_PER_STEP;
    for (;;) {
        const mc_status status = mc_connection_check(copy->source, error);
        if (status != MC_OK)
            return status;
        // Waits for locks of other processes with the source's busy handler.
        const int code = sqlite3_backup_step(copy->backup, copy->pages);
        if (code != SQLITE_OK && code != SQLITE_DONE)
            return fail_step(copy, code, error);
        note_progress(copy);
        const int all = sqlite3_backup_pagecount(copy->backup);
        const bool goes_on = options->progress == NULL || options->progress(options->context, copy->copied, all);
        if (code == SQLITE_DONE)
            return MC_OK;
        if (!goes_on)
            return mc_fail(error, MC_ERROR_INTERRUPTED, "backup of \"%s\": cancelled after %d of %d pages", copy->source->pool->path,
                           copy->copied, all);
    }
}

/// Takes the snapshot of all steps, if the journal has snapshots: in a transaction of its own, unless the thread has begun one. Its
/// statements stay on their rows. A step alone would take a snapshot for itself.
static mc_status begin_snapshot(mc_connection *source, bool *has_begun, mc_error *error)
{
    *has_begun = false;
    if (strcmp(source->pool->settings.journal_mode, "wal") != 0)
        return MC_OK;
    int code = SQLITE_OK;
    if (sqlite3_get_autocommit(source->db) != 0) {
        code = sqlite3_exec(source->db, "BEGIN", NULL, NULL, NULL);
        *has_begun = code == SQLITE_OK;
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(source->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, source->db, code, "backup of \"%s\"", source->pool->path);
}

static mc_status copy_to(mc_connection *source, sqlite3 *target, const mc_backup_options *options, mc_error *error)
{
    bool has_begun = false;
    copy copy = {.source = source, .options = options};
    mc_status status = begin_snapshot(source, &has_begun, error);
    if (status == MC_OK)
        copy.backup = sqlite3_backup_init(target, "main", source->db, "main");
    if (status == MC_OK && copy.backup == NULL)
        status = mc_fail_sqlite(error, target, sqlite3_extended_errcode(target), "backup of \"%s\"", source->pool->path);
    else if (status == MC_OK)
        status = run(&copy, error);
    const int code = sqlite3_backup_finish(copy.backup);
    if (status == MC_OK && code != SQLITE_OK)
        status = fail_step(&copy, code, error);
    if (has_begun)
        (void)sqlite3_exec(source->db, "COMMIT", NULL, NULL, NULL);
    return status;
}

/// Takes a reader, or the connection that this thread has.
static mc_status take_source(mc_pool *pool, const mc_backup_options *options, mc_connection **out, mc_error *error)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .is_long = true, .timeout_ns = options->timeout_ns, .ticket = options->ticket,
                                  .label = "backup"};
    const mc_status status = mc_pool_checkout(pool, &checkout, out, error);
    if (status != MC_OK || !(*out)->is_writer || sqlite3_get_autocommit((*out)->db) != 0)
        return status;
    mc_pool_return(pool, *out);
    return mc_fail(error, MC_ERROR_MISUSE, "backup of \"%s\": this thread is in a write; end it first", pool->path);
}

mc_status mc_pool_backup_into(mc_pool *pool, sqlite3 *target, const mc_backup_options *options, mc_error *error)
{
    mc_connection *source = NULL;
    if (options == NULL)
        options = &defaults;
    mc_status status = check_options(options, error);
    if (status == MC_OK)
        status = take_source(pool, options, &source, error);
    if (status != MC_OK)
        return status;
    status = copy_to(source, target, options, error);
    mc_pool_return(pool, source);
    return status;
}

mc_status mc_pool_backup(mc_pool *pool, const char *path, const mc_backup_options *options, mc_error *error)
{
    mc_backup_file file;
    if (options == NULL)
        options = &defaults;
    mc_status status = check_options(options, error);
    if (status != MC_OK)
        return status;
    status = mc_backup_file_open(&file, pool, path, error);
    if (status == MC_OK)
        status = mc_pool_backup_into(pool, file.db, options, error);
    return mc_backup_file_close(&file, status, error);
}
