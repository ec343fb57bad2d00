/// mc_import_target.c: opens a table that an import writes to, keeps its statements up to date, closes it.
#include "import/mc_import_target.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_import_sql.h"
#include "import/mc_row_by_row.h"

mc_status mc_import_target_fail_memory(const mc_import_target *target, mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", target->table);
}

/// The number of the column of this name; `column_count` if there is none.
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
        return mc_import_target_fail_memory(target, error);
    for (size_t key = 0; key < target->key_count; key++) {
        target->key_columns[key] = table->keys != NULL ? find_column(table, table->keys[key]) : key;
        if (target->key_columns[key] == table->column_count)
            return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": its key \"%.80s\" is not among the columns", table->table,
                           table->keys[key]);
        if (table->columns[target->key_columns[key]].type >= MC_COLUMN_LARGE_TEXT)
            return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": the key \"%.80s\" is a large column", table->table,
                           table->columns[target->key_columns[key]].name);
    }
    return MC_OK;
}

mc_status mc_import_target_open(mc_import_target *target, sqlite3 *db, const mc_import_table *table, mc_connection *connection,
                                mc_error *error)
{
    target->db = db;
    target->mode = table->mode;
    target->column_count = table->column_count;
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

mc_status mc_import_target_prepare(mc_import_target *target, const mc_import_table *table, bool defers_indexes, mc_error *error)
{
    size_t size = 0;
    target->incoming.large = &target->large;
    // Where foreign keys are enforced, the children of replaced rows are found by indexes.
    target->defers_indexes = defers_indexes && target->mode != MC_IMPORT_DELETE && !mc_import_enforces_foreign_keys(target->db);
    const int result = mc_incoming_register(target->db, table->column_count, &size);
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, target->db, result, "import of \"%.80s\"", target->table);
    mc_status status = mc_import_runs_row_by_row(target->db, table, target->key_columns, target->key_count, &target->row_by_row, error);
    target->defers_indexes = target->defers_indexes && !target->row_by_row;
    if (status == MC_OK)
        status = mc_import_prepare_write(target->db, table, target->key_columns, target->key_count, size, &target->incoming, &target->write,
                                         error);
    if (status != MC_OK || table->pending == NULL)
        return status;
    status = mc_pending_keys_open(&target->pending, target->db, table, target->key_columns, target->key_count, error);
    const mc_key_comparison *const comparisons = target->pending.comparisons;
    if (status == MC_OK)
        status = mc_import_prepare_divert(target->db, table, target->key_columns, target->key_count, comparisons, &target->divert, error);
    if (status == MC_OK && target->large.count > 0)
        status = mc_import_prepare_released(target->db, table, target->key_columns, target->key_count, comparisons, &target->large,
                                            &target->released, error);
    return status == MC_OK ? mc_pending_keys_read(&target->pending, target->db, table, error) : status;
}

mc_status mc_import_target_take_part(mc_import_target *target, const mc_large_part *part, mc_error *error)
{
    return mc_large_columns_take(&target->large, target->table, part, error);
}

mc_status mc_import_target_defer_indexes(mc_import_target *target, bool *dropped, mc_error *error)
{
    if (!target->defers_indexes)
        return MC_OK;
    return mc_deferred_indexes_drop(&target->indexes, target->db, target->table, target->inserted, dropped, error);
}

/// Runs a statement of one row for a key that no row has.
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
    if (result == SQLITE_OK)
        result = mc_pending_keys_renew(&target->pending);
    return result == SQLITE_OK ? MC_OK
                               : mc_fail_sqlite(error, target->db, result, "import of \"%.80s\", after dropping indexes", target->table);
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
    mc_deferred_indexes_free(&target->indexes);
    mc_pending_keys_close(&target->pending);
    mc_free(target->changes);
    mc_free(target->skipped);
    mc_free(target->key_columns);
    mc_free(target->table);
}
