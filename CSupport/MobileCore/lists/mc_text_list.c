/// mc_text_list.c: lists of texts as SQLite reads them, a table without storage.
#include "mc_text_list.h"

#include <stdbool.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "lists/mc_text_list_register.h"

/// The columns of the table, in the order of its declaration. The hidden one is the argument of the function.
enum { COLUMN_NUMBER, COLUMN_TEXT, COLUMN_LIST };

/// The name that SQLite keeps with a pointer, so that a statement cannot pass another one.
static const char list_type[] = "mc_text_list";

typedef struct list_cursor {
    sqlite3_vtab_cursor base;
    const mc_text_list *list;
    size_t row;
} list_cursor;

static int fail(sqlite3_vtab *table, const char *message)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", message);
    return table->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    (void)context, (void)argc, (void)argv, (void)message;
    *out = NULL;
    int code = sqlite3_declare_vtab(db, "CREATE TABLE list (number INTEGER, text TEXT, list HIDDEN)");
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK)
        return code;
    *out = mc_allocate_zeroed(1, sizeof **out);
    return *out != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int disconnect(sqlite3_vtab *table)
{
    mc_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    bool has_list = false;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraint[i].iColumn != COLUMN_LIST || plan->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        has_list = true;
        if (plan->aConstraint[i].usable == 0)
            continue;
        plan->aConstraintUsage[i].argvIndex = 1;
        plan->aConstraintUsage[i].omit = 1;
        // The length is known when the statement runs; a list is worth one if it is long.
        plan->estimatedRows = 10000;
        plan->estimatedCost = 10000;
        return SQLITE_OK;
    }
    return has_list ? SQLITE_CONSTRAINT : fail(table, "mc_text_list needs a list");
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    list_cursor *const cursor = mc_allocate_zeroed(1, sizeof *cursor);
    *out = cursor != NULL ? &cursor->base : NULL;
    return cursor != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    mc_free(base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *name, int argc, sqlite3_value **argv)
{
    (void)number, (void)name;
    list_cursor *const cursor = (list_cursor *)base;
    cursor->list = argc == 1 ? sqlite3_value_pointer(argv[0], list_type) : NULL;
    cursor->row = 0;
    return cursor->list != NULL ? SQLITE_OK : fail(base->pVtab, "mc_text_list needs a list");
}

static int next(sqlite3_vtab_cursor *base)
{
    ((list_cursor *)base)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const list_cursor *const cursor = (const list_cursor *)base;
    return cursor->row >= cursor->list->count;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const list_cursor *const cursor = (const list_cursor *)base;
    const mc_text_list *const list = cursor->list;
    if (column == COLUMN_NUMBER) {
        if (list->numbers != NULL)
            sqlite3_result_int64(context, list->numbers[cursor->row]);
    } else if (column == COLUMN_TEXT) {
        const mc_text_place place = list->places[cursor->row];
        if (place.start > place.end || place.end > list->length)
            return fail(base->pVtab, "a text of mc_text_list is outside of its bytes");
        const char *const bytes = place.start == place.end ? "" : list->bytes + place.start;
        sqlite3_result_text64(context, bytes, place.end - place.start, SQLITE_STATIC, SQLITE_UTF8);
    }
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((const list_cursor *)base)->row;
    return SQLITE_OK;
}

/// Without `xCreate` the table is there under its name, and only so.
static const sqlite3_module list_module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = give_column,
    .xRowid = give_rowid,
};

mc_status mc_text_list_bind(const mc_text_list *list, sqlite3_stmt *statement, int index, mc_error *error)
{
    // The table only reads it.
    const int code = sqlite3_bind_pointer(statement, index, (void *)list, list_type, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, sqlite3_db_handle(statement), code, "bind a list as parameter %d", index);
}

mc_status mc_text_list_register(sqlite3 *db, mc_error *error)
{
    const int code = sqlite3_create_module_v2(db, "mc_text_list", &list_module, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register lists of texts");
}
