/// mc_import.c: the life of an import after its opening: texts are taken, ended and finished.
#include <inttypes.h>

#include "base/mc_memory.h"
#include "import/mc_cores.h"
#include "import/mc_import_internal.h"

enum {
    PUSH_BYTES = 64 * 1024,   // of the input, between two looks whether the second thread is worth its start
    PUSH_BYTES_AGAIN = 1024,  // where an earlier text had the thread: the inflater sees the kind of the input
};
static const int64_t AHEAD_FROM_BYTES = 128 * 1024;  // a smaller input is imported before a thread has started

const char *mc_import_name(const mc_import *import)
{
    return import->targets[0].table;
}

mc_status mc_import_check_commits(const mc_import *import, mc_error *error)
{
    const bool commits = import->commit_rows > 0 || import->commit_bytes > 0;
    return !commits || !mc_import_savepoint_is_shared(&import->savepoint)
        ? MC_OK
        : mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\", commits on the way: %s", mc_import_name(import), MC_COMMIT_GUARD_REFUSAL);
}

/// Commits the work so far, and continues in a transaction of the same kind.
static mc_status commit(mc_import *import, mc_error *error)
{
    bool committed;
    const mc_status status = mc_import_check_commits(import, error);
    if (status != MC_OK)
        return status;
    const int result = mc_import_savepoint_commit(&import->savepoint, &committed);
    if (committed)
        import->counts.committed = import->counts.rows;
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, import->db, result, "import of \"%.80s\", commit after %" PRId64 " rows",
                                                mc_import_name(import), import->counts.rows);
}

/// Commits if enough rows or bytes are uncommitted.
static mc_status commit_some(mc_import *import, mc_error *error)
{
    const int64_t bytes = mc_import_progress_counts(import).inflated_bytes;
    const bool due = (import->commit_rows > 0 && import->counts.rows - import->counts.committed >= import->commit_rows)
        || (import->commit_bytes > 0 && bytes - import->committed_bytes >= import->commit_bytes);
    if (!due)
        return MC_OK;
    import->committed_bytes = bytes;
    return commit(import, error);
}

/// Notifies the observer and the progress callback. Returns whether the import may continue.
static bool report(mc_import *import, const mc_import_target *target, const mc_row_batch *batch)
{
    if (import->observer != NULL && !batch->is_part && import->observer(import->context, batch, target->changes) != 0)
        return false;
    if (import->progress == NULL)
        return true;
    const mc_import_counts counts = mc_import_progress_counts(import);
    return import->progress(import->context, &counts) == 0;
}

/// Checks that SQLite has not rolled back the transaction: further statements would each commit by themselves.
static mc_status check_savepoint(const mc_import *import, mc_error *error)
{
    if (!mc_import_savepoint_is_lost(&import->savepoint))
        return MC_OK;
    return mc_fail_sqlite(error, NULL, SQLITE_ABORT_ROLLBACK, "import of \"%.80s\": its transaction was rolled back after %" PRId64 " rows",
                          mc_import_name(import), import->counts.rows);
}

/// Drops the indexes that are better made at the end. The statements of all tables are then out of date, and are renewed. A statement that
/// SQLite renews during its work can fail to undo itself without memory: SQLite rolls back the transaction and repeats the statement.
static mc_status defer_indexes(mc_import *import, mc_import_target *target, mc_error *error)
{
    bool dropped = false;
    mc_status status = mc_import_target_defer_indexes(target, &dropped, error);
    for (size_t index = 0; dropped && index < import->target_count && status == MC_OK; index++)
        status = mc_import_target_renew(&import->targets[index], error);
    return status == MC_OK ? check_savepoint(import, error) : status;
}

mc_status mc_import_take_batch(void *context, const mc_row_batch *scanned, mc_error *error)
{
    mc_import *const import = context;
    mc_import_target *const target = &import->targets[scanned->member];
    mc_row_batch batch = *scanned;
    mc_status status = check_savepoint(import, error);
    if (status != MC_OK)
        return status;
    status = scanned->is_part ? mc_import_target_take_part(target, &scanned->part, error)
                              : mc_import_target_write(target, &batch, import->observer != NULL, &import->counts, error);
    if (status == MC_OK && !scanned->is_part)
        status = defer_indexes(import, target, error);
    if (status != MC_OK)
        return status;
    if (!report(import, target, &batch))
        return mc_fail(error, MC_ERROR_INTERRUPTED, "import of \"%.80s\": cancelled after %" PRId64 " rows", target->table,
                       import->counts.rows);
    const bool commits = !scanned->is_part && (import->commit_rows > 0 || import->commit_bytes > 0);
    return commits ? commit_some(import, error) : MC_OK;
}

mc_status mc_import_take_text(void *context, const void *bytes, size_t length, mc_error *error)
{
    mc_rows *const rows = ((mc_import *)context)->rows;
    return length > 0 ? mc_rows_push(rows, bytes, length, error) : mc_rows_settle(rows, error);
}

static void stop_ahead(mc_import *import)
{
    mc_scan_ahead_stop(import->ahead);
    import->ahead = NULL;
}

/// Notes the outcome of a step; a failure undoes the whole import.
static mc_status settle(mc_import *import, mc_status status)
{
    if (status == MC_OK)
        return MC_OK;
    import->state = STATE_FAILED;
    stop_ahead(import);
    mc_import_savepoint_undo(&import->savepoint);
    return status;
}

static mc_status check_open(const mc_import *import, mc_error *error)
{
    if (import->state == STATE_OPEN)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": it is %s", mc_import_name(import),
                   import->state == STATE_FINISHED ? "finished" : "rolled back after an error");
}

/// Starts the second thread if the input is large enough, after the first bytes; without a thread the import continues on this one.
static void look_ahead(mc_import *import)
{
    const bool large = import->threads == MC_IMPORT_THREADS_ON || import->was_ahead || import->inflate.bytes_out >= AHEAD_FROM_BYTES;
    if (import->threads == MC_IMPORT_THREADS_OFF || !large)
        return;
    if (import->threads == MC_IMPORT_THREADS_ON || mc_has_second_core())
        import->ahead = mc_scan_ahead_start(&(mc_scan_ahead_options){
            .inflater = &import->inflate,
            .rows = import->rows,
            .sink = mc_import_take_batch,
            .context = import,
            .thread_begins = import->thread_begins,
            .thread_context = import->thread_context,
        });
    import->was_ahead = import->ahead != NULL;
    if (import->ahead == NULL)
        import->threads = MC_IMPORT_THREADS_OFF;
}

/// Takes bytes until the second thread starts; `*bytes` and `*length` are then the rest.
static mc_status push_here(mc_import *import, const uint8_t **bytes, size_t *length, mc_error *error)
{
    const size_t most = import->threads == MC_IMPORT_THREADS_OFF ? SIZE_MAX : import->was_ahead ? PUSH_BYTES_AGAIN : PUSH_BYTES;
    mc_status status = MC_OK;
    while (status == MC_OK && *length > 0 && import->ahead == NULL) {
        const size_t here = *length < most ? *length : most;
        status = mc_inflater_push(&import->inflate, *bytes, here, error);
        *bytes += here;
        *length -= here;
        if (status == MC_OK)
            look_ahead(import);
    }
    return status;
}

mc_status mc_import_push(mc_import *import, const void *bytes, size_t length, mc_error *error)
{
    const uint8_t *at = bytes;
    mc_status status = check_open(import, error);
    if (status != MC_OK)
        return status;
    status = check_savepoint(import, error);
    if (status != MC_OK)
        return settle(import, status);
    import->counts.bytes += (int64_t)length;
    import->is_between = import->is_between && length == 0;
    status = push_here(import, &at, &length, error);
    if (status == MC_OK && length > 0)
        status = mc_scan_ahead_push(import->ahead, at, length, error);
    return settle(import, status);
}

bool mc_import_sink(void *context, const void *bytes, size_t length)
{
    mc_import *const import = context;
    return import->sink_failure.code == MC_OK && mc_import_push(import, bytes, length, &import->sink_failure) == MC_OK;
}

const mc_error *mc_import_failure(const mc_import *import)
{
    return &import->sink_failure;
}

static mc_status finish_input(mc_import *import, mc_error *error)
{
    if (import->ahead == NULL) {
        const mc_status status = mc_inflater_finish(&import->inflate, error);
        return status == MC_OK ? mc_rows_finish(import->rows, error) : status;
    }
    const mc_status status = mc_scan_ahead_finish(import->ahead, error);
    stop_ahead(import);
    return status;
}

mc_status mc_import_end_text(mc_import *import, mc_import_counts *counts, mc_error *error)
{
    mc_status status = check_open(import, error);
    if (status != MC_OK)
        return status;
    status = check_savepoint(import, error);
    if (status == MC_OK)
        status = finish_input(import, error);
    status = settle(import, status);
    if (status != MC_OK)
        return status;
    import->ended_bytes += import->inflate.bytes_out;
    import->is_between = true;
    mc_inflater_begin_again(&import->inflate);
    mc_rows_begin_again(import->rows);
    if (counts != NULL)
        *counts = mc_import_progress_counts(import);
    return MC_OK;
}

/// Finishes the tables after the last row.
static mc_status finish_targets(mc_import *import, mc_error *error)
{
    // After a rollback the caller may have begun another transaction, to which this work must not be added.
    mc_status status = check_savepoint(import, error);
    for (size_t index = 0; index < import->target_count && status == MC_OK; index++)
        status = mc_import_target_make_indexes(&import->targets[index], error);
    if (status != MC_OK)
        return status;
    const int result = mc_import_savepoint_release(&import->savepoint);
    return result == SQLITE_OK
        ? MC_OK
        : mc_fail_sqlite(error, import->db, result, "import of \"%.80s\", at its end", mc_import_name(import));
}

mc_status mc_import_finish(mc_import *import, mc_import_counts *counts, mc_error *error)
{
    mc_status status = check_open(import, error);
    if (status != MC_OK)
        return status;
    if (!import->is_between)
        status = finish_input(import, error);
    if (status == MC_OK)
        status = finish_targets(import, error);
    status = settle(import, status);
    if (status != MC_OK)
        return status;
    import->state = STATE_FINISHED;
    if (counts != NULL)
        *counts = mc_import_progress_counts(import);
    return MC_OK;
}

mc_import_counts mc_import_progress_counts(const mc_import *import)
{
    mc_import_counts counts = import->counts;
    const int64_t bytes = import->ahead == NULL ? import->inflate.bytes_out : mc_scan_ahead_text_bytes(import->ahead);
    counts.inflated_bytes = import->ended_bytes + bytes;
    return counts;
}

void mc_import_free(mc_import *import)
{
    if (import == NULL)
        return;
    stop_ahead(import);
    for (size_t index = 0; index < import->target_count; index++)
        mc_import_target_close(&import->targets[index]);
    mc_import_savepoint_undo(&import->savepoint);
    mc_import_savepoint_close(&import->savepoint);
    mc_inflater_destroy(&import->inflate);
    mc_rows_free(import->rows);
    mc_free(import->targets);
    mc_free(import);
}
