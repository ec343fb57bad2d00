/// mc_statement_cache.c: finds prepared statements by their SQL text, and drops the least recently used one first.
#include <string.h>

#include "pool/mc_pool_internal.h"

#include "base/mc_memory.h"

static void list_push(mc_statement_list *list, mc_statement *statement)
{
    statement->previous = NULL;
    statement->next = list->first;
    if (list->first != NULL)
        list->first->previous = statement;
    else
        list->last = statement;
    list->first = statement;
}

static void list_remove(mc_statement_list *list, mc_statement *statement)
{
    if (statement->previous != NULL)
        statement->previous->next = statement->next;
    else
        list->first = statement->next;
    if (statement->next != NULL)
        statement->next->previous = statement->previous;
    else
        list->last = statement->previous;
    statement->previous = statement->next = NULL;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
    return hash ^ (hash >> 32);
}

/// Hashes a text in four independent lanes of eight bytes, because most look-ups compute it.
uint64_t mc_statement_hash(const char *sql, size_t length)
{
    enum { LANES = 4, WORD = sizeof(uint64_t) };
    uint64_t lanes[LANES] = {0x9E3779B97F4A7C15u ^ length, 0xBF58476D1CE4E5B9u, 0x94D049BB133111EBu, 0xC2B2AE3D27D4EB4Fu};
    size_t at = 0;
    for (; at + LANES * WORD <= length; at += LANES * WORD) {
        uint64_t words[LANES];
        memcpy(words, sql + at, sizeof words);
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] = mix(lanes[lane], words[lane]);
    }
    uint64_t words[LANES] = {0};
    memcpy(words, sql + at, length - at);
    uint64_t hash = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        hash = mix(hash, mix(lanes[lane], words[lane]));
    return hash ^ (hash >> 29);
}

static mc_statement **bucket_of(mc_connection *connection, uint64_t hash)
{
    return &connection->buckets[hash & (connection->bucket_count - 1)];
}

mc_status mc_statement_cache_open(mc_connection *connection, int limit, mc_error *error)
{
    size_t count = 16;
    while (count < (size_t)limit * 2)
        count *= 2;
    connection->buckets = mc_allocate(count * sizeof *connection->buckets);
    if (connection->buckets == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a cache of %d statements", limit);
    memset(connection->buckets, 0, count * sizeof *connection->buckets);
    connection->bucket_count = count;
    connection->cache_limit = limit;
    return MC_OK;
}

static void statement_free(mc_statement *statement)
{
    (void)sqlite3_finalize(statement->handle);
    mc_free(statement->sql);
    mc_free(statement);
}

/// Removes a statement at rest from the list and the table.
static void cache_remove(mc_connection *connection, mc_statement *statement)
{
    mc_statement **link = bucket_of(connection, statement->hash);
    while (*link != statement)
        link = &(*link)->chain;
    *link = statement->chain;
    statement->chain = NULL;
    list_remove(&connection->at_rest, statement);
    connection->statistics.cached--;
}

void mc_statement_cache_close(mc_connection *connection)
{
    mc_statement_return_all(connection);
    while (connection->at_rest.first != NULL) {
        mc_statement *statement = connection->at_rest.first;
        cache_remove(connection, statement);
        statement_free(statement);
    }
    mc_free(connection->buckets);
    connection->buckets = NULL;
}

mc_statement *mc_statement_cache_take(mc_connection *connection, const char *sql, size_t length, uint64_t hash)
{
    mc_statement *statement = *bucket_of(connection, hash);
    while (statement != NULL && (statement->hash != hash || statement->length != length || memcmp(statement->sql, sql, length) != 0))
        statement = statement->chain;
    if (statement == NULL)
        return NULL;
    cache_remove(connection, statement);
    list_push(&connection->in_use, statement);
    connection->statistics.hits++;
    return statement;
}

mc_status mc_statement_adopt(mc_connection *connection, sqlite3_stmt *handle, const char *sql, size_t length, mc_statement **out,
                             mc_error *error)
{
    mc_statement *statement = mc_allocate(sizeof *statement);
    char *text = mc_allocate(length + 1);
    *out = NULL;
    if (statement == NULL || text == NULL) {
        mc_free(statement);
        mc_free(text);
        (void)sqlite3_finalize(handle);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a statement");
    }
    memcpy(text, sql, length);
    text[length] = '\0';
    *statement =
        (mc_statement){.handle = handle, .connection = connection, .hash = mc_statement_hash(sql, length), .length = length, .sql = text};
    list_push(&connection->in_use, statement);
    connection->statistics.misses++;
    *out = statement;
    return MC_OK;
}

void mc_statement_return(mc_statement *statement)
{
    if (statement == NULL)
        return;
    mc_connection *connection = statement->connection;
    mc_statement_reset(statement);
    (void)sqlite3_clear_bindings(statement->handle);
    list_remove(&connection->in_use, statement);
    if (connection->cache_limit == 0) {
        statement_free(statement);
        return;
    }
    if (connection->statistics.cached >= connection->cache_limit) {
        mc_statement *oldest = connection->at_rest.last;
        cache_remove(connection, oldest);
        statement_free(oldest);
        connection->statistics.evictions++;
    }
    mc_statement **bucket = bucket_of(connection, statement->hash);
    statement->chain = *bucket;
    *bucket = statement;
    list_push(&connection->at_rest, statement);
    connection->statistics.cached++;
}

void mc_statement_return_all(mc_connection *connection)
{
    while (connection->in_use.first != NULL)
        mc_statement_return(connection->in_use.first);
}

void mc_statement_reset_all(mc_connection *connection)
{
    for (mc_statement *statement = connection->in_use.first; statement != NULL; statement = statement->next)
        mc_statement_reset(statement);
}

mc_statement_statistics mc_connection_statement_statistics(const mc_connection *connection)
{
    return connection->statistics;
}
