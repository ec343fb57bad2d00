/// cw_pools.c: nested check-outs, tickets, snapshots, and a second pool.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks/cw_compare.h"

/// Takes connections within each other on this thread. They are the same one, which sees its own changes.
static void nest(cw_run *run, const char *line)
{
    mc_connection *const outer = cw_writer(run);
    mc_connection *inner = NULL;
    mc_ticket *ticket = NULL;
    mc_error error = {0};
    char interrupts[CW_NAME];
    const bool has_ticket = cw_setting(line, "ticket", interrupts, sizeof interrupts);
    if (outer == NULL)
        return;
    const int depth = mc_connection_depth(outer);
    if (has_ticket && mc_ticket_create(&ticket, &error) != MC_OK)
        return;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = cw_number(line, "writer", 0) != 0, .ticket = ticket};
    mc_connection *innermost = NULL;
    if (mc_pool_checkout(run->pool, &checkout, &inner, &error) != MC_OK)
        cw_fail(run, "nesting", "a nested check-out: %s", error.message);
    else if (has_ticket && mc_pool_checkout(run->pool, &checkout, &innermost, &error) != MC_OK)
        cw_fail(run, "ticket", "another check-out with the ticket of the one around it: %s", error.message);
    if (innermost != NULL)
        mc_pool_return(run->pool, innermost);
    if (run->kind == NULL && (inner != outer || mc_connection_depth(inner) != depth + 1))
        cw_fail(run, "nesting", "a nested check-out is another connection, or has the depth %d", mc_connection_depth(inner));
    if (run->kind == NULL)
        cw_compare_databases(run, mc_connection_sqlite(inner));
    cw_meet(run, CW_NESTED);
    if (run->kind == NULL && strcmp(interrupts, "interrupted") == 0) {
        mc_ticket_interrupt(ticket);
        const mc_status status = mc_connection_exec(inner, "SELECT 1", strlen("SELECT 1"), NULL, &error);
        if (status != MC_ERROR_INTERRUPTED)
            cw_fail(run, "ticket", "a nested check-out whose ticket was interrupted continues to work: %s", mc_status_name(status));
        cw_meet(run, CW_TICKET);
    }
    if (inner != NULL)
        mc_pool_return(run->pool, inner);
    if (run->kind == NULL && inner != NULL && mc_connection_exec(outer, "SELECT 1", strlen("SELECT 1"), NULL, &error) != MC_OK)
        cw_fail(run, "ticket", "the check-out around one whose ticket was interrupted: %s", error.message);
    mc_ticket_free(ticket);
}

/// A check-out of its own with a ticket: it is interrupted, and the next one is not.
static void interrupt(cw_run *run, const char *line)
{
    mc_connection *reader = NULL;
    mc_ticket *ticket = NULL;
    mc_error error = {0};
    if (run->writer != NULL || mc_ticket_create(&ticket, &error) != MC_OK)
        return;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = cw_number(line, "writer", 0) != 0, .ticket = ticket,
                                  .loose = cw_number(line, "loose", 0) != 0};
    if (mc_pool_checkout(run->pool, &checkout, &reader, &error) != MC_OK) {
        cw_fail(run, "ticket", "a check-out: %s", error.message);
    } else {
        mc_ticket_interrupt(ticket);
        if (mc_connection_exec(reader, "SELECT 1", strlen("SELECT 1"), NULL, &error) != MC_ERROR_INTERRUPTED)
            cw_fail(run, "ticket", "an interrupted check-out continues to work");
        mc_pool_return(run->pool, reader);
    }
    mc_ticket_free(ticket);
    cw_meet(run, CW_TICKET);
}

// ---- Snapshots
// --------------------------------------------------------------------------------------------------------

static void end_snapshot(cw_run *run)
{
    if (run->snapshot == NULL)
        return;
    const uint64_t digest = cw_database_digest(run, mc_connection_sqlite(run->snapshot), true);
    if (digest != run->snapshot_digest)
        cw_fail(run, "snapshot", "the rows of a reader's transaction have changed");
    mc_pool_return(run->pool, run->snapshot);
    run->snapshot = NULL;
}

static void begin_snapshot(cw_run *run)
{
    mc_error error = {0};
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .loose = true, .is_long = true};
    if (run->snapshot != NULL || run->level > 0)
        return;
    if (mc_pool_checkout(run->pool, &checkout, &run->snapshot, &error) != MC_OK || mc_connection_begin(run->snapshot, &error) != MC_OK) {
        cw_fail(run, "snapshot", "%s", error.message);
        return;
    }
    run->snapshot_digest = cw_database_digest(run, mc_connection_sqlite(run->snapshot), true);
    if (run->snapshot_digest != cw_database_digest(run, run->reference, false))
        cw_fail(run, "snapshot", "a reader's transaction does not begin with the rows of the last commit");
    cw_meet(run, CW_SNAPSHOT);
}

/// Holds all readers loosely, reads a large value and closes the pool: both are refused, and nothing waits.
static void wait_for_itself(cw_run *run)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .loose = true, .is_long = true};
    const mc_blob_reader_options options = {MC_OPTIONS(mc_blob_reader_options), .timeout_ns = MC_WAIT_FOREVER};
    mc_connection *readers[2] = {NULL, NULL};
    mc_blob_reader *reader = NULL;
    mc_error error = {0};
    const cw_value *value = NULL;
    for (size_t index = 0; index < CW_WRITERS; index++) {
        if (run->values[index].is_pinned && !run->values[index].is_lost && !run->values[index].is_saved)
            value = &run->values[index];
    }
    if (value == NULL || run->writer != NULL || run->snapshot != NULL)
        return;
    for (size_t index = 0; index < 2; index++) {
        if (mc_pool_checkout(run->pool, &checkout, &readers[index], &error) != MC_OK)
            cw_fail(run, "waits", "a reader: %s", error.message);
    }
    // A wait without end ends this process: the world hangs.
    const unsigned left = alarm(2);
    mc_status status = run->kind == NULL ? mc_blob_reader_open(run->pool, value->id, &options, &reader, &error) : MC_ERROR_MISUSE;
    if (status != MC_ERROR_MISUSE)
        cw_fail(run, "waits", "a large value is read while this thread holds all readers: %s", mc_status_name(status));
    status = run->kind == NULL ? mc_pool_close(run->pool, &error) : MC_ERROR_MISUSE;
    if (status != MC_ERROR_MISUSE)
        cw_fail(run, "waits", "the pool is closed while this thread holds readers: %s", mc_status_name(status));
    (void)alarm(left);
    mc_blob_reader_free(reader);
    for (size_t index = 0; index < 2; index++) {
        if (readers[index] != NULL)
            mc_pool_return(run->pool, readers[index]);
    }
}

// ---- The second pool
// --------------------------------------------------------------------------------------------------

static void close_other(cw_run *run)
{
    mc_pool_free(run->other);
    run->other = NULL;
}

/// Opens the file a second time: by the same path, by a symbolic link, or by a relative path before the folder changes.
static void open_other(cw_run *run, const char *line)
{
    char path[CW_NAME];
    char *const same = cw_path(run, "world.db"), *const link = cw_path(run, "link.db"), *const elsewhere = cw_path(run, "elsewhere");
    mc_pool_options options = mc_pool_default_options();
    mc_error error = {0};
    const char *name = same;
    options.synchronous = run->records ? MC_SYNCHRONOUS_FULL : MC_SYNCHRONOUS_OFF;
    options.busy_timeout_ns = 20 * 1000 * 1000;
    if (run->storage != NULL)
        options.vfs = fault_storage_name(run->storage);
    (void)cw_setting(line, "path", path, sizeof path);
    bool is_ready = run->other == NULL && run->level == 0 && !run->is_in_memory;
    if (is_ready && strcmp(path, "link") == 0) {
        (void)unlink(link);
        is_ready = symlink(same, link) == 0;
        name = link;
    } else if (is_ready && strcmp(path, "relative") == 0) {
        is_ready = chdir(run->folder) == 0;
        name = "world.db";
    }
    if (is_ready && mc_pool_open(name, &options, &run->other, &error) != MC_OK)
        cw_fail(run, "status", "a second pool: %s", error.message);
    if (is_ready && strcmp(path, "relative") == 0 && chdir(elsewhere) != 0)
        cw_fail(run, "world", "no folder elsewhere");
    if (is_ready)
        cw_meet(run, CW_SECOND_POOL);
    free(same);
    free(link);
    free(elsewhere);
}

bool cw_step_pools(cw_run *run, const char *line)
{
    if (cw_is(line, "nest"))
        nest(run, line);
    else if (cw_is(line, "interrupt"))
        interrupt(run, line);
    else if (cw_is(line, "snapshot"))
        begin_snapshot(run);
    else if (cw_is(line, "end"))
        end_snapshot(run);
    else if (cw_is(line, "wait"))
        wait_for_itself(run);
    else if (cw_is(line, "open"))
        open_other(run, line);
    else if (cw_is(line, "close"))
        close_other(run);
    else
        return false;
    return true;
}
