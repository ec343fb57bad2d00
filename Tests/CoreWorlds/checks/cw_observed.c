/// cw_observed.c: the observers of the pool, and the changes that had to be reported to them.
///
/// The reference's rows are compared with those at the last commit: each row that differs must have been reported.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/cw_compare.h"

typedef struct row_state {
    int64_t rowid;  // the digest of the row without a rowid
    uint64_t digest;
} row_state;

typedef struct table_state {
    char *name, *sql;
    bool has_rowid;
    row_state *rows;
    size_t row_count;
} table_state;

struct cw_state {
    table_state *tables;
    size_t count;
};

// ---- The state
// --------------------------------------------------------------------------------------------------------

static void free_state(struct cw_state *state)
{
    for (size_t index = 0; state != NULL && index < state->count; index++) {
        free(state->tables[index].name);
        free(state->tables[index].sql);
        free(state->tables[index].rows);
    }
    if (state != NULL)
        free(state->tables);
    free(state);
}

static uint64_t row_digest(sqlite3_stmt *rows)
{
    uint64_t digest = CW_DIGEST;
    for (int column = 0; column < sqlite3_column_count(rows); column++) {
        const int type = sqlite3_column_type(rows, column);
        const void *const bytes = sqlite3_column_blob(rows, column);
        digest = cw_digest(digest, &type, sizeof type);
        digest = cw_digest(digest, bytes, (size_t)sqlite3_column_bytes(rows, column));
    }
    return digest;
}

static void read_table(sqlite3 *db, table_state *table)
{
    size_t capacity = 0;
    sqlite3_stmt *rows = NULL;
    char *const sql = cw_rows_sql(db, "main", table->name, &table->has_rowid);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK) {
        while (sqlite3_step(rows) == SQLITE_ROW) {
            if (table->row_count == capacity) {
                capacity = capacity * 2 + 16;
                table->rows = cw_grow(table->rows, capacity, sizeof *table->rows);
            }
            const uint64_t digest = row_digest(rows);
            table->rows[table->row_count++] =
                (row_state){.rowid = table->has_rowid ? sqlite3_column_int64(rows, 0) : 0, .digest = digest};
        }
    }
    (void)sqlite3_finalize(rows);
    sqlite3_free(sql);
}

static struct cw_state *read_state(sqlite3 *db)
{
    struct cw_state *const state = cw_allocate(1, sizeof *state);
    sqlite3_stmt *tables = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT name, sql FROM main.sqlite_schema WHERE type='table' AND name NOT GLOB 'sqlite_*' "
                           "AND name NOT GLOB '_mc_*'",
                           -1, &tables, NULL)
        == SQLITE_OK) {
        while (sqlite3_step(tables) == SQLITE_ROW) {
            const char *const name = (const char *)sqlite3_column_text(tables, 0),
                              *const sql = (const char *)sqlite3_column_text(tables, 1);
            state->tables = cw_grow(state->tables, state->count + 1, sizeof *state->tables);
            state->tables[state->count] =
                (table_state){.name = cw_copy(name, strlen(name)), .sql = cw_copy(sql, strlen(sql))};
            read_table(db, &state->tables[state->count++]);
        }
    }
    (void)sqlite3_finalize(tables);
    return state;
}

// ---- The observers
// ----------------------------------------------------------------------------------------------------

static bool wants(const cw_observer *observer, const char *table)
{
    char element[CW_NAME];
    const char *at = observer->tables;
    while (cw_next_element(&at, element, sizeof element)) {
        if (sqlite3_stricmp(element, table) == 0)
            return true;
    }
    return observer->tables[0] == '\0';
}

static void note(cw_observer *observer, const char *table, int64_t key, bool any_key)
{
    if (observer->count == observer->capacity) {
        observer->capacity = observer->capacity * 2 + 16;
        observer->reported = cw_grow(observer->reported, observer->capacity, sizeof *observer->reported);
    }
    cw_reported *const reported = &observer->reported[observer->count++];
    *reported = (cw_reported){.key = key, .any_key = any_key};
    (void)snprintf(reported->table, sizeof reported->table, "%s", table);
}

static void changed(void *context, const mc_changes *changes)
{
    cw_observer *const observer = context;
    observer->calls++;
    observer->any_table = observer->any_table || changes->any_table;
    for (size_t index = 0; index < changes->table_count; index++) {
        const mc_table_changes *const table = &changes->tables[index];
        observer->is_unwanted = observer->is_unwanted || !wants(observer, table->table);
        if (table->any_key)
            note(observer, table->table, 0, true);
        for (size_t key = 0; key < table->key_count; key++)
            note(observer, table->table, table->keys[key], false);
    }
}

static void end_observer(cw_run *run, cw_observer *observer)
{
    if (observer->observer != NULL)
        mc_pool_unobserve(run->pool, observer->observer);
    free(observer->reported);
    *observer = (cw_observer){0};
}

void cw_observers_end(cw_run *run)
{
    for (size_t index = 0; index < CW_OBSERVERS; index++)
        end_observer(run, &run->observers[index]);
    free_state(run->state);
    run->state = NULL;
}

void cw_step_observe(cw_run *run, const char *line)
{
    cw_observer *const observer = &run->observers[(uint64_t)cw_number(line, "n", 0) % CW_OBSERVERS];
    const char *names[8];
    char list[CW_PATH], elements[8][CW_NAME];
    size_t count = 0;
    mc_error error = {0};
    if (cw_is(line, "unobserve") || observer->observer != NULL || run->level > 0) {
        if (cw_is(line, "unobserve"))
            end_observer(run, observer);
        return;
    }
    (void)cw_setting(line, "tables", list, sizeof list);
    for (const char *at = list; count < 8 && cw_next_element(&at, elements[count], CW_NAME); count++)
        names[count] = elements[count];
    (void)snprintf(observer->tables, sizeof observer->tables, "%s", list);
    const mc_observation observation = {
        .tables = count > 0 ? names : NULL, .table_count = count, .changed = changed, .context = observer};
    if (mc_pool_observe(run->pool, &observation, &observer->observer, &error) != MC_OK)
        cw_fail(run, "status", "observe: %s", error.message);
    cw_meet(run, CW_OBSERVER);
}

// ---- The comparison
// ---------------------------------------------------------------------------------------------------

static bool is_reported(const cw_observer *observer, const char *table, int64_t key)
{
    for (size_t index = 0; index < observer->count; index++) {
        const cw_reported *const reported = &observer->reported[index];
        if (sqlite3_stricmp(reported->table, table) == 0 && (reported->any_key || reported->key == key))
            return true;
    }
    return observer->any_table;
}

static void require(cw_run *run, const table_state *table, int64_t rowid, const char *what)
{
    for (size_t index = 0; index < CW_OBSERVERS && run->kind == NULL; index++) {
        const cw_observer *const observer = &run->observers[index];
        if (observer->observer != NULL && wants(observer, table->name) && !is_reported(observer, table->name, rowid))
            cw_fail(run, "observer", "observer %zu is not told that row %lld of %s was %s", index, (long long)rowid,
                    table->name, what);
    }
}

/// Compares two states of a table; both are in the order of rowids.
static void compare_table(cw_run *run, const table_state *before, const table_state *after)
{
    size_t left = 0, right = 0;
    if (!before->has_rowid) {
        bool is_same = before->row_count == after->row_count;
        for (size_t row = 0; is_same && row < before->row_count; row++)
            is_same = before->rows[row].digest == after->rows[row].digest;
        for (size_t index = 0; !is_same && index < CW_OBSERVERS; index++) {
            const cw_observer *const observer = &run->observers[index];
            if (observer->observer != NULL && !observer->any_table)
                cw_fail(run, "observer", "observer %zu is not told that %s, which has no rowids, was changed", index,
                        before->name);
        }
        return;
    }
    while ((left < before->row_count || right < after->row_count) && run->kind == NULL) {
        const row_state *const old = left < before->row_count ? &before->rows[left] : NULL,
                               *const new = right < after->row_count ? &after->rows[right] : NULL;
        if (old != NULL && (new == NULL || old->rowid < new->rowid)) {
            require(run, after, old->rowid, "deleted");
            left++;
        } else if (new != NULL && (old == NULL || new->rowid < old->rowid)) {
            require(run, after, new->rowid, "inserted");
            right++;
        } else if (old != NULL && new != NULL) {
            if (old->digest != new->digest)
                require(run, after, new->rowid, "updated");
            left++;
            right++;
        }
    }
}

static const table_state *find(const struct cw_state *state, const char *name)
{
    for (size_t index = 0; index < state->count; index++) {
        if (strcmp(state->tables[index].name, name) == 0)
            return &state->tables[index];
    }
    return NULL;
}

void cw_check_observers(cw_run *run)
{
    bool observes = false;
    for (size_t index = 0; index < CW_OBSERVERS; index++)
        observes = observes || run->observers[index].observer != NULL;
    if (!observes) {
        free_state(run->state);
        run->state = NULL;
    }
    if (!observes || sqlite3_get_autocommit(run->reference) == 0)
        return;
    struct cw_state *const state = read_state(run->reference);
    for (size_t index = 0; run->state != NULL && index < state->count; index++) {
        const table_state *const before = find(run->state, state->tables[index].name);
        // The rows of a changed table differ without being changed.
        if (before != NULL && strcmp(before->sql, state->tables[index].sql) == 0)
            compare_table(run, before, &state->tables[index]);
    }
    for (size_t index = 0; index < CW_OBSERVERS; index++) {
        cw_observer *const observer = &run->observers[index];
        if (observer->is_unwanted)
            cw_fail(run, "observer", "observer %zu is told of a table that it does not observe", index);
        observer->count = 0;
        observer->calls = 0;
        observer->any_table = false;
    }
    free_state(run->state);
    run->state = state;
}
