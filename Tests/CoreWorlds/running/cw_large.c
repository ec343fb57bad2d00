/// cw_large.c: large values: writers, readers, removal, and what must be left of them.
///
/// Settings: `w` is the number of a value. Its content is a pattern of this number, so that bytes in a wrong value are
/// seen.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/cw_compare.h"

static cw_value *value_of(cw_run *run, const char *line)
{
    return &run->values[(uint64_t)cw_number(line, "w", 0) % CW_WRITERS];
}

/// Appends `bytes` bytes, or somewhat more: a text ends with a whole character.
static void add_content(const cw_run *run, const cw_value *value, size_t bytes, cw_text *piece)
{
    static const char *const characters[] = {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8C\x8D", "z"};
    const size_t number = (size_t)(value - run->values), end = piece->length + bytes;
    for (size_t at = value->content.length + piece->length; piece->length < end; at++) {
        const char byte = (char)('A' + (int)((number * 7 + at / 1000) % 26));
        if (value->is_text && at % 3 == 0)
            cw_add(piece, "%s", characters[at % 5]);
        else
            cw_add_bytes(piece, &byte, 1);
    }
}

void cw_large_level_ended(cw_run *run, int level, bool is_undone)
{
    for (size_t index = 0; index < CW_WRITERS; index++) {
        cw_value *const value = &run->values[index];
        if (value->stored_level < level || value->stored_level == 0)
            continue;
        if (is_undone) {
            value->is_lost = true;
            cw_meet(run, CW_ROLLED_BACK_WRITER);
        }
        value->stored_level = is_undone ? 0 : level - 1;
    }
}

// ---- Writers
// ----------------------------------------------------------------------------------------------------------

static void open_writer(cw_run *run, cw_value *value, const char *line)
{
    char unit[CW_NAME];
    mc_error error = {0};
    mc_connection *const writer = cw_writer(run);
    // The tables of large values are made outside of a transaction.
    if (value->writer != NULL || value->is_pinned || value->is_finished || writer == NULL || (run->level > 0 && !run->has_large))
        return;
    mc_status status = run->level == 0 ? mc_blob_prepare(writer, &error) : MC_OK;
    cw_text_free(&value->content);
    *value = (cw_value){.is_text = cw_setting(line, "unit", unit, sizeof unit) && strcmp(unit, "text") == 0};
    cw_return_writer(run);
    const mc_blob_writer_options options = {MC_OPTIONS(mc_blob_writer_options), .unit = value->is_text ? MC_BLOB_SCALARS : MC_BLOB_BYTES};
    if (status == MC_OK)
        status = mc_blob_writer_open(run->pool, &options, &value->writer, &error);
    if (status != MC_OK)
        cw_fail(run, "large value", "open: %s", error.message);
    run->has_large = true;
    cw_meet(run, CW_LARGE_VALUE);
}

static void append(cw_run *run, cw_value *value, const char *line)
{
    enum { UNSTORED_MOST = 400000 };
    cw_text piece = {0};
    mc_error error = {0};
    if (value->writer == NULL || value->is_finished)
        return;
    add_content(run, value, (size_t)cw_number(line, "bytes", 1), &piece);
    // A writer stores by itself only bytes that do not fit into its buffer.
    if (value->content.length + piece.length - value->stored_bytes > UNSTORED_MOST) {
        cw_text_free(&piece);
        return;
    }
    const mc_status status = mc_blob_writer_write(value->writer, cw_string(&piece), piece.length, &error);
    if (status == MC_OK)
        cw_add_bytes(&value->content, piece.bytes, piece.length);
    else if (!value->is_lost)
        cw_fail(run, "large value", "append: %s", error.message);
    cw_text_free(&piece);
}

static void note_stored(cw_run *run, cw_value *value)
{
    // Only the part that is stored now can be lost.
    if (value->content.length > value->stored_bytes && run->level > 0 && value->stored_level < run->level)
        value->stored_level = run->level;
    value->stored_bytes = value->content.length;
}

static void flush(cw_run *run, cw_value *value)
{
    mc_error error = {0};
    if (value->writer == NULL || value->is_finished || value->content.length == value->stored_bytes)
        return;
    const mc_status status = mc_blob_writer_flush(value->writer, &error);
    if (value->is_lost && status == MC_OK)
        cw_fail(run, "large value", "flush: a value is continued whose transaction was rolled back");
    else if (!value->is_lost && status != MC_OK)
        cw_fail(run, "large value", "flush: %s", error.message);
    note_stored(run, value);
}

static void finish(cw_run *run, cw_value *value)
{
    mc_error error = {0};
    if (value->writer == NULL || value->is_finished)
        return;
    const mc_status status = mc_blob_writer_finish(value->writer, &value->id, &error);
    if (value->is_lost && status == MC_OK)
        cw_fail(run, "large value", "finish: a value is finished whose transaction was rolled back");
    else if (!value->is_lost && status != MC_OK)
        cw_fail(run, "large value", "finish: %s", error.message);
    value->is_finished = value->is_pinned = status == MC_OK;
    if (run->level > 0)
        value->stored_level = run->level;
    value->stored_bytes = value->content.length;
}

static void free_writer(cw_run *run, cw_value *value)
{
    (void)run;
    mc_blob_writer_free(value->writer);
    value->writer = NULL;
    if (!value->is_finished)
        cw_clear(&value->content);
}

// ---- Rows and readers
// -------------------------------------------------------------------------------------------------

/// Gives a value to a row: its id in the core, its content in the reference.
static void save(cw_run *run, cw_value *value, const char *line)
{
    char table[CW_NAME], column[CW_NAME];
    sqlite3_stmt *statement = NULL;
    mc_error error = {0};
    int64_t changes = 0, expected = 0;
    mc_connection *const writer = cw_writer(run);
    (void)cw_setting(line, "table", table, sizeof table);
    (void)cw_setting(line, "column", column, sizeof column);
    if (!value->is_finished || value->is_saved || value->is_lost || !value->is_pinned || writer == NULL || !cw_is_large(run, table, column))
        return;
    cw_text sql = {0};
    cw_add(&sql, "UPDATE %s SET %s=? WHERE %s", table, column, cw_rest(line));
    int code = sqlite3_prepare_v2(run->reference, sql.bytes, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        (void)(value->is_text ? sqlite3_bind_text(statement, 1, cw_string(&value->content), (int)value->content.length, SQLITE_TRANSIENT)
                              : sqlite3_bind_blob(statement, 1, cw_string(&value->content), (int)value->content.length, SQLITE_TRANSIENT));
        (void)sqlite3_step(statement);
        expected = sqlite3_changes64(run->reference);
        code = sqlite3_finalize(statement);
    }
    cw_clear(&sql);
    cw_add(&sql, "UPDATE %s SET %s=%lld WHERE %s", table, column, (long long)value->id, cw_rest(line));
    const mc_status status = mc_connection_exec(writer, sql.bytes, sql.length, &changes, &error);
    cw_compare_status(run, sql.bytes, status, &error, code);
    if (status == MC_OK && changes != expected)
        cw_fail(run, "changes", "%s: %lld changes instead of %lld", sql.bytes, (long long)changes, (long long)expected);
    value->is_saved = status == MC_OK && changes > 0;
    cw_text_free(&sql);
}

/// Bytes of the first `units` characters.
static size_t bytes_of(const cw_value *value, int64_t units)
{
    size_t at = 0;
    if (!value->is_text)
        return (size_t)units;
    for (; units > 0 && at < value->content.length; units--) {
        at++;
        while (at < value->content.length && ((unsigned char)value->content.bytes[at] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

static void compare_content(cw_run *run, const cw_value *value, mc_blob_reader *reader, const char *line)
{
    const size_t piece = (size_t)cw_number(line, "piece", 5000) + 4, index = (size_t)(value - run->values);
    const mc_blob_description description = mc_blob_reader_description(reader);
    int64_t position = cw_number(line, "seek", 0);
    mc_error error = {0};
    char *const buffer = cw_allocate(piece, 1);
    position = position < description.length ? position : description.length;
    if (description.bytes != (int64_t)value->content.length)
        cw_fail(run, "large value", "value %zu has %lld bytes instead of %zu", index, (long long)description.bytes, value->content.length);
    if (run->kind == NULL && mc_blob_reader_seek(reader, position, &error) != MC_OK)
        cw_fail(run, "large value", "value %zu, seek: %s", index, error.message);
    for (size_t at = run->kind == NULL ? bytes_of(value, position) : 0, length = 1; run->kind == NULL && length > 0; at += length) {
        if (mc_blob_reader_read(reader, buffer, piece, &length, &error) != MC_OK)
            cw_fail(run, "large value", "value %zu, byte %zu: %s", index, at, error.message);
        else if (at + length > value->content.length || memcmp(buffer, cw_string(&value->content) + at, length) != 0)
            cw_fail(run, "large value", "value %zu: other bytes from byte %zu on", index, at);
        else if (length == 0 && at != value->content.length)
            cw_fail(run, "large value", "value %zu ends after %zu bytes instead of %zu", index, at, value->content.length);
    }
    free(buffer);
}

/// Reads a value that a pin keeps. One that was saved may have been dropped with its row: the comparison of the rows
/// reads those.
static void read_value(cw_run *run, cw_value *value, const char *line)
{
    mc_blob_reader *reader = NULL;
    mc_error error = {0};
    if (!value->is_finished || value->is_lost || !value->is_pinned || value->is_saved)
        return;
    if (mc_blob_reader_open(run->pool, value->id, NULL, &reader, &error) != MC_OK)
        cw_fail(run, "large value", "value %zu cannot be read: %s", (size_t)(value - run->values), error.message);
    else
        compare_content(run, value, reader, line);
    mc_blob_reader_free(reader);
}

static void unpin(cw_run *run, cw_value *value)
{
    if (!value->is_pinned)
        return;
    mc_blob_unpin(run->pool, value->id);
    value->is_pinned = false;
    value->is_finished = value->writer != NULL;
    value->is_saved = false;
}

// ---- Removal
// ----------------------------------------------------------------------------------------------------------

static mc_pool *pool_of(cw_run *run, const char *line)
{
    char pool[CW_NAME];
    return cw_setting(line, "pool", pool, sizeof pool) && strcmp(pool, "b") == 0 ? run->other : run->pool;
}

static void drop_unreferenced(cw_run *run, mc_pool *pool)
{
    mc_blob_reference references[CW_LARGE_COLUMNS];
    mc_connection *writer = NULL;
    mc_error error = {0};
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true};
    cw_return_writer(run);
    for (size_t index = 0; index < run->large_count; index++)
        references[index] = (mc_blob_reference){.table = run->large[index].table, .column = run->large[index].column};
    mc_status status = mc_pool_checkout(pool, &checkout, &writer, &error);
    if (status == MC_OK)
        status = mc_blob_prepare(writer, &error);
    if (status == MC_OK)
        status = mc_blob_drop_unreferenced(writer, references, run->large_count, NULL, &error);
    if (writer != NULL)
        mc_pool_return(pool, writer);
    if (status != MC_OK)
        cw_fail(run, "large value", "dropping what is not referenced: %s", error.message);
}

static void collect(cw_run *run, mc_pool *pool)
{
    mc_error error = {0};
    cw_return_writer(run);
    if (mc_blob_collect(pool, NULL, &error) != MC_OK)
        cw_fail(run, "large value", "collecting: %s", error.message);
}

bool cw_step_large(cw_run *run, const char *line)
{
    cw_value *const value = value_of(run, line);
    mc_pool *const pool = pool_of(run, line);
    if (cw_is(line, "write"))
        open_writer(run, value, line);
    else if (cw_is(line, "append"))
        append(run, value, line);
    else if (cw_is(line, "flush"))
        flush(run, value);
    else if (cw_is(line, "finish"))
        finish(run, value);
    else if (cw_is(line, "save"))
        save(run, value, line);
    else if (cw_is(line, "unpin"))
        unpin(run, value);
    else if (cw_is(line, "free"))
        free_writer(run, value);
    else if (cw_is(line, "read"))
        read_value(run, value, line);
    else if (cw_is(line, "unreferenced") && pool != NULL && run->level == 0)
        drop_unreferenced(run, pool);
    else if (cw_is(line, "collect") && pool != NULL && run->level == 0)
        collect(run, pool);
    else
        return cw_is(line, "unreferenced") || cw_is(line, "collect");
    return true;
}

/// The number of values in the rows of the reference.
static int64_t values_in_rows(const cw_run *run)
{
    int64_t count = 0;
    for (size_t index = 0; index < run->large_count; index++) {
        sqlite3_stmt *statement = NULL;
        char *const sql = sqlite3_mprintf("SELECT count(\"%w\") FROM \"%w\"", run->large[index].column, run->large[index].table);
        if (sqlite3_prepare_v2(run->reference, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
            count += sqlite3_column_int64(statement, 0);
        (void)sqlite3_finalize(statement);
        sqlite3_free(sql);
    }
    return count;
}

void cw_large_end(cw_run *run)
{
    sqlite3_stmt *statement = NULL;
    for (size_t index = 0; index < CW_WRITERS && run->kind == NULL; index++) {
        free_writer(run, &run->values[index]);
        unpin(run, &run->values[index]);
    }
    if (!run->has_large || run->kind != NULL)
        return;
    mc_pool_free(run->other);
    run->other = NULL;
    drop_unreferenced(run, run->pool);
    collect(run, run->pool);
    mc_connection *const writer = run->kind == NULL ? cw_writer(run) : NULL;
    if (writer == NULL)
        return;
    cw_compare_databases(run, mc_connection_sqlite(writer));
    if (sqlite3_prepare_v2(mc_connection_sqlite(writer), "SELECT count(*) FROM _mc_value", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) != values_in_rows(run))
        cw_fail(run, "large value", "%lld values are left, and %lld are in rows", sqlite3_column_int64(statement, 0),
                (long long)values_in_rows(run));
    (void)sqlite3_finalize(statement);
    cw_return_writer(run);
}
