#include "base/mc_commit_guard.h"

#include "base/mc_memory.h"

/// The pointer type under which the place for the result of `mc_commit_guard_find` is bound.
static const char POINTER[] = "mc_commit_guard";

typedef struct guard_table {
    sqlite3_vtab base;
    mc_commit_guard *guard;  // borrowed from the module
} guard_table;

static mc_commit_guard *guard_of(sqlite3_vtab *table)
{
    return ((guard_table *)(void *)table)->guard;
}

static int guard_connect(sqlite3 *db, void *context, int argument_count, const char *const *arguments, sqlite3_vtab **out, char **message)
{
    (void)argument_count;
    (void)arguments;
    (void)message;
    int result = sqlite3_declare_vtab(db, "CREATE TABLE x(answer HIDDEN)");
    if (result == SQLITE_OK)
        result = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (result != SQLITE_OK)
        return result;
    guard_table *const table = mc_allocate_zeroed(1, sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->guard = context;
    *out = &table->base;
    return SQLITE_OK;
}

static int guard_disconnect(sqlite3_vtab *table)
{
    mc_free(table);
    return SQLITE_OK;
}

static int guard_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1;
    for (int index = 0; index < info->nConstraint; index++) {
        const struct sqlite3_index_constraint *const constraint = &info->aConstraint[index];
        if (constraint->iColumn == 0 && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ && constraint->usable) {
            info->aConstraintUsage[index].argvIndex = 1;
            info->aConstraintUsage[index].omit = 1;
            return SQLITE_OK;
        }
    }
    return SQLITE_OK;
}

static int guard_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    *out = mc_allocate_zeroed(1, sizeof **out);
    return *out != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int guard_close(sqlite3_vtab_cursor *cursor)
{
    mc_free(cursor);
    return SQLITE_OK;
}

/// Stores the result of `mc_commit_guard_find`.
static int guard_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argument_count, sqlite3_value **arguments)
{
    (void)plan;
    (void)text;
    mc_commit_guard **const answer = argument_count > 0 ? sqlite3_value_pointer(arguments[0], POINTER) : NULL;
    if (answer != NULL)
        *answer = guard_of(cursor->pVtab);
    return SQLITE_OK;
}

// Never called: the table has no first row.
static int guard_next(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return SQLITE_OK;
}

static int guard_eof(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return 1;
}

static int guard_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    (void)cursor;
    (void)context;
    (void)column;
    return SQLITE_OK;
}

static int guard_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    (void)cursor;
    *rowid = 0;
    return SQLITE_OK;
}

/// Exists so that SQLite treats the table as one that is written to.
static int guard_update(sqlite3_vtab *table, int argument_count, sqlite3_value **arguments, sqlite3_int64 *rowid)
{
    (void)table;
    (void)argument_count;
    (void)arguments;
    (void)rowid;
    return SQLITE_READONLY;
}

static int guard_begin(sqlite3_vtab *table)
{
    (void)table;
    return SQLITE_OK;
}

static int guard_sync(sqlite3_vtab *table)
{
    mc_commit_guard *const guard = guard_of(table);
    if (guard->held == 0)
        return SQLITE_OK;
    guard->has_refused = true;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", MC_COMMIT_GUARD_REFUSAL);
    return SQLITE_BUSY;
}

static int guard_commit(sqlite3_vtab *table)
{
    (void)table;
    return SQLITE_OK;
}

static int guard_rollback(sqlite3_vtab *table)
{
    mc_commit_guard *const guard = guard_of(table);
    guard->held = 0;
    guard->rollbacks++;
    return SQLITE_OK;
}

static const sqlite3_module guard_module = {
    .iVersion = 1,
    .xConnect = guard_connect,
    .xBestIndex = guard_best_index,
    .xDisconnect = guard_disconnect,
    .xOpen = guard_open,
    .xClose = guard_close,
    .xFilter = guard_filter,
    .xNext = guard_next,
    .xEof = guard_eof,
    .xColumn = guard_column,
    .xRowid = guard_rowid,
    .xUpdate = guard_update,
    .xBegin = guard_begin,
    .xSync = guard_sync,
    .xCommit = guard_commit,
    .xRollback = guard_rollback,
};

static void free_guard(void *guard)
{
    mc_free(guard);
}

int mc_commit_guard_find(sqlite3 *db, mc_commit_guard **out)
{
    sqlite3_stmt *question = NULL;
    *out = NULL;
    int result = sqlite3_prepare_v2(db, "SELECT 1 FROM mc_commit_guard(?1)", -1, &question, NULL);
    if (result == SQLITE_OK) {
        (void)sqlite3_bind_pointer(question, 1, out, POINTER, NULL);  // the text has the parameter
        (void)sqlite3_step(question);
        result = sqlite3_finalize(question);
        return result == SQLITE_OK && *out == NULL ? SQLITE_ERROR : result;
    }
    if (result != SQLITE_ERROR)  // no such table
        return result;
    mc_commit_guard *const guard = mc_allocate_zeroed(1, sizeof *guard);
    if (guard == NULL)
        return SQLITE_NOMEM;
    result = sqlite3_create_module_v2(db, "mc_commit_guard", &guard_module, guard, free_guard);  // frees it where it fails
    if (result == SQLITE_OK)
        *out = guard;
    return result;
}
