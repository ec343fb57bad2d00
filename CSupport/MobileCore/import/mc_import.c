#include "mc_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_import_sql.h"
#include "import/mc_incoming.h"
#include "import/mc_inflater.h"
#include "import/mc_key_set.h"
#include "import/mc_set_aside.h"

/// open ---push---> open ---finish---> finished; an error in any of them: failed, and rolled back. Only `open` takes bytes.
typedef enum import_state { STATE_OPEN, STATE_FINISHED, STATE_FAILED } import_state;

struct mc_import {
    sqlite3 *db;
    import_state state;
    mc_import_mode mode;
    char *table;
    size_t column_count, key_column;
    bool has_savepoint;
    bool row_by_row;          // the target has triggers

    mc_inflater inflate;
    mc_rows *rows;

    mc_incoming incoming;
    sqlite3_stmt *write;      // insert or upsert of a batch; delete of one key
    sqlite3_stmt *divert;     // one row to the table of original states; NULL without protection
    mc_key_set pending;
    mc_set_aside aside;       // pending rows that wait for the end of the import
    bool *diverted;           // per row of a batch
    size_t diverted_capacity;

    mc_import_counts counts;
    mc_import_progress progress;
    void *context;
    mc_error sink_failure;
};

static const int64_t INFLATED_BYTES_DEFAULT = INT64_C(64) << 30;
static const int64_t INFLATE_RATIO_DEFAULT = 400;

/// Runs a savepoint statement; the import's address makes its name its own.
static int run_savepoint(const mc_import *import, const char *verb)
{
    char sql[80];
    (void)snprintf(sql, sizeof sql, "%s mc_import_%" PRIxPTR, verb, (uintptr_t)import);
    return sqlite3_exec(import->db, sql, NULL, NULL, NULL);
}

/// Takes back everything since open. Some errors (a full disk, an interrupt) have rolled the whole transaction back by then, so
/// that there is no savepoint any more: nothing is left to do.
static void roll_back(mc_import *import)
{
    if (!import->has_savepoint)
        return;
    import->has_savepoint = false;
    if (sqlite3_get_autocommit(import->db) != 0)
        return;
    (void)run_savepoint(import, "ROLLBACK TO");
    (void)run_savepoint(import, "RELEASE");
}

/// Names the row that SQLite refused.
static mc_status fail_row(const mc_import *import, int result, const mc_row_batch *batch, size_t row, mc_error *error)
{
    const int64_t number = batch->first_row + (int64_t)row, offset = batch->offsets[row];
    const int extended = sqlite3_extended_errcode(import->db);
    const mc_status status = mc_fail_sqlite(error, import->db, extended != SQLITE_OK ? extended : result,
                                            "import of \"%.80s\", row %" PRId64 ", byte %" PRId64, import->table, number, offset);
    if (error != NULL) {
        error->row = number;
        error->byte_offset = offset;
    }
    return status;
}

/// Writes one row of the batch to the table of original states.
static mc_status divert_row(mc_import *import, const mc_row_batch *batch, size_t row, mc_error *error)
{
    const mc_value *const cells = batch->cells + row * batch->column_count;
    int result = SQLITE_OK;
    for (size_t column = 0; column < batch->column_count && result == SQLITE_OK; column++)
        result = mc_import_bind(import->divert, (int)column + 1, &cells[column]);
    if (result == SQLITE_OK)
        (void)sqlite3_step(import->divert);
    const int reset = sqlite3_reset(import->divert);
    if (result == SQLITE_OK)
        result = reset;
    return result == SQLITE_OK ? MC_OK : fail_row(import, result, batch, row, error);
}

/// Marks the rows whose keys are pending, and writes them where they belong.
static mc_status divert_rows(mc_import *import, const mc_row_batch *batch, mc_error *error)
{
    import->incoming.skipped = NULL;
    if (import->pending.count == 0)
        return MC_OK;
    if (batch->row_count > import->diverted_capacity) {
        bool *const diverted = mc_reallocate(import->diverted, batch->row_count, sizeof *diverted);
        if (diverted == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", import->table);
        import->diverted = diverted;
        import->diverted_capacity = batch->row_count;
    }
    const mc_value *key = batch->cells + import->key_column;
    for (size_t row = 0; row < batch->row_count; row++, key += batch->column_count) {
        import->diverted[row] = key->kind == MC_VALUE_INTEGER && mc_key_set_contains(&import->pending, key->value.integer);
        if (!import->diverted[row])
            continue;
        const mc_status status = divert_row(import, batch, row, error);
        if (status != MC_OK)
            return status;
        import->counts.diverted++;
        import->incoming.skipped = import->diverted;
    }
    return MC_OK;
}

/// Runs the statement for the rows from `first` to before `end`.
static mc_status write_rows(mc_import *import, const mc_row_batch *batch, size_t first, size_t end, mc_error *error)
{
    import->incoming.batch = batch;
    import->incoming.row = first;
    import->incoming.end = end;
    import->incoming.updated = 0;
    (void)sqlite3_step(import->write);
    // A step that is done leaves no changes of its own to count after the reset.
    const int64_t changed = sqlite3_changes(import->db);
    const int result = sqlite3_reset(import->write);
    if (result != SQLITE_OK) {
        const size_t row = import->incoming.row < end ? import->incoming.row : end - 1;
        return fail_row(import, result, batch, row, error);
    }
    import->counts.updated += import->incoming.updated;
    import->counts.inserted += changed - import->incoming.updated;
    return MC_OK;
}

static mc_status write_batch(mc_import *import, const mc_row_batch *batch, mc_error *error)
{
    if (!import->row_by_row)
        return write_rows(import, batch, 0, batch->row_count, error);
    mc_status status = MC_OK;
    for (size_t row = 0; row < batch->row_count && status == MC_OK; row++) {
        if (import->incoming.skipped == NULL || !import->incoming.skipped[row])
            status = write_rows(import, batch, row, row + 1, error);
    }
    return status;
}

static mc_status delete_batch(mc_import *import, const mc_row_batch *batch, mc_error *error)
{
    for (size_t row = 0; row < batch->row_count; row++) {
        if (import->incoming.skipped != NULL && import->incoming.skipped[row])
            continue;
        int result = mc_import_bind(import->write, 1, &batch->cells[row * batch->column_count]);
        if (result == SQLITE_OK) {
            (void)sqlite3_step(import->write);
            import->counts.deleted += sqlite3_changes(import->db);
            result = sqlite3_reset(import->write);
        }
        if (result != SQLITE_OK)
            return fail_row(import, result, batch, row, error);
    }
    return MC_OK;
}

/// The sink of the row scanner.
static mc_status take_batch(void *context, const mc_row_batch *batch, mc_error *error)
{
    mc_import *const import = context;
    mc_status status = divert_rows(import, batch, error);
    if (status == MC_OK)
        status = import->mode == MC_IMPORT_DELETE ? delete_batch(import, batch, error) : write_batch(import, batch, error);
    import->incoming.batch = NULL;
    if (status != MC_OK)
        return status;
    import->counts.rows += (int64_t)batch->row_count;
    if (import->progress == NULL)
        return MC_OK;
    const mc_import_counts counts = mc_import_progress_counts(import);
    if (import->progress(import->context, &counts) == 0)
        return MC_OK;
    return mc_fail(error, MC_ERROR_INTERRUPTED, "import of \"%.80s\": cancelled after %" PRId64 " rows", import->table, counts.rows);
}

/// The sink of the inflater.
static mc_status take_text(void *context, const void *bytes, size_t length, mc_error *error)
{
    return mc_rows_push(((mc_import *)context)->rows, bytes, length, error);
}

/// Reads the keys of the rows whose versions are diverted.
static mc_status load_pending(mc_import *import, const mc_import_pending *pending, mc_error *error)
{
    sqlite3_stmt *keys = NULL;
    mc_status status = mc_import_prepare_keys(import->db, pending, &keys, error);
    if (status != MC_OK)
        return status;
    int step;
    while (status == MC_OK && (step = sqlite3_step(keys)) != SQLITE_DONE) {
        if (step != SQLITE_ROW)
            status = mc_fail_sqlite(error, import->db, step, "import of \"%.80s\", pending keys of \"%.80s\"", import->table,
                                    pending->table);
        else if (sqlite3_column_type(keys, 0) != SQLITE_INTEGER)
            status = mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\", pending keys of \"%.80s\": expected integers", import->table,
                             pending->table);
        else if (!mc_key_set_add(&import->pending, sqlite3_column_int64(keys, 0)))
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for the pending keys", import->table);
    }
    sqlite3_finalize(keys);
    return status;
}

/// Finds the key among the columns.
static mc_status find_key(mc_import *import, const mc_import_options *options, mc_error *error)
{
    if ((unsigned)options->mode > MC_IMPORT_DELETE || options->column_count < 1)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": there is no mode %d, or there are no columns", options->table,
                       (int)options->mode);
    if (options->column_count > MC_INCOMING_COLUMNS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": %zu columns; %d is the most", options->table, options->column_count,
                       MC_INCOMING_COLUMNS_MAXIMUM);
    if (options->mode == MC_IMPORT_DELETE && options->column_count != 1)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": deletion takes the key alone, not %zu columns", options->table,
                       options->column_count);
    if (options->mode == MC_IMPORT_DELETE && options->on_insert_count > 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": deletion inserts nothing", options->table);
    if (options->key == NULL)
        return MC_OK;
    for (size_t column = 0; column < options->column_count; column++) {
        if (strcmp(options->columns[column].name, options->key) != 0)
            continue;
        import->key_column = column;
        return MC_OK;
    }
    return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": its key \"%.80s\" is not among the columns", options->table, options->key);
}

/// Makes the row scanner. A null key would make SQLite choose one, so outside of a plain insert it is an error.
static mc_status open_rows(mc_import *import, const mc_import_options *options, mc_error *error)
{
    mc_column *const columns = mc_allocate(options->column_count * sizeof *columns);
    if (columns == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->table);
    memcpy(columns, options->columns, options->column_count * sizeof *columns);
    columns[import->key_column].required |= options->mode != MC_IMPORT_INSERT;
    const mc_rows_options rows = {
        .name = options->table, .columns = columns, .column_count = options->column_count, .depth = options->depth,
        .row_bytes = options->row_bytes, .sink = take_batch, .context = import,
    };
    const mc_status status = mc_rows_open(&rows, &import->rows, error);
    mc_free(columns);
    return status;
}

/// Prepares the statements and reads the pending keys, inside of the savepoint.
static mc_status prepare(mc_import *import, const mc_import_options *options, mc_error *error)
{
    size_t size = 0;
    int result = mc_incoming_register(import->db, options->column_count, &size);
    if (result == SQLITE_OK) {
        result = run_savepoint(import, "SAVEPOINT");
        import->has_savepoint = result == SQLITE_OK;
    }
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, import->db, result, "import of \"%.80s\"", import->table);
    mc_status status = mc_import_has_triggers(import->db, import->table, &import->row_by_row, error);
    if (status == MC_OK)
        status = mc_import_prepare_write(import->db, options, import->key_column, size, &import->incoming, &import->write, error);
    if (status == MC_OK && options->pending != NULL)
        status = mc_import_prepare_divert(import->db, options, import->key_column, &import->divert, error);
    if (status == MC_OK && options->pending != NULL)
        status = load_pending(import, options->pending, error);
    if (status == MC_OK && import->mode != MC_IMPORT_DELETE && !import->row_by_row)
        status = mc_set_aside_take(&import->aside, import->db, import->table, options->columns[import->key_column].name, &import->pending, error);
    return status;
}

mc_status mc_import_open(sqlite3 *db, const mc_import_options *options, mc_import **out, mc_error *error)
{
    *out = NULL;
    mc_import *const import = mc_allocate_zeroed(1, sizeof *import);
    if (import == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->table);
    import->db = db;
    import->mode = options->mode;
    import->progress = options->progress;
    import->context = options->context;
    import->column_count = options->column_count;
    mc_inflater_init(&import->inflate, take_text, import, options->inflated_bytes > 0 ? options->inflated_bytes : INFLATED_BYTES_DEFAULT,
                    options->inflate_ratio > 0 ? options->inflate_ratio : INFLATE_RATIO_DEFAULT);
    mc_status status = MC_OK;
    import->table = mc_copy_text(options->table);
    if (import->table == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", options->table);
        goto done;
    }
    status = find_key(import, options, error);
    if (status == MC_OK)
        status = open_rows(import, options, error);
    if (status == MC_OK)
        status = prepare(import, options, error);
    if (status == MC_OK)
        *out = import;

done:
    if (status != MC_OK)
        mc_import_close(import);
    return status;
}

/// Notes the outcome of a step; a failure takes everything back.
static mc_status settle(mc_import *import, mc_status status)
{
    if (status == MC_OK)
        return MC_OK;
    import->state = STATE_FAILED;
    roll_back(import);
    return status;
}

static mc_status check_open(const mc_import *import, mc_error *error)
{
    if (import->state == STATE_OPEN)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": it is %s", import->table,
                   import->state == STATE_FINISHED ? "finished" : "rolled back after an error");
}

mc_status mc_import_push(mc_import *import, const void *bytes, size_t length, mc_error *error)
{
    const mc_status status = check_open(import, error);
    return status == MC_OK ? settle(import, mc_inflater_push(&import->inflate, bytes, length, error)) : status;
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

mc_status mc_import_finish(mc_import *import, mc_import_counts *counts, mc_error *error)
{
    mc_status status = check_open(import, error);
    if (status != MC_OK)
        return status;
    status = mc_inflater_finish(&import->inflate, error);
    if (status == MC_OK)
        status = mc_rows_finish(import->rows, error);
    if (status == MC_OK)
        status = mc_set_aside_put_back(&import->aside, import->db, import->table, error);
    if (status == MC_OK) {
        const int result = run_savepoint(import, "RELEASE");
        if (result != SQLITE_OK)
            status = mc_fail_sqlite(error, import->db, result, "import of \"%.80s\", at its end", import->table);
    }
    status = settle(import, status);
    if (status != MC_OK)
        return status;
    import->has_savepoint = false;
    import->state = STATE_FINISHED;
    if (counts != NULL)
        *counts = mc_import_progress_counts(import);
    return MC_OK;
}

mc_import_counts mc_import_progress_counts(const mc_import *import)
{
    mc_import_counts counts = import->counts;
    counts.bytes = import->inflate.bytes_in;
    counts.inflated_bytes = import->inflate.bytes_out;
    return counts;
}

void mc_import_close(mc_import *import)
{
    if (import == NULL)
        return;
    sqlite3_finalize(import->write);
    sqlite3_finalize(import->divert);
    mc_set_aside_free(&import->aside);
    roll_back(import);
    mc_inflater_destroy(&import->inflate);
    mc_rows_close(import->rows);
    mc_key_set_free(&import->pending);
    mc_free(import->diverted);
    mc_free(import->table);
    mc_free(import);
}
