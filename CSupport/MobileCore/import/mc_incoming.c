#include "import/mc_incoming.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mc_memory.h"
#include "mc_import.h"

enum { SIZE_SMALLEST = 8 };

typedef struct incoming_table {
    sqlite3_vtab base;
    sqlite3 *db;   // borrowed
    int argument;  // the number of the hidden column that takes the pointer
} incoming_table;

typedef struct incoming_cursor {
    sqlite3_vtab_cursor base;
    mc_incoming *incoming;
    const mc_value *cells;  // of the current row
} incoming_cursor;

static int incoming_connect(sqlite3 *db, void *context, int argument_count, const char *const *arguments, sqlite3_vtab **out,
                            char **message)
{
    (void)argument_count;
    (void)arguments;
    (void)message;
    const int size = (int)(intptr_t)context;
    sqlite3_str *const declaration = sqlite3_str_new(db);
    sqlite3_str_appendall(declaration, "CREATE TABLE x(");
    for (int column = 0; column < size; column++)
        sqlite3_str_appendf(declaration, "c%d,", column);
    sqlite3_str_appendall(declaration, "incoming HIDDEN)");
    char *const sql = sqlite3_str_finish(declaration);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int result = sqlite3_declare_vtab(db, sql);
    sqlite3_free(sql);
    if (result == SQLITE_OK)
        result = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (result != SQLITE_OK)
        return result;
    incoming_table *const table = mc_allocate_zeroed(1, sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->db = db;
    table->argument = size;
    *out = &table->base;
    return SQLITE_OK;
}

static int incoming_disconnect(sqlite3_vtab *table)
{
    mc_free(table);
    return SQLITE_OK;
}

static int incoming_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    for (int index = 0; index < info->nConstraint; index++) {
        const struct sqlite3_index_constraint *const constraint = &info->aConstraint[index];
        if (constraint->iColumn != ((incoming_table *)table)->argument || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!constraint->usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[index].argvIndex = 1;
        info->aConstraintUsage[index].omit = 1;
        info->estimatedCost = 1;
        info->estimatedRows = 1000;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int incoming_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    incoming_cursor *const cursor = mc_allocate_zeroed(1, sizeof *cursor);
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int incoming_close(sqlite3_vtab_cursor *cursor)
{
    mc_free(cursor);
    return SQLITE_OK;
}

/// Advances to the first row from `incoming->row` on that is not skipped.
static void settle(incoming_cursor *cursor)
{
    mc_incoming *const incoming = cursor->incoming;
    while (incoming->skipped != NULL && incoming->row < incoming->end && incoming->skipped[incoming->row])
        incoming->row++;
    cursor->cells = incoming->batch->cells + incoming->row * incoming->batch->column_count;
}

static int incoming_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argument_count, sqlite3_value **arguments)
{
    (void)plan;
    (void)text;
    (void)argument_count;  // the pointer, which every plan has
    incoming_cursor *const cursor = (incoming_cursor *)base;
    cursor->incoming = sqlite3_value_pointer(arguments[0], MC_INCOMING_POINTER);
    if (cursor->incoming == NULL)
        return SQLITE_MISUSE;
    // An import works in a savepoint. Without one, SQLite has rolled it back, and repeats a statement that would commit by itself.
    if (sqlite3_get_autocommit(((incoming_table *)base->pVtab)->db) != 0)
        return SQLITE_ABORT_ROLLBACK;
    settle(cursor);
    return SQLITE_OK;
}

static int incoming_next(sqlite3_vtab_cursor *base)
{
    incoming_cursor *const cursor = (incoming_cursor *)base;
    cursor->incoming->row++;
    settle(cursor);
    return SQLITE_OK;
}

static int incoming_eof(sqlite3_vtab_cursor *base)
{
    const mc_incoming *const incoming = ((incoming_cursor *)base)->incoming;
    return incoming->row >= incoming->end;
}

/// Gives a value to SQLite without a copy: the batch outlives the statement's step.
static int incoming_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const incoming_cursor *const cursor = (const incoming_cursor *)base;
    if ((size_t)column >= cursor->incoming->batch->column_count)
        return SQLITE_OK;
    const mc_value *const cell = &cursor->cells[column];
    switch (cell->kind) {
    case MC_VALUE_INTEGER: sqlite3_result_int64(context, cell->value.integer); break;
    case MC_VALUE_REAL: sqlite3_result_double(context, cell->value.real); break;
    case MC_VALUE_TEXT: sqlite3_result_text(context, cell->value.bytes, (int)cell->length, SQLITE_STATIC); break;
    case MC_VALUE_BLOB: sqlite3_result_blob(context, cell->value.bytes, (int)cell->length, SQLITE_STATIC); break;
    default: break;
    }
    return SQLITE_OK;
}

static int incoming_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((incoming_cursor *)base)->incoming->row;
    return SQLITE_OK;
}

static const sqlite3_module incoming_module = {
    .iVersion = 0,
    .xConnect = incoming_connect,  // no xCreate: the table exists without CREATE, and cannot be created
    .xBestIndex = incoming_best_index,
    .xDisconnect = incoming_disconnect,
    .xOpen = incoming_open,
    .xClose = incoming_close,
    .xFilter = incoming_filter,
    .xNext = incoming_next,
    .xEof = incoming_eof,
    .xColumn = incoming_column,
    .xRowid = incoming_rowid,
};

static void count_updated(sqlite3_context *context, int argument_count, sqlite3_value **arguments)
{
    mc_incoming *const incoming = argument_count >= 1 ? sqlite3_value_pointer(arguments[0], MC_INCOMING_POINTER) : NULL;
    if (incoming == NULL) {
        sqlite3_result_error_code(context, SQLITE_MISUSE);
        return;
    }
    for (int index = 1; index < argument_count; index++) {
        const bool is_value = sqlite3_value_type(arguments[index]) == SQLITE_INTEGER;
        if (!is_value || mc_large_columns_release(incoming->large, sqlite3_value_int64(arguments[index])))
            continue;
        sqlite3_result_error_nomem(context);
        return;
    }
    incoming->updated++;
    // Next to triggers, SQLite reads all rows of a statement before it writes the first one: the cursor is at its end. There is one row
    // then.
    if (incoming->changes != NULL && incoming->end > 0)
        incoming->changes[incoming->row < incoming->end ? incoming->row : incoming->end - 1] = MC_IMPORT_UPDATED;
    sqlite3_result_int(context, 1);
}

/// Whether a statement can be prepared: the cheapest check that a connection has a function or a table.
static bool prepares(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    const bool known = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    return known;
}

int mc_incoming_register(sqlite3 *db, size_t column_count, size_t *size)
{
    char text[80];
    *size = SIZE_SMALLEST;
    while (*size < column_count)
        *size *= 2;
    if (*size > MC_INCOMING_COLUMNS_MAXIMUM)
        *size = MC_INCOMING_COLUMNS_MAXIMUM;
    int result = SQLITE_OK;
    if (!prepares(db, "SELECT mc_incoming_updated(NULL)"))
        result = sqlite3_create_function_v2(db, "mc_incoming_updated", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, count_updated, NULL, NULL,
                                            NULL);
    (void)snprintf(text, sizeof text, "SELECT c0 FROM mc_incoming_%zu(NULL)", *size);
    if (result != SQLITE_OK || prepares(db, text))
        return result;
    (void)snprintf(text, sizeof text, "mc_incoming_%zu", *size);
    return sqlite3_create_module_v2(db, text, &incoming_module, (void *)(intptr_t)*size, NULL);
}
