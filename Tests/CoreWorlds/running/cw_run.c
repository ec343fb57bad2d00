/// cw_run.c: the life of a run: opening, its steps, the end.
#include "running/cw_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks/cw_compare.h"

void cw_fail(cw_run *run, const char *kind, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (run->kind != NULL)
        return;
    run->kind = kind;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cw_add(&run->failure, "step %zu: %s", run->step, text);
}

void cw_meet(cw_run *run, cw_feature feature)
{
    if (feature < CW_FEATURES)
        run->met |= UINT64_C(1) << feature;
}

char *cw_path(const cw_run *run, const char *name)
{
    cw_text path = {0};
    cw_add(&path, "%s/%s", run->folder, name);
    return path.bytes;
}

char *cw_expand(const cw_run *run, const char *text, bool for_reference)
{
    static const char mark[] = "{dir}";
    cw_text expanded = {0};
    for (const char *found = NULL; (found = strstr(text, mark)) != NULL; text = found + sizeof mark - 1) {
        cw_add_bytes(&expanded, text, (size_t)(found - text));
        cw_add(&expanded, "%s%s", run->folder, for_reference ? "/reference" : "");
    }
    cw_add(&expanded, "%s", text);
    return expanded.bytes;
}

// ---- Connections
// ------------------------------------------------------------------------------------------------------

mc_connection *cw_writer(cw_run *run)
{
    mc_error error;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .label = "world"};
    if (run->writer != NULL)
        return run->writer;
    if (run->lent == NULL && mc_pool_checkout(run->pool, &checkout, &run->lent, &error) != MC_OK)
        cw_fail(run, "status", "the writer: %s", error.message);
    return run->lent;
}

void cw_return_writer(cw_run *run)
{
    if (run->lent != NULL)
        mc_pool_return(run->pool, run->lent);
    run->lent = NULL;
}

mc_connection *cw_connection(cw_run *run, const char *on, mc_connection **taken)
{
    mc_error error;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = false};
    *taken = NULL;
    if (strcmp(on, "snapshot") == 0 && run->snapshot != NULL)
        return run->snapshot;
    if (strcmp(on, "writer") == 0)
        return cw_writer(run);
    if (mc_pool_checkout(run->pool, &checkout, taken, &error) != MC_OK)
        cw_fail(run, "status", "a reader: %s", error.message);
    return *taken;
}

// ---- Opening and closing
// ----------------------------------------------------------------------------------------------

/// The value of an option line, or `missing`.
static void option(const cw_program *program, const char *name, const char *missing, char *value, size_t size)
{
    (void)snprintf(value, size, "%s", missing);
    for (size_t index = 0; index < program->count; index++) {
        const char *const line = program->lines[index].text;
        char found[CW_NAME];
        if (program->lines[index].is_kept && cw_is(line, "option") && cw_setting(line, name, found, sizeof found))
            (void)snprintf(value, size, "%s", found);
    }
}

static int64_t option_number(const cw_program *program, const char *name, int64_t missing)
{
    char value[CW_NAME];
    option(program, name, "", value, sizeof value);
    return value[0] != '\0' ? strtoll(value, NULL, 10) : missing;
}

static void open_storage(cw_run *run)
{
    char storage[CW_NAME];
    option(run->program, "storage", "", storage, sizeof storage);
    if (storage[0] == '\0')
        return;
    run->storage = fault_storage_create(NULL);
    if (run->storage == NULL)
        return;
    run->records = strcmp(storage, "record") == 0;
    if (run->records)
        fault_storage_record(run->storage, true);
}

/// Makes a database in UTF-16: the encoding is chosen before the first table, by another connection.
static void choose_encoding(cw_run *run, const char *path)
{
    char encoding[CW_NAME], sql[160];
    sqlite3 *db = NULL;
    option(run->program, "encoding", "", encoding, sizeof encoding);
    if (encoding[0] == '\0')
        return;
    (void)snprintf(sql, sizeof sql, "PRAGMA encoding='%s'; CREATE TABLE first(a); DROP TABLE first", encoding);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        run->storage != NULL ? fault_storage_name(run->storage) : NULL)
            != SQLITE_OK
        || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK || sqlite3_exec(run->reference, sql, NULL, NULL, NULL) != SQLITE_OK)
        cw_fail(run, "status", "the encoding %s: %s", encoding, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    run->is_utf16 = true;
    cw_meet(run, CW_UTF16);
}

static void open_both(cw_run *run)
{
    char *const path = cw_path(run, "world.db"), *const other = cw_path(run, "reference"), *const elsewhere = cw_path(run, "elsewhere");
    mc_error error;
    mc_pool_options options = mc_pool_default_options();
    char sql[80];
    (void)mkdir(run->folder, 0700);
    (void)mkdir(other, 0700);
    (void)mkdir(elsewhere, 0700);
    open_storage(run);
    options.synchronous = run->records ? MC_SYNCHRONOUS_FULL : run->storage != NULL ? MC_SYNCHRONOUS_NORMAL : MC_SYNCHRONOUS_OFF;
    options.page_size = (int)option_number(run->program, "page", -1);
    options.foreign_keys = option_number(run->program, "foreign_keys", 0) != 0;
    options.statement_cache = (int)option_number(run->program, "cache", 64);
    options.checkpoint_pages = (int)option_number(run->program, "checkpoint", 1000);
    options.coalesces_log_writes = option_number(run->program, "coalesces", 1) != 0;
    // A wait that only this thread could end is over soon.
    options.busy_timeout_ns = 20 * 1000 * 1000;
    if (run->storage != NULL)
        options.vfs = fault_storage_name(run->storage);
    if (sqlite3_open(":memory:", &run->reference) != SQLITE_OK)
        cw_fail(run, "status", "the reference cannot be opened");
    (void)sqlite3_extended_result_codes(run->reference, 1);
    (void)sqlite3_db_config(run->reference, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
    (void)snprintf(sql, sizeof sql, "PRAGMA foreign_keys=%d", options.foreign_keys);
    (void)sqlite3_exec(run->reference, sql, NULL, NULL, NULL);
    if (run->kind == NULL)
        choose_encoding(run, path);
    run->is_in_memory = option_number(run->program, "memory", 0) != 0 && run->storage == NULL;
    options.in_memory = run->is_in_memory;
    if (run->is_in_memory)
        cw_meet(run, CW_IN_MEMORY);
    if (run->kind == NULL && mc_pool_open(run->is_in_memory ? "" : path, &options, &run->pool, &error) != MC_OK)
        cw_fail(run, "status", "open: %s", error.message);
    free(path);
    free(other);
    free(elsewhere);
}

/// Checks the file of the core after its pools are closed.
static void check_file(cw_run *run)
{
    char *const path = cw_path(run, "world.db");
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_open(path, &db) == SQLITE_OK && sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW) {
        const char *const result = (const char *)sqlite3_column_text(statement, 0);
        if (result == NULL || strcmp(result, "ok") != 0)
            cw_fail(run, "integrity", "integrity_check: %s", result != NULL ? result : "no memory");
    } else {
        cw_fail(run, "integrity", "the file cannot be read: %s", sqlite3_errmsg(db));
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    free(path);
}

static void close_both(cw_run *run)
{
    if (run->snapshot != NULL)
        mc_pool_return(run->pool, run->snapshot);
    run->snapshot = NULL;
    if (run->writer != NULL)
        mc_pool_return(run->pool, run->writer);
    run->writer = NULL;
    cw_return_writer(run);
    for (size_t index = 0; index < CW_WRITERS; index++)
        mc_blob_writer_free(run->values[index].writer);
    cw_observers_end(run);
    mc_pool_free(run->other);
    mc_pool_free(run->pool);
    run->pool = run->other = NULL;
}

void cw_run_free(cw_run *run)
{
    (void)sqlite3_close(run->reference);
    (void)sqlite3_close(run->saved);
    if (run->storage != NULL)
        fault_storage_free(run->storage);
    for (size_t index = 0; index < CW_WRITERS; index++)
        cw_text_free(&run->values[index].content);
    cw_text_free(&run->failure);
    *run = (cw_run){0};
}

// ---- Steps
// ------------------------------------------------------------------------------------------------------------

/// Whether the storage may fail during a step: one that either is done or is not.
static bool may_fail(const char *line)
{
    static const char *const words[] = {"sql", "table", "import", "begin", "commit"};
    for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
        if (cw_is(line, words[index]))
            return true;
    }
    return false;
}

static void take_step(cw_run *run, size_t index)
{
    const char *const line = run->program->lines[index].text;
    if (cw_is(line, "sql") || cw_is(line, "table"))
        cw_step_sql(run, line);
    else if (cw_is(line, "bind"))
        cw_step_bind(run, index);
    else if (cw_is(line, "page"))
        cw_step_page(run, line);
    else if (cw_is(line, "nul"))
        cw_step_nul(run, line);
    else if (cw_is(line, "import"))
        cw_step_import(run, index);
    else if (cw_is(line, "cursor"))
        cw_step_cursor(run, index);
    else if (cw_is(line, "observe") || cw_is(line, "unobserve"))
        cw_step_observe(run, line);
    else if (!cw_is(line, "option") && !cw_step_large(run, line) && !cw_step_pools(run, line) && !cw_step_backup(run, line) && !cw_step_storage(run, line))
        cw_step_transaction(run, line);
}

/// Compares everything after a step that may have changed something.
static void check_step(cw_run *run)
{
    mc_connection *const writer = run->kind == NULL ? cw_writer(run) : NULL;
    if (writer != NULL)
        cw_compare_databases(run, mc_connection_sqlite(writer));
    cw_return_writer(run);
    if (run->kind == NULL)
        cw_check_observers(run);
    if (run->kind == NULL)
        cw_storage_committed(run);
}

void cw_run_program(cw_run *run, const cw_program *program, const char *folder)
{
    *run = (cw_run){.program = program, .fails_after = -1};
    (void)snprintf(run->folder, sizeof run->folder, "%s", folder);
    open_both(run);
    for (size_t index = 0; index < program->count && run->kind == NULL; index++) {
        if (!program->lines[index].is_kept || cw_is_part(program->lines[index].text))
            continue;
        run->step = index + 1;
        if (may_fail(program->lines[index].text))
            cw_storage_begin_fault(run);
        take_step(run, index);
        cw_storage_end_fault(run);
        cw_return_writer(run);
        check_step(run);
    }
    run->step = program->count;
    if (run->kind == NULL && run->level > 0) {
        cw_step_transaction(run, "rollback");
        check_step(run);
    }
    if (run->kind == NULL)
        cw_large_end(run);
    close_both(run);
    if (run->kind == NULL && run->storage == NULL && !run->is_in_memory)
        check_file(run);
    if (run->kind == NULL)
        cw_storage_end(run);
}
