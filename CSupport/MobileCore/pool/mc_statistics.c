/// mc_statistics.c: the statistics of a pool and its connections.
#include "pool/mc_checkout.h"

mc_status mc_disable_memory_count(mc_error *error)
{
    if (sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE, "SQLite is in use already: turn off its count of memory before the first database is opened");
}

static int64_t status_of(const mc_connection *connection, int counter)
{
    int current = 0, highest = 0;
    (void)sqlite3_db_status(connection->db, counter, &current, &highest, 0);
    return current;
}

/// With the pool locked, for a connection that is not in use.
static void count(mc_connection *connection)
{
    connection->uncounted = 0;
    connection->counted.statements = connection->statistics;
    connection->counted.pages = (mc_page_statistics){
        .hits = status_of(connection, SQLITE_DBSTATUS_CACHE_HIT),
        .misses = status_of(connection, SQLITE_DBSTATUS_CACHE_MISS),
        .writes = status_of(connection, SQLITE_DBSTATUS_CACHE_WRITE),
        .spills = status_of(connection, SQLITE_DBSTATUS_CACHE_SPILL),
        .used_bytes = status_of(connection, SQLITE_DBSTATUS_CACHE_USED),
    };
}

void mc_connection_note_return(mc_connection *connection)
{
    enum { RETURNS = 16 };
    connection->counted.busy_ns += mc_monotonic_ns() - connection->active_since_ns;
    if (++connection->uncounted >= RETURNS)
        count(connection);
}

static int length_of(const mc_waiter_list *list)
{
    int count = 0;
    for (const mc_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next)
        count++;
    return count;
}

/// Called with each connection of the pool, the writer first.
typedef void (*visitor)(void *context, const mc_connection *connection);

static void visit_one(mc_connection *connection, visitor visitor, void *context)
{
    if (!connection->is_active && connection->uncounted > 0)
        count(connection);
    visitor(context, connection);
}

static void visit(const mc_pool *pool, visitor visitor, void *context)
{
    if (pool->writer != NULL)
        visit_one(pool->writer, visitor, context);
    for (mc_connection *reader = pool->active_readers; reader != NULL; reader = reader->next)
        visit_one(reader, visitor, context);
    for (mc_connection *reader = pool->idle_readers; reader != NULL; reader = reader->next)
        visit_one(reader, visitor, context);
}

static void add(void *context, const mc_connection *connection)
{
    mc_pool_statistics *sum = context;
    const mc_connection_statistics *counted = &connection->counted;
    sum->readers_active += connection->is_active && !connection->is_writer;
    sum->busy_ns += counted->busy_ns;
    sum->statements.hits += counted->statements.hits;
    sum->statements.misses += counted->statements.misses;
    sum->statements.evictions += counted->statements.evictions;
    sum->statements.cached += counted->statements.cached;
    sum->pages.hits += counted->pages.hits;
    sum->pages.misses += counted->pages.misses;
    sum->pages.writes += counted->pages.writes;
    sum->pages.spills += counted->pages.spills;
    sum->pages.used_bytes += counted->pages.used_bytes;
}

void mc_pool_get_statistics(mc_pool *pool, mc_pool_statistics *statistics)
{
    (void)pthread_mutex_lock(&pool->mutex);
    *statistics = pool->statistics;
    statistics->writer_is_active = pool->writer != NULL && pool->writer->is_active;
    statistics->readers_open = pool->readers_open;
    statistics->waiting_for_writer = length_of(&pool->for_writer);
    statistics->waiting_for_reader = length_of(&pool->for_reader);
    visit(pool, add, statistics);
    (void)pthread_mutex_unlock(&pool->mutex);
}

typedef struct listing {
    mc_connection_statistics *statistics;
    int capacity, count;
    int64_t now_ns;
} listing;

static void list(void *context, const mc_connection *connection)
{
    listing *listed = context;
    if (listed->count < listed->capacity) {
        mc_connection_statistics *entry = &listed->statistics[listed->count];
        *entry = connection->counted;
        entry->is_writer = connection->is_writer;
        entry->is_active = connection->is_active;
        entry->active_ns = connection->is_active ? listed->now_ns - connection->active_since_ns : 0;
    }
    listed->count++;
}

int mc_pool_get_connection_statistics(mc_pool *pool, mc_connection_statistics *statistics, int capacity)
{
    listing listed = {.statistics = statistics, .capacity = statistics != NULL ? capacity : 0, .now_ns = mc_monotonic_ns()};
    (void)pthread_mutex_lock(&pool->mutex);
    visit(pool, list, &listed);
    (void)pthread_mutex_unlock(&pool->mutex);
    return listed.count;
}
