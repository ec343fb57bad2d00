#include "base/mc_commit_guard.h"

#include "base/mc_memory.h"

/// The pointer type under which the place for the result of `mc_commit_guard_find` is bound.
static const char POINTER[] = "mc_commit_guard";

typedef struct commits_table {
    sqlite3_vtab base;
    mc_commit_guard *commits;  // borrowed from the module
} commits_table;

static mc_commit_guard *commits_of(sqlite3_vtab *table)
{
    return ((commits_table *)(void *)table)->commits;
}

static int commits_connect(sqlite3 *db, void *context, int argument_count, const char *const *arguments, sqlite3_vtab **out, char **message)
{
    (void)argument_count;
    (void)arguments;
    (void)message;
    int result = sqlite3_declare_vtab(db, "CREATE TABLE x(answer HIDDEN)");
    if (result == SQLITE_OK)
        result = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (result != SQLITE_OK)
        return result;
    commits_table *const table = mc_allocate_zeroed(1, sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->commits = context;
    *out = &table->base;
    return SQLITE_OK;
}

static int commits_disconnect(sqlite3_vtab *table)
{
    mc_free(table);
    return SQLITE_OK;
}

static int commits_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
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

static int commits_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    *out = mc_allocate_zeroed(1, sizeof **out);
    return *out != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int commits_close(sqlite3_vtab_cursor *cursor)
{
    mc_free(cursor);
    return SQLITE_OK;
}

/// Stores the result of `mc_commit_guard_find`.
static int commits_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argument_count, sqlite3_value **arguments)
{
    (void)plan;
    (void)text;
    mc_commit_guard **const answer = argument_count > 0 ? sqlite3_value_pointer(arguments[0], POINTER) : NULL;
    if (answer != NULL)
        *answer = commits_of(cursor->pVtab);
    return SQLITE_OK;
}

// Never called: the table has no first row.
static int commits_next(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return SQLITE_OK;
}

static int commits_eof(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return 1;
}

static int commits_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    (void)cursor;
    (void)context;
    (void)column;
    return SQLITE_OK;
}

static int commits_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    (void)cursor;
    *rowid = 0;
    return SQLITE_OK;
}

/// Exists so that SQLite treats the table as one that is written to.
static int commits_update(sqlite3_vtab *table, int argument_count, sqlite3_value **arguments, sqlite3_int64 *rowid)
{
    (void)table;
    (void)argument_count;
    (void)arguments;
    (void)rowid;
    return SQLITE_READONLY;
}

static int commits_begin(sqlite3_vtab *table)
{
    (void)table;
    return SQLITE_OK;
}

static int commits_sync(sqlite3_vtab *table)
{
    mc_commit_guard *const commits = commits_of(table);
    if (commits->held == 0)
        return SQLITE_OK;
    commits->has_refused = true;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", MC_COMMIT_GUARD_REFUSAL);
    return SQLITE_BUSY;
}

static int commits_commit(sqlite3_vtab *table)
{
    (void)table;
    return SQLITE_OK;
}

static int commits_rollback(sqlite3_vtab *table)
{
    mc_commit_guard *const commits = commits_of(table);
    commits->held = 0;
    commits->rollbacks++;
    return SQLITE_OK;
}

static const sqlite3_module commits_module = {
    .iVersion = 1,
    .xConnect = commits_connect,
    .xBestIndex = commits_best_index,
    .xDisconnect = commits_disconnect,
    .xOpen = commits_open,
    .xClose = commits_close,
    .xFilter = commits_filter,
    .xNext = commits_next,
    .xEof = commits_eof,
    .xColumn = commits_column,
    .xRowid = commits_rowid,
    .xUpdate = commits_update,
    .xBegin = commits_begin,
    .xSync = commits_sync,
    .xCommit = commits_commit,
    .xRollback = commits_rollback,
};

static void free_commits(void *commits)
{
    mc_free(commits);
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
    mc_commit_guard *const commits = mc_allocate_zeroed(1, sizeof *commits);
    if (commits == NULL)
        return SQLITE_NOMEM;
    result = sqlite3_create_module_v2(db, "mc_commit_guard", &commits_module, commits, free_commits);  // frees them where it fails
    if (result == SQLITE_OK)
        *out = commits;
    return result;
}
