/// killed-process: writes to a database until it is killed, or reads in parallel to such a writer and checks the states that it sees.
///
/// usage: killed-process write DATABASE    prints the number of each transaction after its commit, one per line
///        killed-process read DATABASE     reads until its input ends, then prints the number of reads; exit status 1 after a wrong state
///
/// The row of `counter` has the expected contents of `item`, so that a state within a transaction is noticed.
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "MobileCore.h"

static int fail(const char *what, const mc_error *error)
{
    (void)printf("%s: %s\n", what, error->message);
    return 1;
}

static mc_status run(mc_connection *connection, const char *sql, mc_error *error)
{
    return mc_connection_exec(connection, sql, strlen(sql), NULL, error);
}

/// Reads the integers of a query's first row; -1 for each without a row.
static mc_status integers(mc_connection *connection, const char *sql, int64_t *values, int count, mc_error *error)
{
    mc_statement *statement = NULL;
    bool has_row = false;
    mc_status status = mc_statement_prepare(connection, sql, strlen(sql), &statement, error);
    if (status == MC_OK)
        status = mc_statement_step(statement, &has_row, error);
    for (int i = 0; i < count; i++)
        values[i] = has_row ? mc_statement_column_integer(statement, i) : -1;
    mc_statement_return(statement);
    return status;
}

static mc_status write_batch(mc_connection *writer, int64_t batch, mc_error *error)
{
    char sql[1024];
    // Far more pages than the cache holds: they spill into the log before the commit, and are changed again afterwards.
    (void)snprintf(sql, sizeof sql,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20 + %" PRId64 " %% 90)"
                   " INSERT INTO item (batch, payload) SELECT %" PRId64 ", randomblob(abs(random()) %% 900) FROM n;"
                   "UPDATE item SET payload = randomblob(300) WHERE id %% 7 = %" PRId64 " %% 7;"
                   "DELETE FROM item WHERE batch < %" PRId64 " - 6;"
                   "UPDATE counter SET batch = %" PRId64
                   ", rows = (SELECT count(*) FROM item), bytes = (SELECT sum(length(payload)) FROM item)",
                   batch, batch, batch, batch, batch);
    mc_status status = mc_connection_begin(writer, error);
    if (status == MC_OK)
        status = run(writer, sql, error);
    return status == MC_OK ? mc_connection_commit(writer, error) : status;
}

static int write_until_killed(mc_pool *pool)
{
    mc_error error;
    mc_connection *writer = NULL;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .timeout_ns = MC_WAIT_FOREVER};
    int64_t batch = 0;
    mc_status status = mc_pool_checkout(pool, &checkout, &writer, &error);
    if (status == MC_OK)
        status = run(writer,
                     "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, batch, payload);"
                     "CREATE INDEX IF NOT EXISTS item_batch ON item (batch);"
                     "CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, batch, rows, bytes);"
                     "INSERT OR IGNORE INTO counter VALUES (1, 0, 0, 0)",
                     &error);
    if (status == MC_OK)
        status = integers(writer, "SELECT batch FROM counter", &batch, 1, &error);
    while (status == MC_OK) {
        (void)printf("%" PRId64 "\n", batch);
        (void)fflush(stdout);
        status = write_batch(writer, ++batch, &error);
    }
    return fail("write", &error);
}

/// Checks one state of the database: the counter and the counted rows.
static mc_status judge(mc_connection *reader, int64_t *batch, bool *is_right, mc_error *error)
{
    int64_t counter[3], found[2];
    mc_status status = mc_connection_begin(reader, error);
    if (status == MC_OK)
        status = integers(reader, "SELECT batch, rows, bytes FROM counter", counter, 3, error);
    if (status == MC_OK)
        status = integers(reader, "SELECT count(*), ifnull(sum(length(payload)), 0) FROM item", found, 2, error);
    if (status != MC_OK)
        return status;
    *is_right = counter[1] == found[0] && counter[2] == found[1] && counter[0] >= *batch;
    *batch = counter[0];
    return mc_connection_commit(reader, error);
}

static bool input_has_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

static int read_until_end(mc_pool *pool)
{
    mc_error error;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .timeout_ns = MC_WAIT_FOREVER};
    int64_t reads = 0, batch = 0;
    while (!input_has_ended()) {
        mc_connection *reader = NULL;
        bool is_right = false;
        mc_status status = mc_pool_checkout(pool, &checkout, &reader, &error);
        if (status == MC_OK) {
            status = judge(reader, &batch, &is_right, &error);
            mc_pool_return(pool, reader);
        }
        if (status != MC_OK)
            return fail("read", &error);
        if (!is_right) {
            (void)printf("read %" PRId64 ": transaction %" PRId64 " is seen in part, or an older state after a newer one\n", reads, batch);
            return 1;
        }
        reads++;
    }
    (void)printf("%" PRId64 "\n", reads);
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 3 || (strcmp(arguments[1], "write") != 0 && strcmp(arguments[1], "read") != 0)) {
        (void)fputs("usage: killed-process write|read DATABASE\n", stderr);
        return 2;
    }
    const bool writes = strcmp(arguments[1], "write") == 0;
    mc_pool_options options = mc_pool_default_options();
    options.page_size = 1024;
    options.cache_bytes = 20 * 1024;
    options.checkpoint_pages = 100;
    options.read_only = !writes;
    mc_pool *pool = NULL;
    mc_error error;
    if (mc_pool_open(arguments[2], &options, &pool, &error) != MC_OK)
        return fail("open", &error);
    const int result = writes ? write_until_killed(pool) : read_until_end(pool);
    mc_pool_free(pool);
    return result;
}
