/// mc_import_batch.c: writes batches of rows to a table.
#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_import_sql.h"
#include "import/mc_import_target.h"

/// Names the row that SQLite refused.
static mc_status fail_row(const mc_import_target *target, int result, const mc_row_batch *batch, size_t row, mc_error *error)
{
    const int64_t number = batch->first_row + (int64_t)row, offset = batch->offsets[row];
    const int extended = sqlite3_extended_errcode(target->db);
    const mc_status status = mc_fail_sqlite(error, target->db, extended != SQLITE_OK ? extended : result,
                                            "import of \"%.80s\", row %" PRId64 ", byte %" PRId64, target->table, number, offset);
    if (error != NULL) {
        error->row = number;
        error->byte_offset = offset;
    }
    return status;
}

/// Runs a statement, whose parameters are the columns, for one row. Its result columns are ids of released large values.
static int run_for_row(mc_import_target *target, sqlite3_stmt *statement, const mc_row_batch *batch, size_t row)
{
    const mc_value *const cells = batch->cells + row * batch->column_count;
    int result = SQLITE_OK;
    for (size_t column = 0; column < batch->column_count && result == SQLITE_OK; column++)
        result = mc_import_bind(statement, (int)column + 1, &cells[column]);
    bool noted = true;
    while (result == SQLITE_OK && noted && sqlite3_step(statement) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement) && noted; column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
                noted = mc_large_columns_release(&target->large, sqlite3_column_int64(statement, column));
        }
    }
    const int reset = sqlite3_reset(statement);
    return result != SQLITE_OK ? result : noted ? reset : SQLITE_NOMEM;
}

/// Notes the large values that the row's original state releases.
static mc_status release_diverted(mc_import_target *target, const mc_value *cells, mc_error *error)
{
    int result = SQLITE_OK, step = SQLITE_DONE;
    bool noted = true;
    for (size_t key = 0; key < target->key_count && result == SQLITE_OK; key++)
        result = mc_import_bind(target->released, (int)target->key_columns[key] + 1, &cells[target->key_columns[key]]);
    while (result == SQLITE_OK && noted && (step = sqlite3_step(target->released)) == SQLITE_ROW)
        noted = mc_large_columns_release(&target->large, sqlite3_column_int64(target->released, 0));
    const int reset = sqlite3_reset(target->released);
    if (!noted)
        return mc_import_target_fail_memory(target, error);
    result = result == SQLITE_OK ? reset : result;
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, target->db, result, "import of \"%.80s\", its original states", target->table);
}

/// Marks the rows whose keys are pending, and writes them to the table of original states.
static mc_status divert_rows(mc_import_target *target, const mc_row_batch *batch, mc_import_counts *counts, mc_error *error)
{
    mc_status status = MC_OK;
    const mc_value *cells = batch->cells;
    for (size_t row = 0; row < batch->row_count; row++, cells += batch->column_count) {
        int result = mc_pending_keys_find(&target->pending, cells, &target->skipped[row]);
        if (result == SQLITE_NOMEM)
            return mc_import_target_fail_memory(target, error);
        if (result != SQLITE_OK)
            return fail_row(target, result, batch, row, error);
        if (!target->skipped[row])
            continue;
        if (target->released != NULL && (status = release_diverted(target, cells, error)) != MC_OK)
            return status;
        result = run_for_row(target, target->divert, batch, row);
        if (result != SQLITE_OK)
            return fail_row(target, result, batch, row, error);
        counts->diverted++;
        target->incoming.skipped = target->skipped;
    }
    return MC_OK;
}

/// Runs the statement for the rows from `first` to before `end`.
static mc_status write_rows(mc_import_target *target, const mc_row_batch *batch, size_t first, size_t end, mc_import_counts *counts,
                            mc_error *error)
{
    mc_incoming *const incoming = &target->incoming;
    incoming->batch = batch;
    incoming->row = first;
    incoming->end = end;
    incoming->updated = 0;
    (void)sqlite3_step(target->write);
    // Read before the reset, after which the step's changes are no longer counted.
    const int64_t changed = sqlite3_changes(target->db);
    if (target->row_by_row && changed == 0) {
        // A trigger or a constraint has ignored the row, an update of it maybe after it was counted.
        incoming->updated = 0;
        if (incoming->changes != NULL)
            incoming->changes[first] = MC_IMPORT_IGNORED;
    }
    const int result = sqlite3_reset(target->write);
    if (result != SQLITE_OK)
        return fail_row(target, result, batch, incoming->row < end ? incoming->row : end - 1, error);
    counts->updated += incoming->updated;
    counts->inserted += changed - incoming->updated;
    target->inserted += changed - incoming->updated;
    return MC_OK;
}

static mc_status write_batch(mc_import_target *target, const mc_row_batch *batch, mc_import_counts *counts, mc_error *error)
{
    if (!target->row_by_row)
        return write_rows(target, batch, 0, batch->row_count, counts, error);
    mc_status status = MC_OK;
    for (size_t row = 0; row < batch->row_count && status == MC_OK; row++) {
        if (target->incoming.skipped == NULL || !target->incoming.skipped[row])
            status = write_rows(target, batch, row, row + 1, counts, error);
    }
    return status;
}

static mc_status delete_batch(mc_import_target *target, const mc_row_batch *batch, mc_import_counts *counts, mc_error *error)
{
    for (size_t row = 0; row < batch->row_count; row++) {
        if (target->incoming.skipped != NULL && target->incoming.skipped[row])
            continue;
        const int64_t before = sqlite3_total_changes(target->db);
        const int result = run_for_row(target, target->write, batch, row);
        if (result != SQLITE_OK)
            return fail_row(target, result, batch, row, error);
        const bool existed = sqlite3_total_changes(target->db) != before;
        counts->deleted += existed;
        target->changes[row] = existed ? MC_IMPORT_DELETED : MC_IMPORT_IGNORED;
    }
    return MC_OK;
}

/// Makes room for the notes per row of a batch.
static bool make_room(mc_import_target *target, size_t row_count)
{
    if (row_count <= target->row_capacity)
        return true;
    uint8_t *const changes = mc_reallocate(target->changes, row_count, sizeof *changes);
    if (changes == NULL)
        return false;
    target->changes = changes;
    bool *const skipped = mc_reallocate(target->skipped, row_count, sizeof *skipped);
    if (skipped == NULL)
        return false;
    target->skipped = skipped;
    target->row_capacity = row_count;
    return true;
}

mc_status mc_import_target_write(mc_import_target *target, mc_row_batch *batch, bool observes, mc_import_counts *counts, mc_error *error)
{
    mc_status status = make_room(target, batch->row_count) ? MC_OK : mc_import_target_fail_memory(target, error);
    if (status == MC_OK && target->large.count > 0)
        status = mc_large_columns_store(&target->large, target->table, batch, error);
    target->incoming.skipped = NULL;
    target->incoming.changes = observes ? target->changes : NULL;
    if (status == MC_OK && observes)
        memset(target->changes, MC_IMPORT_INSERTED, batch->row_count);
    if (status == MC_OK && target->pending.set.count > 0)
        status = divert_rows(target, batch, counts, error);
    if (status == MC_OK)
        status = target->mode == MC_IMPORT_DELETE ? delete_batch(target, batch, counts, error) : write_batch(target, batch, counts, error);
    target->incoming.batch = NULL;
    if (status == MC_OK)
        status = mc_large_columns_drop(&target->large, error);
    if (status != MC_OK)
        return status;
    for (size_t row = 0; observes && target->incoming.skipped != NULL && row < batch->row_count; row++) {
        if (target->skipped[row])
            target->changes[row] = MC_IMPORT_DIVERTED;
    }
    counts->rows += (int64_t)batch->row_count;
    return MC_OK;
}
