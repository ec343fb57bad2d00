/// mc_changes.c: records the writer's changes, and notifies the observers after its commit.
///
/// SQLite's update hook names rows, but not all of them. SQLite's own count of changed rows has all: if the two numbers
/// differ after a statement, rows have changed whose tables and keys are unknown.
#include "mc_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mc_memory.h"
#include "pool/mc_checkout.h"
#include "pool/mc_preupdate.h"

struct mc_observer {
    mc_observer *next;
    mc_changed changed;
    void *context;
    char **tables;
    size_t table_count;
    bool is_new;      ///< [pool] added since the writer's last check-out: it gets no details of the transaction in progress
    bool is_calling;  ///< [pool]
    bool has_ended;   ///< [pool] no further call follows
    bool is_garbage;  ///< [pool] it ended within its own call: the thread that called it frees it
};

static bool wants(const mc_observer *observer, const char *table)
{
    for (size_t i = 0; i < observer->table_count; i++) {
        if (sqlite3_stricmp(observer->tables[i], table) == 0)
            return true;
    }
    return observer->table_count == 0;
}

// ---- Noting --------------------------------------------------------------------------------------------------------------

/// Notes whether an observer wants the table. The observers are searched once, and again when one is added or removed: even a hundred of
/// them add nothing to the time of a commit.
static void look_for_observers(mc_pool *pool, mc_changed_table *entry)
{
    const uint64_t version = atomic_load(&pool->observer_version);
    if (entry->observer_version == version)
        return;
    const char *const table = entry->name;
    bool found = false;
    (void)pthread_mutex_lock(&pool->mutex);
    for (const mc_observer *observer = pool->observers; observer != NULL && !found; observer = observer->next)
        found = !observer->is_new && wants(observer, table);
    (void)pthread_mutex_unlock(&pool->mutex);
    entry->is_watched = found;
    entry->observer_version = version;
}

/// Finds the table's entry, and makes it at the table's first change; NULL without memory.
static mc_changed_table *find_table(mc_connection *connection, const char *name)
{
    mc_change_log *log = &connection->changes;
    if (log->last < log->count && strcmp(log->tables[log->last].name, name) == 0)
        return &log->tables[log->last];
    for (log->last = 0; log->last < log->count; log->last++) {
        if (strcmp(log->tables[log->last].name, name) == 0)
            return &log->tables[log->last];
    }
    if (log->count == log->capacity) {
        const size_t capacity = log->capacity * 2 + 8;
        mc_changed_table *grown = mc_reallocate(log->tables, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        log->tables = grown;
        log->capacity = capacity;
    }
    char *const copy = mc_copy_text(name);
    if (copy == NULL)
        return NULL;
    log->tables[log->count] = (mc_changed_table){.name = copy};
    return &log->tables[log->count++];
}

static void note_key(mc_changed_table *table, int64_t key)
{
    if (table->any_key || (table->count > 0 && table->keys[table->count - 1] == key))
        return;
    if (table->count == table->capacity) {
        const size_t capacity = table->capacity * 2 + 16;
        int64_t *grown = capacity <= 2 * MC_CHANGED_KEYS_MAXIMUM ? mc_reallocate(table->keys, capacity, sizeof *grown) : NULL;
        if (grown == NULL) {  // too many, or no memory for more
            table->any_key = true;
            return;
        }
        table->keys = grown;
        table->capacity = capacity;
    }
    table->keys[table->count++] = key;
}

/// Notes the table of a change. NULL: it is not observed.
static mc_changed_table *note_table(mc_connection *connection, const char *schema, const char *name)
{
    if (strcmp(schema, "main") != 0 || sqlite3_strnicmp(name, "sqlite_", 7) == 0)  // SQLite's own rows, such as ANALYZE's
        return NULL;
    mc_changed_table *table = find_table(connection, name);
    if (table == NULL) {
        connection->changes.any_table = true;
        return NULL;
    }
    if (!table->is_changed) {
        table->is_changed = true;
        look_for_observers(connection->pool, table);
    }
    return table->is_watched ? table : NULL;
}

static void row_changed(void *context, int operation, const char *schema, const char *name, sqlite3_int64 key)
{
    mc_connection *connection = context;
    if (connection->changes.pauses > 0)
        return;
    connection->changes.named_rows++;
    mc_changed_table *const table = note_table(connection, schema, name);
    if (table == NULL)
        return;
    note_key(table, key);
    // It may have had another rowid, which this hook does not name.
    table->any_key = table->any_key || (operation == SQLITE_UPDATE && !connection->changes.sees_before);
}

/// Names the rows that `row_changed` does not: the old one of a row that gets another rowid, and the one that a row replaces. For
/// tables without rowids the keys are undefined; they are reported as any table.
static void row_changes(void *context, sqlite3 *db, int operation, const char *schema, const char *name, sqlite3_int64 before,
                        sqlite3_int64 after)
{
    mc_connection *connection = context;
    (void)db;
    if (connection->changes.pauses > 0 || operation == SQLITE_INSERT || (operation == SQLITE_UPDATE && before == after))
        return;
    mc_changed_table *const table = note_table(connection, schema, name);
    if (table != NULL)
        note_key(table, before);
}

/// Discards the record: later changes belong to another transaction.
static void forget(mc_connection *connection)
{
    mc_change_log *log = &connection->changes;
    for (size_t i = 0; i < log->count; i++) {
        log->tables[i].is_changed = log->tables[i].any_key = false;
        log->tables[i].count = 0;
    }
    log->any_table = false;
    log->named_rows = 0;
    log->changes_before = log->changes_at_pause = sqlite3_total_changes64(connection->db);
}

void mc_changes_forget(mc_connection *writer)
{
    if (writer->changes.is_on)
        forget(writer);
    else  // SQLite counts undone changes as well
        writer->changes.changes_before = writer->changes.changes_at_pause = sqlite3_total_changes64(writer->db);
}

/// Compares the rows that the hook named with SQLite's count, and continues with the latter. Each statement by itself: rows that one has
/// undone would hide as many of another that were not named.
static void balance(mc_connection *connection, bool has_failed)
{
    mc_change_log *const log = &connection->changes;
    if (!log->is_on || log->pauses > 0)
        return;
    const int64_t changed_rows = sqlite3_total_changes64(connection->db) - log->changes_before;
    // One with OR FAIL keeps the rows before the one that it refuses.
    if (has_failed ? log->named_rows < changed_rows : log->named_rows != changed_rows)
        log->any_table = true;
    log->named_rows = changed_rows;
}

void mc_changes_begin_statement(mc_connection *connection)
{
    balance(connection, false);
}

void mc_changes_end_statement(mc_connection *connection, bool has_failed)
{
    balance(connection, has_failed);
}

void mc_changes_pause(mc_connection *writer)
{
    if (writer->changes.pauses++ == 0)
        writer->changes.changes_at_pause = sqlite3_total_changes64(writer->db);
}

void mc_changes_resume(mc_connection *writer)
{
    if (writer->changes.pauses == 0 || --writer->changes.pauses > 0)
        return;
    writer->changes.changes_before += sqlite3_total_changes64(writer->db) - writer->changes.changes_at_pause;
}

void mc_changes_begin(mc_connection *writer)
{
    mc_pool *pool = writer->pool;
    const bool is_wanted = pool->observers != NULL;
    writer->changes.pauses = 0;
    if (atomic_exchange(&pool->has_new_observers, false)) {
        for (mc_observer *observer = pool->observers; observer != NULL; observer = observer->next)
            observer->is_new = false;
        (void)atomic_fetch_add(&pool->observer_version, 1);
    }
    if (is_wanted != writer->changes.is_on) {
        writer->changes.is_on = is_wanted;
        (void)sqlite3_update_hook(writer->db, is_wanted ? row_changed : NULL, writer);
        writer->changes.sees_before = mc_preupdate_set(writer->db, is_wanted ? row_changes : NULL, writer);
    }
    if (is_wanted)
        forget(writer);
    else
        writer->changes.changes_before = sqlite3_total_changes64(writer->db);  // for an observer that is added meanwhile
}

void mc_changes_close(mc_connection *connection)
{
    mc_change_log *log = &connection->changes;
    for (size_t i = 0; i < log->count; i++) {
        mc_free(log->tables[i].name);
        mc_free(log->tables[i].keys);
    }
    mc_free(log->tables);
}

// ---- Calling -------------------------------------------------------------------------------------------------------------

static int compare_keys(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void sort_keys(mc_changed_table *table)
{
    size_t kept = 0;
    if (table->count == 0)
        return;  // qsort must not be given the NULL of a table without keys
    qsort(table->keys, table->count, sizeof *table->keys, compare_keys);
    for (size_t i = 0; i < table->count; i++) {
        if (kept == 0 || table->keys[kept - 1] != table->keys[i])
            table->keys[kept++] = table->keys[i];
    }
    table->count = kept;
    table->any_key = table->any_key || kept > MC_CHANGED_KEYS_MAXIMUM;
}

/// Locked: removes an ended observer from the list.
static void remove_observer(mc_pool *pool, const mc_observer *observer)
{
    mc_observer **link = &pool->observers;
    while (*link != observer)
        link = &(*link)->next;
    *link = observer->next;
    (void)atomic_fetch_add(&pool->observer_version, 1);
}

static void free_observer(mc_observer *observer)
{
    for (size_t i = 0; i < observer->table_count; i++)
        mc_free(observer->tables[i]);
    mc_free(observer->tables);
    mc_free(observer);
}

/// The changes that one observer gets, in `tables`, which has room for all of them. The record does not have its tables' changes for a
/// transaction that began before the observer was added; it gets `any_table` then.
static mc_changes select_changes(const mc_change_log *log, const mc_observer *observer, mc_table_changes *tables, bool any_table)
{
    mc_changes changes = {.tables = tables, .any_table = any_table || observer->is_new};
    for (size_t i = 0; i < log->count && tables != NULL && !observer->is_new; i++) {
        const mc_changed_table *table = &log->tables[i];
        if (table->is_changed && table->is_watched && wants(observer, table->name))
            tables[changes.table_count++] = (mc_table_changes){
                .table = table->name,
                .keys = table->any_key ? NULL : table->keys,
                .key_count = table->any_key ? 0 : table->count,
                .any_key = table->any_key,
            };
    }
    return changes;
}

static void tell(mc_connection *writer, bool any_table)
{
    mc_pool *pool = writer->pool;
    mc_change_log *log = &writer->changes;
    mc_table_changes *tables = mc_allocate(log->count * sizeof *tables);
    any_table = any_table || (tables == NULL && log->count > 0);  // without memory
    (void)pthread_mutex_lock(&pool->mutex);
    pool->telling_thread = pthread_self();
    for (mc_observer *observer = pool->observers; observer != NULL;) {
        const mc_changes changes = select_changes(log, observer, tables, any_table);
        if (!observer->has_ended && (changes.table_count > 0 || changes.any_table)) {
            observer->is_calling = true;
            (void)pthread_mutex_unlock(&pool->mutex);
            observer->changed(observer->context, &changes);
            (void)pthread_mutex_lock(&pool->mutex);
            observer->is_calling = false;
        }
        // It stays in the list during its call, so `next` is valid.
        mc_observer *next = observer->next;
        (void)pthread_cond_broadcast(&pool->told);
        if (observer->is_garbage) {
            remove_observer(pool, observer);
            free_observer(observer);
        }
        observer = next;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_free(tables);
}

void mc_changes_tell(mc_connection *connection)
{
    mc_change_log *log = &connection->changes;
    const bool has_new_observers = atomic_load_explicit(&connection->pool->has_new_observers, memory_order_relaxed);
    if (log->is_telling || (!log->is_on && !has_new_observers) || sqlite3_get_autocommit(connection->db) == 0)
        return;
    const int64_t changed_rows = sqlite3_total_changes64(connection->db) - log->changes_before;
    if (changed_rows == 0 && log->named_rows == 0 && !log->any_table)
        return;
    bool is_wanted = false;
    for (size_t i = 0; i < log->count; i++) {
        if (log->tables[i].is_changed && log->tables[i].is_watched) {
            sort_keys(&log->tables[i]);
            is_wanted = true;
        }
    }
    const bool any_table = log->any_table || changed_rows != log->named_rows;
    log->is_telling = true;
    if (is_wanted || any_table || has_new_observers)
        tell(connection, any_table);
    log->is_telling = false;
    forget(connection);
}

void mc_changes_tell_within(mc_connection *writer)
{
    // An observer that reads in its call reads on the writer, between two transactions.
    const bool has_transaction = writer->has_transaction;
    writer->has_transaction = false;
    mc_changes_tell(writer);
    writer->has_transaction = has_transaction;
}

// ---- Observers -----------------------------------------------------------------------------------------------------------

static bool copy_tables(mc_observer *observer, const mc_observation *observation)
{
    if (observation->table_count == 0)
        return true;
    observer->tables = mc_allocate_zeroed(observation->table_count, sizeof *observer->tables);
    if (observer->tables == NULL)
        return false;
    observer->table_count = observation->table_count;
    for (size_t i = 0; i < observation->table_count; i++) {
        observer->tables[i] = mc_copy_text(observation->tables[i]);
        if (observer->tables[i] == NULL)
            return false;
    }
    return true;
}

mc_status mc_pool_observe(mc_pool *pool, const mc_observation *observation, mc_observer **out, mc_error *error)
{
    *out = NULL;
    mc_observer *observer = mc_allocate_zeroed(1, sizeof *observer);
    if (observer == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for an observer");
    if (!copy_tables(observer, observation)) {
        free_observer(observer);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for an observer");
    }
    observer->changed = observation->changed;
    observer->context = observation->context;
    observer->is_new = true;
    (void)pthread_mutex_lock(&pool->mutex);
    mc_observer **link = &pool->observers;
    while (*link != NULL)
        link = &(*link)->next;
    *link = observer;
    atomic_store(&pool->has_new_observers, true);
    (void)pthread_mutex_unlock(&pool->mutex);
    *out = observer;
    return MC_OK;
}

void mc_pool_unobserve(mc_pool *pool, mc_observer *observer)
{
    if (observer == NULL)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    observer->has_ended = true;
    if (observer->is_calling && pthread_equal(pool->telling_thread, pthread_self())) {
        observer->is_garbage = true;
    } else {
        while (observer->is_calling)
            (void)pthread_cond_wait(&pool->told, &pool->mutex);
        remove_observer(pool, observer);
        free_observer(observer);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}
