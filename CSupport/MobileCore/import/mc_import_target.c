#include "import/mc_import_target.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_import_sql.h"

static mc_status fail_memory(const mc_import_target *target, mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", target->table);
}

/// The number of the column of this name; `column_count` where there is none.
static size_t find_column(const mc_import_table *table, const char *name)
{
    size_t column = 0;
    while (column < table->column_count && strcmp(table->columns[column].name, name) != 0)
        column++;
    return column;
}

/// Finds the keys among the columns.
static mc_status find_keys(mc_import_target *target, const mc_import_table *table, mc_error *error)
{
    const bool deletes = table->mode == MC_IMPORT_DELETE;
    target->key_count = table->keys != NULL ? table->key_count : deletes ? table->column_count : 1;
    if (target->key_count < 1 || target->key_count > table->column_count)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": a key of %zu of %zu columns", table->table, target->key_count,
                       table->column_count);
    if (deletes && target->key_count != table->column_count)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": deletion takes the key alone, not %zu columns", table->table,
                       table->column_count);
    target->key_columns = mc_allocate_zeroed(target->key_count, sizeof *target->key_columns);
    if (target->key_columns == NULL)
        return fail_memory(target, error);
    for (size_t key = 0; key < target->key_count; key++) {
        target->key_columns[key] = table->keys != NULL ? find_column(table, table->keys[key]) : key;
        if (target->key_columns[key] == table->column_count)
            return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": its key \"%.80s\" is not among the columns", table->table,
                           table->keys[key]);
        if (table->columns[target->key_columns[key]].type >= MC_COLUMN_LARGE_TEXT)
            return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": the key \"%.80s\" is a large column", table->table,
                           table->columns[target->key_columns[key]].name);
    }
    target->first_key = mc_copy_text(table->columns[target->key_columns[0]].name);
    return target->first_key != NULL ? MC_OK : fail_memory(target, error);
}

mc_status mc_import_target_open(mc_import_target *target, sqlite3 *db, const mc_import_table *table, mc_connection *connection,
                                mc_error *error)
{
    target->db = db;
    target->mode = table->mode;
    target->column_count = table->column_count;
    target->key_text.maximum = INT32_MAX;
    if ((unsigned)table->mode > MC_IMPORT_DELETE || table->column_count < 1)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": there is no mode %d, or there are no columns", table->table,
                       (int)table->mode);
    if (table->column_count > MC_INCOMING_COLUMNS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": %zu columns; %d is the most", table->table, table->column_count,
                       MC_INCOMING_COLUMNS_MAXIMUM);
    if (table->mode == MC_IMPORT_DELETE && table->on_insert_count > 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": deletion inserts nothing", table->table);
    if (table->mode != MC_IMPORT_DELETE && table->large_count > 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": large columns are named for deletions only", table->table);
    mc_status status = mc_import_check_assignments(table, error);
    if (status != MC_OK)
        return status;
    target->table = mc_copy_text(table->table);
    if (target->table == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", table->table);
    status = find_keys(target, table, error);
    return status == MC_OK ? mc_large_columns_open(&target->large, connection, table, error) : status;
}

static mc_value column_value(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return (mc_value){.value.integer = sqlite3_column_int64(statement, column), .kind = MC_VALUE_INTEGER};
    case SQLITE_FLOAT: return (mc_value){.value.real = sqlite3_column_double(statement, column), .kind = MC_VALUE_REAL};
    case SQLITE_NULL: return (mc_value){.kind = MC_VALUE_NULL};
    default: break;
    }
    const bool text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
    const char *const bytes = sqlite3_column_blob(statement, column);
    return (mc_value){
        .value.bytes = bytes,
        .length = (uint32_t)sqlite3_column_bytes(statement, column),
        .kind = text ? MC_VALUE_TEXT : MC_VALUE_BLOB,
    };
}

/// Adds the key that a row of the statement is.
static mc_status add_pending(mc_import_target *target, sqlite3_stmt *keys, mc_error *error)
{
    int64_t integer;
    mc_value value = column_value(keys, 0);
    if (target->key_count == 1 && mc_key_integer(&value, &integer))
        return mc_key_set_add(&target->pending, integer) ? MC_OK : fail_memory(target, error);
    target->key_text.length = 0;
    bool added = true;
    for (int column = 0; column < (int)target->key_count && added; column++) {
        value = column_value(keys, column);
        added = mc_key_text_append(&target->key_text, &value);
    }
    added = added && mc_key_set_add_text(&target->pending, target->key_text.bytes, target->key_text.length);
    return added ? MC_OK : fail_memory(target, error);
}

/// Reads the keys of the rows whose versions are diverted.
static mc_status load_pending(mc_import_target *target, const mc_import_table *table, mc_error *error)
{
    sqlite3_stmt *keys = NULL;
    mc_status status = mc_import_prepare_keys(target->db, table, target->key_columns, target->key_count, &keys, error);
    int step = SQLITE_DONE;
    while (status == MC_OK && (step = sqlite3_step(keys)) == SQLITE_ROW)
        status = add_pending(target, keys, error);
    if (status == MC_OK && step != SQLITE_DONE)
        status =
            mc_fail_sqlite(error, target->db, step, "import of \"%.80s\", pending keys of \"%.80s\"", target->table, table->pending->table);
    sqlite3_finalize(keys);
    return status;
}

/// With them, rows that leave a table for a while would take their children along, and indexes are needed to find these.
static bool enforces_foreign_keys(sqlite3 *db)
{
    int enforces = 0;
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &enforces);
    return enforces != 0;
}

mc_status mc_import_target_prepare(mc_import_target *target, const mc_import_table *table, bool takes_apart, mc_error *error)
{
    size_t size = 0;
    target->incoming.large = &target->large;
    target->takes_apart = takes_apart && target->mode != MC_IMPORT_DELETE && !enforces_foreign_keys(target->db);
    const int result = mc_incoming_register(target->db, table->column_count, &size);
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, target->db, result, "import of \"%.80s\"", target->table);
    mc_status status = mc_import_has_triggers(target->db, target->table, &target->row_by_row, error);
    target->takes_apart = target->takes_apart && !target->row_by_row;
    if (status == MC_OK)
        status = mc_import_prepare_write(target->db, table, target->key_columns, target->key_count, size, &target->incoming, &target->write,
                                         error);
    if (status != MC_OK || table->pending == NULL)
        return status;
    status = mc_import_prepare_divert(target->db, table, target->key_columns, target->key_count, &target->divert, error);
    if (status == MC_OK && target->large.count > 0)
        status =
            mc_import_prepare_released(target->db, table, target->key_columns, target->key_count, &target->large, &target->released, error);
    if (status == MC_OK)
        status = load_pending(target, table, error);
    return status;
}

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

/// Runs a statement for one row, whose parameters are the columns. What it returns are ids of large values that go.
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

/// Whether the row's key is pending. `*status` is set where that cannot be told.
static bool is_pending(mc_import_target *target, const mc_value *cells, mc_status *status, mc_error *error)
{
    int64_t integer;
    if (target->key_count == 1 && mc_key_integer(&cells[target->key_columns[0]], &integer))
        return mc_key_set_contains(&target->pending, integer);
    target->key_text.length = 0;
    for (size_t key = 0; key < target->key_count; key++) {
        if (mc_key_text_append(&target->key_text, &cells[target->key_columns[key]]))
            continue;
        *status = fail_memory(target, error);
        return false;
    }
    return mc_key_set_contains_text(&target->pending, target->key_text.bytes, target->key_text.length);
}

/// Notes the large values that the row's original state lets go of.
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
        return fail_memory(target, error);
    result = result == SQLITE_OK ? reset : result;
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, target->db, result, "import of \"%.80s\", its original states", target->table);
}

/// Marks the rows whose keys are pending, and writes them where they belong.
static mc_status divert_rows(mc_import_target *target, const mc_row_batch *batch, mc_import_counts *counts, mc_error *error)
{
    mc_status status = MC_OK;
    const mc_value *cells = batch->cells;
    for (size_t row = 0; row < batch->row_count; row++, cells += batch->column_count) {
        target->skipped[row] = is_pending(target, cells, &status, error);
        if (status != MC_OK)
            return status;
        if (!target->skipped[row])
            continue;
        if (target->released != NULL && (status = release_diverted(target, cells, error)) != MC_OK)
            return status;
        const int64_t before = sqlite3_total_changes(target->db);
        const int result = run_for_row(target, target->divert, batch, row);
        if (result != SQLITE_OK)
            return fail_row(target, result, batch, row, error);
        // A key that is only similar, "5" beside 5, has no row there: it is not pending.
        target->skipped[row] = sqlite3_total_changes(target->db) != before;
        if (!target->skipped[row])
            continue;
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
    // A step that is done leaves no changes of its own to count after the reset.
    const int64_t changed = sqlite3_changes(target->db);
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

/// Makes room for what is noted per row of a batch.
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

static mc_status set_aside(mc_import_target *target, mc_error *error)
{
    // Rows with large values stay: they are looked at to tell whether a value is still in use.
    if (!target->takes_apart || target->key_count != 1 || target->large.count > 0)
        return MC_OK;
    return mc_set_aside_take(&target->aside, target->db, target->table, target->first_key, &target->pending, target->inserted, error);
}

mc_status mc_import_target_take_part(mc_import_target *target, const mc_large_part *part, mc_error *error)
{
    return mc_large_columns_take(&target->large, target->table, part, error);
}

mc_status mc_import_target_write(mc_import_target *target, mc_row_batch *batch, bool observes, mc_import_counts *counts, mc_error *error)
{
    mc_status status = make_room(target, batch->row_count) ? MC_OK : fail_memory(target, error);
    if (status == MC_OK && target->large.count > 0)
        status = mc_large_columns_store(&target->large, target->table, batch, error);
    if (status == MC_OK)
        status = set_aside(target, error);
    target->incoming.skipped = NULL;
    target->incoming.changes = observes ? target->changes : NULL;
    if (status == MC_OK && observes)
        memset(target->changes, MC_IMPORT_INSERTED, batch->row_count);
    if (status == MC_OK && target->pending.count > 0)
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

mc_status mc_import_target_defer_indexes(mc_import_target *target, bool *dropped, mc_error *error)
{
    if (!target->takes_apart)
        return MC_OK;
    return mc_deferred_indexes_drop(&target->indexes, target->db, target->table, target->inserted, dropped, error);
}

/// Runs a statement of one row for a key that is nowhere.
static int run_for_none(mc_import_target *target, sqlite3_stmt *statement)
{
    int result = SQLITE_OK;
    for (size_t key = 0; key < target->key_count && result == SQLITE_OK; key++)
        result = sqlite3_bind_null(statement, (int)target->key_columns[key] + 1);
    (void)sqlite3_step(statement);
    const int reset = sqlite3_reset(statement);
    return result == SQLITE_OK ? reset : result;
}

static int run_for_no_batch(mc_import_target *target)
{
    static const mc_value no_cell;
    static const mc_row_batch none = {.cells = &no_cell};
    target->incoming.batch = &none;
    target->incoming.row = target->incoming.end = 0;
    (void)sqlite3_step(target->write);
    target->incoming.batch = NULL;
    return sqlite3_reset(target->write);
}

mc_status mc_import_target_renew(mc_import_target *target, mc_error *error)
{
    int result = target->mode == MC_IMPORT_DELETE ? run_for_none(target, target->write) : run_for_no_batch(target);
    if (result == SQLITE_OK && target->divert != NULL)
        result = run_for_none(target, target->divert);
    if (result == SQLITE_OK && target->released != NULL)
        result = run_for_none(target, target->released);
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, target->db, result, "import of \"%.80s\", behind its indexes", target->table);
}

mc_status mc_import_target_put_back(mc_import_target *target, mc_error *error)
{
    return mc_set_aside_put_back(&target->aside, target->db, target->table, error);
}

mc_status mc_import_target_make_indexes(mc_import_target *target, mc_error *error)
{
    return mc_deferred_indexes_make(&target->indexes, target->db, target->table, error);
}

void mc_import_target_close(mc_import_target *target)
{
    sqlite3_finalize(target->write);
    sqlite3_finalize(target->divert);
    sqlite3_finalize(target->released);
    mc_large_columns_close(&target->large);
    mc_set_aside_free(&target->aside);
    mc_deferred_indexes_free(&target->indexes);
    mc_key_set_free(&target->pending);
    mc_byte_buffer_free(&target->key_text);
    mc_free(target->changes);
    mc_free(target->skipped);
    mc_free(target->key_columns);
    mc_free(target->first_key);
    mc_free(target->table);
}
