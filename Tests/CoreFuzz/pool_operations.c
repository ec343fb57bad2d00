/// pool_operations.c: fuzzes the pool (mc_pool.h, mc_statement.h, mc_changes.h) by random operations of one to three threads.
///
/// The first byte chooses threads, page size and cache, each of the others is an operation of one of the threads: writes, reads,
/// kept snapshots, waits by callback, interruptions of another thread's work, observers. Rules: `counter` has the number of rows in `item`
/// in every snapshot and at the end; calls fail only by interruption, timeout or a closed pool; each observer gets a commit at most once,
/// with keys in order.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "MobileCore.h"
#include "fuzz_check.h"

enum { THREADS = 3, LONGEST = 400 };

typedef struct session session;

typedef struct worker {
    session *session;
    const uint8_t *operations;
    size_t count;
    pthread_mutex_t lock;  // of the ticket
    mc_ticket *ticket;
    mc_connection *snapshot;  // kept across operations; NULL: none
    int64_t seen;             // rows of the snapshot
} worker;

struct session {
    mc_pool *pool;
    worker workers[THREADS];
    int threads;
    atomic_llong told, committed;
};

static bool is_expected(mc_status status)
{
    return status == MC_OK || status == MC_ERROR_INTERRUPTED || status == MC_ERROR_TIMEOUT;
}

static mc_status run(mc_connection *connection, const char *sql, mc_error *error)
{
    return mc_connection_exec(connection, sql, strlen(sql), NULL, error);
}

static mc_status integer(mc_connection *connection, const char *sql, int64_t *value, mc_error *error)
{
    mc_statement *statement = NULL;
    bool has_row = false;
    mc_status status = mc_statement_prepare(connection, sql, strlen(sql), &statement, error);
    if (status == MC_OK)
        status = mc_statement_step(statement, &has_row, error);
    if (status == MC_OK)
        *value = mc_statement_column_integer(statement, 0);
    mc_statement_return(statement);
    return status;
}

static void renew_ticket(worker *self)
{
    mc_ticket *fresh = NULL;
    CHECK(mc_ticket_create(&fresh, NULL) == MC_OK);
    (void)pthread_mutex_lock(&self->lock);
    mc_ticket *old = self->ticket;
    self->ticket = fresh;
    (void)pthread_mutex_unlock(&self->lock);
    mc_ticket_free(old);
}

static mc_connection *check_out(worker *self, bool writer, bool loose)
{
    mc_error error;
    mc_connection *connection = NULL;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout),
                                  .writer = writer,
                                  .is_long = loose,
                                  .loose = loose,
                                  .timeout_ns = 20 * 1000 * 1000,
                                  .label = "fuzz",
                                  .ticket = loose ? NULL : self->ticket};
    const mc_status status = mc_pool_checkout(self->session->pool, &checkout, &connection, &error);
    CHECK(is_expected(status) && (status == MC_OK) == (connection != NULL));
    return connection;
}

static mc_status change(mc_connection *writer, unsigned kind, mc_error *error)
{
    mc_status status = run(writer, "INSERT INTO item (x) VALUES (zeroblob(700)), (zeroblob(20))", error);
    if (status == MC_OK && (kind & 1) != 0)
        status = run(writer, "UPDATE item SET x = zeroblob(300) WHERE id % 3 = 0", error);
    if (status == MC_OK && (kind & 2) != 0) {
        status = mc_connection_savepoint(writer, error);
        if (status == MC_OK) {
            status = run(writer, "INSERT INTO item (x) SELECT x FROM item LIMIT 40", error);
            mc_connection_rollback_savepoint(writer);
        }
    }
    if (status == MC_OK && (kind & 4) != 0)
        status = run(writer, "DELETE FROM item WHERE id IN (SELECT id FROM item LIMIT 3)", error);
    return status == MC_OK ? run(writer, "UPDATE counter SET n = (SELECT count(*) FROM item)", error) : status;
}

static void write_once(worker *self, unsigned kind)
{
    mc_error error;
    mc_connection *writer = check_out(self, true, false);
    if (writer == NULL)
        return;
    mc_status status = mc_connection_begin(writer, &error);
    if (status == MC_OK)
        status = change(writer, kind, &error);
    if (status == MC_OK && (kind & 24) != 24) {
        status = mc_connection_commit(writer, &error);
        CHECK(status == MC_OK);  // a commit is not interrupted
        (void)atomic_fetch_add(&self->session->committed, 1);
    }
    CHECK(is_expected(status));
    mc_pool_return(self->session->pool, writer);  // rolls back an open transaction
}

static mc_status judge(mc_connection *connection, int64_t *rows, mc_error *error)
{
    int64_t difference = -1;
    mc_status status = integer(connection, "SELECT n - (SELECT count(*) FROM item) FROM counter", &difference, error);
    CHECK(status != MC_OK || difference == 0);
    return status == MC_OK ? integer(connection, "SELECT n FROM counter", rows, error) : status;
}

static void read_once(worker *self)
{
    mc_error error;
    int64_t rows = 0;
    mc_connection *reader = check_out(self, false, false);
    if (reader == NULL)
        return;
    mc_status status = mc_connection_begin(reader, &error);
    if (status == MC_OK)
        status = judge(reader, &rows, &error);
    CHECK(is_expected(status));
    mc_pool_return(self->session->pool, reader);
}

static void keep_or_drop_snapshot(worker *self)
{
    mc_error error;
    if (self->snapshot != NULL) {
        int64_t rows = -1;
        CHECK(judge(self->snapshot, &rows, &error) == MC_OK && rows == self->seen);
        mc_pool_return(self->session->pool, self->snapshot);
        self->snapshot = NULL;
        return;
    }
    self->snapshot = check_out(self, false, true);
    if (self->snapshot != NULL)
        CHECK(mc_connection_begin(self->snapshot, &error) == MC_OK && judge(self->snapshot, &self->seen, &error) == MC_OK);
}

static void granted(void *context, mc_connection *connection, const mc_error *error)
{
    worker *self = context;
    CHECK((connection == NULL) != (error == NULL) && (error == NULL || error->code == MC_ERROR_CLOSED));
    if (connection != NULL)
        mc_pool_return(self->session->pool, connection);
}

static void later(worker *self, bool writer)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = writer, .timeout_ns = MC_WAIT_FOREVER};
    mc_pool_checkout_later(self->session->pool, &checkout, granted, self);
}

static void interrupt(worker *other)
{
    (void)pthread_mutex_lock(&other->lock);
    mc_ticket_interrupt(other->ticket);
    (void)pthread_mutex_unlock(&other->lock);
}

static void changed(void *context, const mc_changes *changes)
{
    session *run = context;
    for (size_t table = 0; table < changes->table_count; table++) {
        const mc_table_changes *told = &changes->tables[table];
        CHECK(strcmp(told->table, "item") == 0 && (told->key_count > 0 || told->any_key));
        for (size_t key = 1; key < told->key_count; key++)
            CHECK(told->keys[key - 1] < told->keys[key]);
    }
    (void)atomic_fetch_add(&run->told, 1);
}

static void observe(worker *self, unsigned kind)
{
    static const char *const tables[] = {"item"};
    const mc_observation observation = {.tables = tables, .table_count = 1, .changed = changed, .context = self->session};
    mc_observer *observer = NULL;
    CHECK(mc_pool_observe(self->session->pool, &observation, &observer, NULL) == MC_OK);
    write_once(self, kind);
    mc_pool_unobserve(self->session->pool, observer);
}

static void look(worker *self)
{
    mc_pool_statistics statistics;
    mc_connection_statistics connections[4];
    mc_pool_get_statistics(self->session->pool, &statistics);
    CHECK(statistics.readers_active <= 2 && statistics.readers_open <= 2 && statistics.waits <= statistics.checkouts + LONGEST);
    CHECK(mc_pool_get_connection_statistics(self->session->pool, connections, 4) <= 3);
}

static void *work(void *context)
{
    worker *self = context;
    for (size_t i = 0; i < self->count; i++) {
        const unsigned kind = self->operations[i] >> 3;
        switch (self->operations[i] & 7) {
        case 0:
        case 1: write_once(self, kind); break;
        case 2: read_once(self); break;
        case 3: keep_or_drop_snapshot(self); break;
        case 4: later(self, (kind & 1) != 0); break;
        case 5: interrupt(&self->session->workers[kind % (unsigned)self->session->threads]); break;
        case 6: observe(self, kind); break;
        case 7: look(self); break;
        }
        if (i % 4 == 3)
            renew_ticket(self);
    }
    if (self->snapshot != NULL)
        keep_or_drop_snapshot(self);
    return NULL;
}

static const char *database_path(void)
{
    static char path[64];
    if (path[0] == '\0')
        (void)snprintf(path, sizeof path, "%s/pool-fuzz-%d.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    return path;
}

static void remove_database(void)
{
    char name[80];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "%s%s", database_path(), i == 0 ? "" : i == 1 ? "-wal" : "-shm");
        (void)remove(name);
    }
}

static void run_session(session *session, uint8_t settings)
{
    mc_error error;
    mc_pool_options options = mc_pool_default_options();
    options.page_size = (settings & 4) != 0 ? 1024 : 4096;
    options.cache_bytes = (settings & 8) != 0 ? 10 * 4096 : 1000 * 1000;
    options.synchronous = MC_SYNCHRONOUS_OFF;
    options.checkpoint_pages = (settings & 16) != 0 ? 5 : 100;
    options.log_limit_bytes = (settings & 32) != 0 ? 100 * 1000 : 0;
    options.coalesces_log_writes = (settings & 64) == 0;
    options.statement_cache = (settings & 128) != 0 ? 2 : 64;
    CHECK(mc_pool_open(database_path(), &options, &session->pool, &error) == MC_OK);

    mc_connection *writer = NULL;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .timeout_ns = MC_WAIT_FOREVER};
    CHECK(mc_pool_checkout(session->pool, &checkout, &writer, &error) == MC_OK);
    CHECK(run(writer, "CREATE TABLE item (id INTEGER PRIMARY KEY, x); CREATE TABLE counter (n); INSERT INTO counter VALUES (0)", &error)
          == MC_OK);
    mc_pool_return(session->pool, writer);

    pthread_t threads[THREADS];
    for (int i = 1; i < session->threads; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &session->workers[i]) == 0);
    (void)work(&session->workers[0]);
    for (int i = 1; i < session->threads; i++)
        (void)pthread_join(threads[i], NULL);
    CHECK(atomic_load(&session->told) <= atomic_load(&session->committed) * session->threads);  // an observer of each thread at most

    mc_connection *reader = NULL;
    const mc_checkout last = {MC_OPTIONS(mc_checkout), .timeout_ns = MC_WAIT_FOREVER};
    int64_t rows = -1;
    CHECK(mc_pool_checkout(session->pool, &last, &reader, &error) == MC_OK && judge(reader, &rows, &error) == MC_OK);
    mc_pool_return(session->pool, reader);
    CHECK(mc_pool_close(session->pool, &error) == MC_OK);
    mc_pool_free(session->pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > LONGEST)
        return 0;
    session session = {.threads = 1 + (data[0] & 3) % THREADS};
    const size_t each = (size - 1) / (size_t)session.threads;
    for (int i = 0; i < session.threads; i++) {
        worker *worker = &session.workers[i];
        worker->session = &session;
        worker->operations = data + 1 + (size_t)i * each;
        worker->count = each;
        (void)pthread_mutex_init(&worker->lock, NULL);
        renew_ticket(worker);
    }
    remove_database();
    run_session(&session, data[0]);
    remove_database();
    for (int i = 0; i < session.threads; i++) {
        mc_ticket_free(session.workers[i].ticket);
        (void)pthread_mutex_destroy(&session.workers[i].lock);
    }
    return 0;
}
