/// cw_storage.c: files that fail below the core, and power cuts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks/cw_compare.h"
#include "running/cw_run.h"

bool cw_step_storage(cw_run *run, const char *line)
{
    char code[CW_NAME];
    if (!cw_is(line, "fail"))
        return false;
    (void)cw_setting(line, "code", code, sizeof code);
    run->fails_with = strcmp(code, "full") == 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    run->fails_after = cw_number(line, "after", 0);
    run->fails_for_good = cw_number(line, "stays", 0) != 0;
    return true;
}

// ---- Faults
// -----------------------------------------------------------------------------------------------------------

static bool copy_database(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *const backup = sqlite3_backup_init(to, "main", from, "main");
    if (backup == NULL)
        return false;
    (void)sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup) == SQLITE_OK;
}

void cw_storage_begin_fault(cw_run *run)
{
    if (run->storage == NULL || run->records || run->fails_after < 0 || run->saved == NULL)
        return;
    fault_storage_fail_after(run->storage, run->fails_after, run->fails_with, run->fails_for_good);
    run->is_faulty = true;
    run->has_failed = false;
}

void cw_storage_end_fault(cw_run *run)
{
    int64_t changes = 0;
    if (!run->is_faulty)
        return;
    const bool has_failed = fault_storage_has_failed(run->storage);
    // A step may fail for a reason of its own, and its undoing because of the file: SQLite then rolls back the
    // transaction.
    run->has_failed = run->has_failed
        || (has_failed && run->writer != NULL && run->level > 0
            && sqlite3_get_autocommit(mc_connection_sqlite(run->writer)) != 0);
    // The transaction is rolled back with the fault still on: SQLite needs no file for that.
    if (run->has_failed && run->writer != NULL) {
        mc_connection_rollback(run->writer);
        run->level = 0;
        mc_pool_return(run->pool, run->writer);
        run->writer = NULL;
    }
    fault_storage_fail_after(run->storage, -1, SQLITE_OK, false);
    run->is_faulty = false;
    run->fails_after = -1;
    if (has_failed)
        cw_meet(run, CW_FILE_FAILURE);
    if (!run->has_failed)
        return;
    if (sqlite3_get_autocommit(run->reference) == 0)
        (void)cw_reference_exec(run, "ROLLBACK", strlen("ROLLBACK"), &changes);
    if (!copy_database(run->saved, run->reference))
        cw_fail(run, "world", "the reference cannot be restored: %s", sqlite3_errmsg(run->reference));
    cw_large_level_ended(run, 1, true);
}

void cw_storage_committed(cw_run *run)
{
    // With a fault on, the step may yet turn out to have failed.
    if (run->storage == NULL || run->is_faulty || run->kind != NULL || sqlite3_get_autocommit(run->reference) == 0)
        return;
    if (!run->records) {
        if (run->saved == NULL)
            (void)sqlite3_open(":memory:", &run->saved);
        if (run->saved == NULL || !copy_database(run->reference, run->saved))
            cw_fail(run, "world", "the reference cannot be copied: %s", sqlite3_errmsg(run->reference));
        return;
    }
    if (run->commit_count == 0)
        run->commits[run->commit_count++] = CW_DIGEST;
    if (run->commit_count == CW_COMMITS_MOST)
        return;
    run->commits[run->commit_count] = cw_database_digest(run, run->reference, false);
    fault_storage_mark(run->storage, run->commit_count++);
}

// ---- Power cuts
// -------------------------------------------------------------------------------------------------------

static void clear_folder(const char *folder)
{
    static const char *const names[] = {"world.db", "world.db-wal", "world.db-shm", "world.db-journal",
                                        "world.db-lease"};
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        cw_text path = {0};
        cw_add(&path, "%s/%s", folder, names[index]);
        (void)unlink(path.bytes);
        cw_text_free(&path);
    }
}

static bool is_sound(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    const bool has_result = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW;
    const char *const result = has_result ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const bool sound = result != NULL && strcmp(result, "ok") == 0;
    (void)sqlite3_finalize(statement);
    return sound;
}

/// Checks what a cut has left: the last acknowledged commit, or the one that was on its way.
static void check_remains(cw_run *run, const char *folder, int64_t mark, int64_t change)
{
    cw_text path = {0};
    sqlite3 *db = NULL;
    cw_add(&path, "%s/world.db", folder);
    if (sqlite3_open(path.bytes, &db) != SQLITE_OK || !is_sound(db)) {
        cw_fail(run, "power cut", "after change %lld: the database is damaged", (long long)change);
    } else {
        const uint64_t digest = cw_database_digest(run, db, true);
        const int64_t next = mark + 1 < run->commit_count ? mark + 1 : mark;
        // Before the first acknowledged commit the file may have anything that making it has gone through.
        if (mark > 0 && digest != run->commits[mark] && digest != run->commits[next]) {
            int64_t commit = 0;
            while (commit < run->commit_count && run->commits[commit] != digest)
                commit++;
            if (commit < run->commit_count)
                cw_fail(run, "power cut", "after change %lld: commit %lld is there, %lld was acknowledged",
                        (long long)change, (long long)commit, (long long)mark);
            else
                cw_fail(run, "power cut", "after change %lld and commit %lld: the rows are those of no commit",
                        (long long)change, (long long)mark);
        }
    }
    (void)sqlite3_close(db);
    cw_text_free(&path);
}

void cw_storage_end(cw_run *run)
{
    enum { CUTS = 8 };
    if (run->storage == NULL || !run->records || run->commit_count == 0)
        return;
    char *const folder = cw_path(run, "remains");
    fault_replay *const replay = fault_replay_create(run->storage);
    const int64_t changes = fault_storage_recorded(run->storage);
    const int64_t distance = changes / CUTS + 1;
    (void)mkdir(folder, 0700);
    int64_t change = 0;
    while (replay != NULL && run->kind == NULL && fault_replay_step(replay)) {
        change++;
        // Not always at the same place of a transaction.
        if ((change + (int64_t)(run->program->seed % 7)) % distance != 0)
            continue;
        clear_folder(folder);
        if (fault_replay_write(replay, run->program->seed * 31 + (uint64_t)change, folder))
            check_remains(run, folder, fault_replay_mark(replay), change);
        cw_meet(run, CW_POWER_CUT);
    }
    clear_folder(folder);
    (void)rmdir(folder);
    fault_replay_free(replay);
    free(folder);
}
