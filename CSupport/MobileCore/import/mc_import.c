#include "mc_import.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_cores.h"
#include "import/mc_import_savepoint.h"
#include "import/mc_import_sql.h"
#include "import/mc_import_target.h"
#include "import/mc_inflater.h"
#include "import/mc_scan_ahead.h"
#include "rows/mc_rows_internal.h"

/// open ---push---> open ---finish---> finished; an error in any of them: failed, and rolled back. Only `open` takes bytes.
typedef enum import_state { STATE_OPEN, STATE_FINISHED, STATE_FAILED } import_state;

struct mc_import {
    sqlite3 *db;
    import_state state;
    mc_import_savepoint savepoint;
    mc_inflater inflate;
    mc_rows *rows;
    mc_scan_ahead *ahead;  // not NULL: it uses inflater and scanner
    mc_import_target *targets;
    size_t target_count;
    mc_import_counts counts;
    int64_t commit_rows, commit_bytes;
    int64_t committed_bytes;  // of JSON text
    mc_import_progress progress;
    mc_import_observer observer;
    void *context;
    mc_import_threads threads;
    mc_import_thread_begins thread_begins;
    void *thread_context;
    mc_error sink_failure;
};

enum { PUSH_BYTES = 64 * 1024 };
static const int64_t AHEAD_FROM_BYTES = 128 * 1024;  // a smaller input is imported before a thread has started
static const int64_t INFLATED_BYTES_DEFAULT = INT64_C(64) << 30;
static const int64_t INFLATE_RATIO_DEFAULT = 400;

/// The name of the import in messages.
static const char *name_of(const mc_import *import)
{
    return import->targets[0].table;
}

/// Refuses a commit while another import is open, which would lose its rows set aside and its dropped indexes.
static mc_status check_commits(const mc_import *import, mc_error *error)
{
    const bool commits = import->commit_rows > 0 || import->commit_bytes > 0;
    return !commits || !mc_import_savepoint_is_shared(&import->savepoint)
        ? MC_OK
        : mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\", commits on the way: %s", name_of(import), MC_COMMIT_GUARD_REFUSAL);
}

/// Commits the work so far, and continues in a transaction of the same kind.
static mc_status commit(mc_import *import, mc_error *error)
{
    bool committed;
    const mc_status status = check_commits(import, error);
    if (status != MC_OK)
        return status;
    const int result = mc_import_savepoint_commit(&import->savepoint, &committed);
    if (committed)
        import->counts.committed = import->counts.rows;
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, import->db, result, "import of \"%.80s\", commit after %" PRId64 " rows",
                                                name_of(import), import->counts.rows);
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
                          name_of(import), import->counts.rows);
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

/// The sink of the row scanner.
static mc_status take_batch(void *context, const mc_row_batch *scanned, mc_error *error)
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

/// The sink of the inflater.
static mc_status take_text(void *context, const void *bytes, size_t length, mc_error *error)
{
    mc_rows *const rows = ((mc_import *)context)->rows;
    return length > 0 ? mc_rows_push(rows, bytes, length, error) : mc_rows_settle(rows, error);
}

/// Copies the columns of a table for the scanner. For a null key SQLite would choose a key, so outside of a plain insert it is an error.
static void copy_columns(mc_column *columns, const mc_import_target *target, const mc_import_table *table)
{
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    for (size_t key = 0; key < target->key_count; key++)
        columns[target->key_columns[key]].required |= table->mode != MC_IMPORT_INSERT;
}

/// Makes a number beyond the largest double an error in columns that convert texts to numbers: it would become infinite.
static void refuse_infinity(mc_import *import, size_t member, const mc_import_table *table)
{
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].type == MC_COLUMN_ANY && mc_import_makes_numbers(import->db, table->table, table->columns[column].name))
            mc_rows_set_finite(import->rows, member, column);
    }
}

/// Makes the row scanner.
static mc_status open_rows(mc_import *import, const mc_import_options *options, mc_error *error)
{
    size_t count = 0;
    for (size_t index = 0; index < options->table_count; index++)
        count += options->tables[index].column_count;
    mc_column *const columns = mc_allocate_zeroed(count, sizeof *columns);
    mc_rows_member *const members = mc_allocate_zeroed(options->table_count, sizeof *members);
    mc_status status = MC_OK;
    if (columns == NULL || members == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", name_of(import));
        goto done;
    }
    mc_column *next = columns;
    for (size_t index = 0; index < options->table_count; index++) {
        const mc_import_table *const table = &options->tables[index];
        copy_columns(next, &import->targets[index], table);
        members[index] = (mc_rows_member){
            .name = table->member != NULL ? table->member : table->table,
            .columns = next,
            .column_count = table->column_count,
        };
        next += table->column_count;
    }
    const bool is_object = options->is_object || options->table_count > 1;
    const mc_rows_options rows = {
        .name = options->tables[0].table,
        .columns = columns,
        .column_count = options->tables[0].column_count,
        .members = is_object ? members : NULL,
        .member_count = options->table_count,
        .depth = options->depth,
        .row_bytes = options->row_bytes,
        .sink = take_batch,
        .context = import,
    };
    status = mc_rows_open(&rows, &import->rows, error);
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++)
        refuse_infinity(import, index, &options->tables[index]);

done:
    mc_free(columns);
    mc_free(members);
    return status;
}

static mc_status open_targets(mc_import *import, const mc_import_options *options, mc_error *error)
{
    mc_status status = MC_OK;
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++) {
        import->target_count++;
        status = mc_import_target_open(&import->targets[index], import->db, &options->tables[index], options->connection, error);
    }
    return status;
}

/// Begins the savepoint, and prepares all statements.
static mc_status prepare(mc_import *import, const mc_import_options *options, mc_error *error)
{
    const bool commits = options->commit_rows > 0 || options->commit_bytes > 0;
    const int result = mc_import_savepoint_begin(&import->savepoint);
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, import->db, result, "import of \"%.80s\"", name_of(import));
    mc_status status = check_commits(import, error);
    for (size_t index = 0; index < options->table_count && status == MC_OK; index++)
        status = mc_import_target_prepare(&import->targets[index], &options->tables[index], !commits, error);
    return status;
}

mc_status mc_import_open(sqlite3 *db, const mc_import_options *options, mc_import **out, mc_error *error)
{
    *out = NULL;
    if (options->table_count < 1 || options->commit_rows < 0 || options->commit_bytes < 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import: it takes one table or more, and commits of 0 rows and bytes or more");
    mc_import *const import = mc_allocate_zeroed(1, sizeof *import);
    if (import == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->tables[0].table);
    import->db = db;
    import->savepoint.db = db;
    import->commit_rows = options->commit_rows;
    import->commit_bytes = options->commit_bytes;
    import->threads = options->threads;
    import->thread_begins = options->thread_begins;
    import->thread_context = options->thread_context;
    import->progress = options->progress;
    import->observer = options->observer;
    import->context = options->context;
    mc_inflater_init(&import->inflate, take_text, import, options->inflated_bytes > 0 ? options->inflated_bytes : INFLATED_BYTES_DEFAULT,
                     options->inflate_ratio > 0 ? options->inflate_ratio : INFLATE_RATIO_DEFAULT);
    import->targets = mc_allocate_zeroed(options->table_count, sizeof *import->targets);
    mc_status status = MC_OK;
    if (import->targets == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->tables[0].table);
        goto done;
    }
    status = open_targets(import, options, error);
    if (status == MC_OK)
        status = open_rows(import, options, error);
    if (status == MC_OK)
        status = prepare(import, options, error);
    if (status == MC_OK)
        *out = import;

done:
    if (status != MC_OK)
        mc_import_free(import);
    return status;
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
    return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": it is %s", name_of(import),
                   import->state == STATE_FINISHED ? "finished" : "rolled back after an error");
}

/// Starts the second thread if the input is large enough, after the first bytes; without a thread the import continues on this one.
static void look_ahead(mc_import *import)
{
    const bool large = import->threads == MC_IMPORT_THREADS_ON || import->inflate.bytes_out >= AHEAD_FROM_BYTES;
    if (import->threads == MC_IMPORT_THREADS_OFF || !large)
        return;
    if (import->threads == MC_IMPORT_THREADS_ON || mc_has_second_core())
        import->ahead = mc_scan_ahead_start(&(mc_scan_ahead_options){
            .inflater = &import->inflate,
            .rows = import->rows,
            .sink = take_batch,
            .context = import,
            .thread_begins = import->thread_begins,
            .thread_context = import->thread_context,
        });
    if (import->ahead == NULL)
        import->threads = MC_IMPORT_THREADS_OFF;
}

/// Takes bytes until the second thread starts; `*bytes` and `*length` are then the rest.
static mc_status push_here(mc_import *import, const uint8_t **bytes, size_t *length, mc_error *error)
{
    mc_status status = MC_OK;
    while (status == MC_OK && *length > 0 && import->ahead == NULL) {
        const size_t here = import->threads == MC_IMPORT_THREADS_OFF || *length < PUSH_BYTES ? *length : PUSH_BYTES;
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

/// Finishes the tables after the last row.
static mc_status finish_targets(mc_import *import, mc_error *error)
{
    // After a rollback the caller may have begun another transaction, to which this work must not be added.
    mc_status status = check_savepoint(import, error);
    for (size_t index = 0; index < import->target_count && status == MC_OK; index++)
        status = mc_import_target_put_back(&import->targets[index], error);
    for (size_t index = 0; index < import->target_count && status == MC_OK; index++)
        status = mc_import_target_make_indexes(&import->targets[index], error);
    if (status != MC_OK)
        return status;
    const int result = mc_import_savepoint_release(&import->savepoint);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, import->db, result, "import of \"%.80s\", at its end", name_of(import));
}

mc_status mc_import_finish(mc_import *import, mc_import_counts *counts, mc_error *error)
{
    mc_status status = check_open(import, error);
    if (status != MC_OK)
        return status;
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
    counts.inflated_bytes = import->ahead == NULL ? import->inflate.bytes_out : mc_scan_ahead_text_bytes(import->ahead);
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
