#include "import/mc_pending_keys.h"

#include <string.h>

#include "base/mc_memory.h"

/// Integers below it, and whole doubles, are equal exactly if they are the same number: beyond it doubles stand for several integers.
static const int64_t EXACT_BELOW = INT64_C(1) << 53;

static bool is_exact(int64_t integer)
{
    return integer > -EXACT_BELOW && integer < EXACT_BELOW;
}

mc_status mc_pending_keys_open(mc_pending_keys *keys, sqlite3 *db, const mc_import_table *table, const size_t *key_columns,
                               size_t key_count, mc_error *error)
{
    keys->comparisons = mc_allocate_zeroed(key_count, sizeof *keys->comparisons);
    keys->columns = mc_allocate_zeroed(key_count, sizeof *keys->columns);
    keys->text.maximum = INT32_MAX;
    if (keys->comparisons == NULL || keys->columns == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its pending keys", table->table);
    keys->count = key_count;
    memcpy(keys->columns, key_columns, key_count * sizeof *key_columns);
    return mc_import_compare_keys(db, table, key_columns, key_count, keys->comparisons, error);
}

/// The value of a column. Texts are UTF-8 in any database, like those of the input.
static mc_value column_value(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return (mc_value){.value.integer = sqlite3_column_int64(statement, column), .kind = MC_VALUE_INTEGER};
    case SQLITE_FLOAT: return (mc_value){.value.real = sqlite3_column_double(statement, column), .kind = MC_VALUE_REAL};
    case SQLITE_NULL: return (mc_value){.kind = MC_VALUE_NULL};
    default: break;
    }
    const bool is_text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
    const void *const bytes = is_text ? (const void *)sqlite3_column_text(statement, column) : sqlite3_column_blob(statement, column);
    return (mc_value){
        .value.bytes = bytes,
        .length = bytes == NULL ? 0 : (uint32_t)sqlite3_column_bytes(statement, column),
        .kind = is_text ? MC_VALUE_TEXT : MC_VALUE_BLOB,
    };
}

/// Adds the key in the statement's current row; false without memory.
static bool add(mc_pending_keys *keys, sqlite3_stmt *rows)
{
    int64_t integer;
    mc_value value;
    for (int column = 0; column < (int)keys->count; column++) {
        const bool is_real = sqlite3_column_type(rows, column) == SQLITE_FLOAT;
        const double real = is_real ? sqlite3_column_double(rows, column) : 0;
        keys->comparisons[column].has_wide_reals |= !(real > -(double)EXACT_BELOW && real < (double)EXACT_BELOW);
    }
    value = column_value(rows, 0);
    if (value.kind == MC_VALUE_TEXT && value.value.bytes == NULL)
        return false;
    if (keys->count == 1 && mc_key_integer(&value, &integer))
        return mc_key_set_add(&keys->set, integer);
    keys->text.length = 0;
    for (int column = 0; column < (int)keys->count; column++) {
        value = column_value(rows, column);
        // Without memory for the conversion to UTF-8 SQLite returns no text.
        if ((value.kind == MC_VALUE_TEXT && value.value.bytes == NULL) || !mc_key_text_append(&keys->text, &value))
            return false;
    }
    return mc_key_set_add_text(&keys->set, keys->text.bytes, keys->text.length);
}

mc_status mc_pending_keys_read(mc_pending_keys *keys, sqlite3 *db, const mc_import_table *table, mc_error *error)
{
    sqlite3_stmt *rows = NULL;
    int step = SQLITE_DONE;
    mc_status status = mc_import_prepare_is_pending(db, table, keys->columns, keys->count, keys->comparisons, &keys->select, error);
    if (status == MC_OK)
        status = mc_import_prepare_keys(db, table, keys->columns, keys->count, &rows, error);
    while (status == MC_OK && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        if (!add(keys, rows))
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its pending keys", table->table);
    }
    if (status == MC_OK && step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\", pending keys of \"%.80s\"", table->table, table->pending->table);
    sqlite3_finalize(rows);
    return status;
}

/// Whether a key that is not in the set has no equal one in SQL.
static bool set_decides(const mc_key_comparison *comparison, const mc_value *value)
{
    int64_t integer;
    if (comparison->kind == MC_KEYS_OTHER)
        return false;
    switch (value->kind) {
    case MC_VALUE_INTEGER:
        // A column of texts stores the digits, the only ones of this number that it makes.
        return is_exact(value->value.integer) || comparison->kind == MC_KEYS_TEXTS
            || (comparison->kind != MC_KEYS_REALS && !comparison->has_wide_reals);
    case MC_VALUE_REAL:
        return comparison->kind != MC_KEYS_TEXTS && value->value.real > -(double)EXACT_BELOW && value->value.real < (double)EXACT_BELOW;
    case MC_VALUE_TEXT:
        if (comparison->kind == MC_KEYS_TEXTS || comparison->kind == MC_KEYS_AS_THEY_ARE)
            return true;
        return mc_key_integer(value, &integer) && is_exact(integer);
    default: return true;  // blobs and NULL are never converted
    }
}

/// Sets `*may_be` to false if the set shows that the key is not pending.
static int look_up(mc_pending_keys *keys, const mc_value *cells, bool *may_be)
{
    int64_t integer;
    *may_be = true;
    for (size_t key = 0; key < keys->count; key++) {
        if (!set_decides(&keys->comparisons[key], &cells[keys->columns[key]]))
            return SQLITE_OK;
    }
    if (keys->count == 1 && mc_key_integer(&cells[keys->columns[0]], &integer)) {
        *may_be = mc_key_set_contains(&keys->set, integer);
        return SQLITE_OK;
    }
    keys->text.length = 0;
    for (size_t key = 0; key < keys->count; key++) {
        if (!mc_key_text_append(&keys->text, &cells[keys->columns[key]]))
            return SQLITE_NOMEM;
    }
    *may_be = mc_key_set_contains_text(&keys->set, keys->text.bytes, keys->text.length);
    return SQLITE_OK;
}

int mc_pending_keys_find(mc_pending_keys *keys, const mc_value *cells, bool *is_pending)
{
    int result = look_up(keys, cells, is_pending);
    if (result != SQLITE_OK || !*is_pending)
        return result;
    for (size_t key = 0; key < keys->count && result == SQLITE_OK; key++)
        result = mc_import_bind(keys->select, (int)keys->columns[key] + 1, &cells[keys->columns[key]]);
    *is_pending = result == SQLITE_OK && sqlite3_step(keys->select) == SQLITE_ROW;
    const int reset = sqlite3_reset(keys->select);
    return result == SQLITE_OK ? reset : result;
}

int mc_pending_keys_renew(mc_pending_keys *keys)
{
    if (keys->select == NULL)
        return SQLITE_OK;
    (void)sqlite3_clear_bindings(keys->select);
    (void)sqlite3_step(keys->select);
    return sqlite3_reset(keys->select);
}

void mc_pending_keys_close(mc_pending_keys *keys)
{
    for (size_t key = 0; key < keys->count; key++)
        mc_free(keys->comparisons[key].collation);
    mc_free(keys->comparisons);
    mc_free(keys->columns);
    mc_key_set_free(&keys->set);
    mc_byte_buffer_free(&keys->text);
    sqlite3_finalize(keys->select);
}
