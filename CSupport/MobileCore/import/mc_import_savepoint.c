#include "import/mc_import_savepoint.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mc_transaction_control.h"

enum { SAVEPOINT, RELEASE, UNDO, ROLLBACK, JOIN, COMMIT, BEGIN };

static int prepare(mc_import_savepoint *savepoint, int which)
{
    static const char *const verbs[MC_IMPORT_SAVEPOINT_STATEMENTS] = {
        "SAVEPOINT", "RELEASE", "ROLLBACK TO", "ROLLBACK", MC_COMMIT_GUARD_JOIN, "COMMIT", "BEGIN IMMEDIATE",
    };
    char sql[64];
    if (which <= UNDO)
        (void)snprintf(sql, sizeof sql, "%s mc_import_%" PRIxPTR, verbs[which], (uintptr_t)savepoint);  // a unique name
    else
        (void)snprintf(sql, sizeof sql, "%s", verbs[which]);
    return mc_transaction_control_prepare(savepoint->db, sql, &savepoint->statements[which]);
}

/// Runs a statement that was prepared at the savepoint's beginning.
static int run_end(const mc_import_savepoint *savepoint, int which)
{
    return mc_transaction_control_end(savepoint->db, savepoint->statements[which]);
}

/// Refuses all commits from here on.
static int hold_commits(mc_import_savepoint *savepoint)
{
    const int code = mc_transaction_control_run(savepoint->statements[JOIN]);
    if (code != SQLITE_OK)
        return code;
    savepoint->guard->held++;
    savepoint->holds_commits = true;
    savepoint->rollbacks = savepoint->guard->rollbacks;
    return SQLITE_OK;
}

static void let_commit(mc_import_savepoint *savepoint)
{
    if (savepoint->holds_commits && savepoint->rollbacks == savepoint->guard->rollbacks)
        savepoint->guard->held--;
    savepoint->holds_commits = false;
}

int mc_import_savepoint_begin(mc_import_savepoint *savepoint)
{
    int code = savepoint->guard == NULL ? mc_commit_guard_find(savepoint->db, &savepoint->guard) : SQLITE_OK;
    for (int which = SAVEPOINT; which <= JOIN && code == SQLITE_OK; which++)
        code = prepare(savepoint, which);
    if (code == SQLITE_OK)
        code = mc_transaction_control_run(savepoint->statements[SAVEPOINT]);
    if (code != SQLITE_OK)
        return code;
    savepoint->has_begun = true;
    savepoint->rollbacks = savepoint->guard->rollbacks;
    return hold_commits(savepoint);
}

/// Reports a commit, if the last statement was one.
static void report_commit(const mc_import_savepoint *savepoint)
{
    if (savepoint->guard->committed != NULL && sqlite3_get_autocommit(savepoint->db) != 0)
        savepoint->guard->committed(savepoint->guard->context);
}

/// The release of the outermost savepoint is a commit. It is reported at once: a later transaction that is rolled back would take the
/// record of its changes along.
int mc_import_savepoint_release(mc_import_savepoint *savepoint)
{
    let_commit(savepoint);
    const int code = run_end(savepoint, RELEASE);
    savepoint->has_begun = code != SQLITE_OK;
    if (code == SQLITE_OK)
        report_commit(savepoint);
    return code;
}

static void roll_back_all(const mc_import_savepoint *savepoint)
{
    if (sqlite3_get_autocommit(savepoint->db) == 0)
        (void)run_end(savepoint, ROLLBACK);
}

bool mc_import_savepoint_is_shared(const mc_import_savepoint *savepoint)
{
    return savepoint->guard->held > 1;
}

int mc_import_savepoint_commit(mc_import_savepoint *savepoint, bool *committed)
{
    *committed = false;
    int code = prepare(savepoint, COMMIT);
    if (code == SQLITE_OK)
        code = prepare(savepoint, BEGIN);
    if (code == SQLITE_OK)
        code = mc_import_savepoint_release(savepoint);
    if (code != SQLITE_OK)
        return code;
    const bool is_inner = sqlite3_get_autocommit(savepoint->db) == 0;
    if (is_inner && (code = run_end(savepoint, COMMIT)) != SQLITE_OK) {
        roll_back_all(savepoint);
        return code;
    }
    *committed = true;
    if (is_inner) {
        report_commit(savepoint);
        code = mc_transaction_control_run(savepoint->statements[BEGIN]);
    }
    return code == SQLITE_OK ? mc_import_savepoint_begin(savepoint) : code;
}

void mc_import_savepoint_undo(mc_import_savepoint *savepoint)
{
    const bool is_there = savepoint->has_begun && !mc_import_savepoint_is_lost(savepoint);
    let_commit(savepoint);
    savepoint->has_begun = false;
    if (is_there && (run_end(savepoint, UNDO) != SQLITE_OK || run_end(savepoint, RELEASE) != SQLITE_OK))
        roll_back_all(savepoint);
}

bool mc_import_savepoint_is_lost(const mc_import_savepoint *savepoint)
{
    return sqlite3_get_autocommit(savepoint->db) != 0 || savepoint->rollbacks != savepoint->guard->rollbacks;
}

void mc_import_savepoint_close(mc_import_savepoint *savepoint)
{
    for (int which = 0; which < MC_IMPORT_SAVEPOINT_STATEMENTS; which++)
        (void)sqlite3_finalize(savepoint->statements[which]);
}
