#include "mc_export.h"

#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <zlib.h>

#include "base/mc_memory.h"
#include "export/mc_export_large.h"
#include "rows/mc_stored_value.h"
#include "json/mc_json_append.h"

enum {
    STAGE_BYTES = 32 * 1024,             // rows are collected up to this size before they are read
    STAGE_MAXIMUM = 2000 * 1000 * 1000,  // longer than any row whose values are within SQLite's default limit
};

/// rows ---last row---> closing bracket written: text complete ---deflated and read---> end. An error: failed.
typedef enum export_state { STATE_ROWS, STATE_COMPLETE, STATE_FAILED } export_state;

struct mc_export {
    sqlite3_stmt *statement;
    export_state state;
    mc_export_format format;
    size_t column_count;
    mc_column *columns;
    mc_byte_buffer *prefixes;  // objects: `{"id":` and `,"name":`; the text before each value
    int64_t rows;
    size_t column;           // of the statement's current row: the next one to write; 0 between rows
    size_t *ends;            // of the values of a row that is read by itself; NULL: none was
    size_t refused;          // the number of the column from 1 whose value could not be written; 0: none
    mc_export_large *large;  // the form of the columns' large values; NULL: none is in line
    mc_pool *pool;
    mc_export_large_value *value;  // the large value in progress; NULL: none

    mc_byte_buffer stage;  // JSON text on its way
    size_t stage_read;     // the number of its bytes that have been taken

    bool deflates, stream_ready, stream_complete;
    z_stream stream;
};

/// Makes the text before the value of a column.
static mc_status make_prefix(mc_export *rows, size_t column, const char *name, mc_error *error)
{
    size_t bad = 0;
    mc_byte_buffer *const prefix = &rows->prefixes[column];
    prefix->maximum = STAGE_MAXIMUM;
    mc_status status = mc_byte_buffer_append(prefix, column == 0 ? "{" : ",", 1);
    if (status == MC_OK)
        status = mc_json_append_string(prefix, name, strlen(name), &bad);
    if (status == MC_OK)
        status = mc_byte_buffer_append(prefix, ":", 1);
    return status == MC_OK ? MC_OK : mc_fail(error, status, "export: no JSON key can be made of the name of column %zu", column + 1);
}

static mc_status make_prefixes(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    rows->prefixes = mc_allocate_zeroed(rows->column_count, sizeof *rows->prefixes);
    if (rows->prefixes == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    for (size_t column = 0; column < rows->column_count; column++) {
        const char *const name =
            options->columns != NULL ? options->columns[column].name : sqlite3_column_name(rows->statement, (int)column);
        if (name == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
        const mc_status status = make_prefix(rows, column, name, error);
        if (status != MC_OK)
            return status;
        for (size_t other = 0; other < column; other++) {
            const mc_byte_buffer *const a = &rows->prefixes[other], *const b = &rows->prefixes[column];
            // The first byte is a brace or a comma.
            if (a->length == b->length && memcmp(a->bytes + 1, b->bytes + 1, a->length - 1) == 0)
                return mc_fail(error, MC_ERROR_MISUSE, "export: two columns are named \"%.80s\"; row objects need different names", name);
        }
    }
    return MC_OK;
}

static mc_status copy_rules(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    if (options->columns != NULL && options->column_count != rows->column_count)
        return mc_fail(error, MC_ERROR_MISUSE, "export: rules for %zu columns, the statement has %zu", options->column_count,
                       rows->column_count);
    rows->columns = mc_allocate_zeroed(rows->column_count, sizeof *rows->columns);
    if (rows->columns == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    for (size_t column = 0; options->columns != NULL && column < rows->column_count; column++) {
        const mc_column *const rule = &options->columns[column];
        if (rule->type == MC_COLUMN_DECIMAL && rule->precision <= MC_DECIMAL_SCALED_PRECISION && rule->scale > MC_DECIMAL_SCALED_PRECISION)
            return mc_fail(error, MC_ERROR_MISUSE, "export, column \"%.80s\": a scale of %u", rule->name, rule->scale);
        rows->columns[column] = *rule;
        rows->columns[column].name = "";  // the prefixes have the name; the caller's copy is not kept
    }
    return MC_OK;
}

static mc_status copy_large(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    bool in_line = false;
    for (size_t column = 0; options->large != NULL && column < rows->column_count; column++)
        in_line = in_line || options->large[column] != MC_EXPORT_LARGE_REFERENCE;
    if (!in_line)
        return MC_OK;
    if (options->pool == NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "export: large values in line need the pool that they are in");
    rows->pool = options->pool;
    rows->large = mc_allocate_zeroed(rows->column_count, sizeof *rows->large);
    if (rows->large == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    memcpy(rows->large, options->large, rows->column_count * sizeof *rows->large);
    return MC_OK;
}

mc_status mc_export_open(sqlite3_stmt *statement, const mc_export_options *options, mc_export **out, mc_error *error)
{
    *out = NULL;
    const int column_count = sqlite3_column_count(statement);
    if (column_count < 1)
        return mc_fail(error, MC_ERROR_MISUSE, "export: the statement gives no rows");
    if (options->deflate_level < 0 || options->deflate_level > 9)
        return mc_fail(error, MC_ERROR_MISUSE, "export: level %d; use 0 (plain), or 1 (fast) to 9 (small)", options->deflate_level);
    mc_export *const rows = mc_allocate_zeroed(1, sizeof *rows);
    if (rows == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    rows->statement = statement;
    rows->format = options->format;
    rows->column_count = (size_t)column_count;
    rows->stage.maximum = STAGE_MAXIMUM;
    mc_status status = copy_rules(rows, options, error);
    if (status == MC_OK)
        status = copy_large(rows, options, error);
    if (status == MC_OK && options->format == MC_EXPORT_OBJECTS)
        status = make_prefixes(rows, options, error);
    if (status == MC_OK && options->deflate_level > 0) {
        rows->deflates = true;
        rows->stream.zalloc = mc_zlib_allocate;
        rows->stream.zfree = mc_zlib_free;
        rows->stream_ready = deflateInit(&rows->stream, options->deflate_level) == Z_OK;
        if (!rows->stream_ready)
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory for deflating");
    }
    if (status == MC_OK && mc_byte_buffer_append(&rows->stage, "[", 1) != MC_OK)
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    if (status == MC_OK)
        *out = rows;
    else
        mc_export_free(rows);
    return status;
}

void mc_export_free(mc_export *rows)
{
    if (rows == NULL)
        return;
    (void)sqlite3_reset(rows->statement);
    if (rows->stream_ready)
        (void)deflateEnd(&rows->stream);
    for (size_t column = 0; rows->prefixes != NULL && column < rows->column_count; column++)
        mc_byte_buffer_free(&rows->prefixes[column]);
    mc_free(rows->prefixes);
    mc_free(rows->columns);
    mc_free(rows->ends);
    mc_free(rows->large);
    mc_export_large_close(rows->value);
    mc_byte_buffer_free(&rows->stage);
    mc_free(rows);
}

int64_t mc_export_rows(const mc_export *rows)
{
    return rows->rows;
}

size_t mc_export_refused_column(const mc_export *rows)
{
    return rows->refused;
}

static mc_status fail_value(const mc_export *rows, mc_status status, size_t column, const char *problem, mc_error *error)
{
    const char *const name = sqlite3_column_name(rows->statement, (int)column);
    const int64_t row = rows->rows + 1;
    return mc_fail_at(error, status, -1, row, "export, row %" PRId64 ", column \"%.80s\": %s", row, name != NULL ? name : "", problem);
}

/// Appends the value of a column. Of a large value it appends the beginning: the rest follows as the stage is emptied.
static mc_status append_value(mc_export *rows, size_t column, mc_error *error)
{
    const char *problem = "no memory for its text";
    const mc_column *const rule = &rows->columns[column];
    sqlite3_value *const stored = sqlite3_column_value(rows->statement, (int)column);
    mc_stored value;
    if (rows->large != NULL && rows->large[column] != MC_EXPORT_LARGE_REFERENCE && sqlite3_value_type(stored) == SQLITE_INTEGER)
        return mc_export_large_open(rows->pool, sqlite3_value_int64(stored), rows->large[column], &rows->value, error);
    const mc_status status =
        mc_stored_from_value(stored, rule->type, &value) ? mc_json_append_stored(&rows->stage, &value, rule, &problem) : MC_ERROR_NO_MEMORY;
    return status == MC_OK ? MC_OK : fail_value(rows, status, column, problem, error);
}

/// Continues the open large value, up to a full stage.
static mc_status append_large(mc_export *rows, mc_error *error)
{
    bool at_end = false;
    mc_status status = MC_OK;
    while (status == MC_OK && !at_end && rows->stage.length < STAGE_BYTES)
        status = mc_export_large_append(rows->value, &rows->stage, &at_end, error);
    if (status != MC_OK || at_end) {
        mc_export_large_close(rows->value);
        rows->value = NULL;
    }
    return status;
}

/// Appends the statement's current row from its next column on. A large value may fill the stage before the row's end.
static mc_status append_row(mc_export *rows, mc_error *error)
{
    mc_byte_buffer *const stage = &rows->stage;
    const bool arrays = rows->format == MC_EXPORT_ARRAYS;
    mc_status status = rows->column > 0 || rows->rows == 0 ? MC_OK : mc_byte_buffer_append(stage, ",\n", 2);
    while (rows->column < rows->column_count && status == MC_OK && rows->value == NULL) {
        const size_t column = rows->column++;
        status = arrays ? mc_byte_buffer_append(stage, column == 0 ? "[" : ",", 1)
                        : mc_byte_buffer_append(stage, rows->prefixes[column].bytes, rows->prefixes[column].length);
        if (status != MC_OK)
            break;
        status = append_value(rows, column, error);
        if (status == MC_OK && rows->value != NULL)
            status = append_large(rows, error);
        if (status != MC_OK)
            return status;
    }
    if (rows->value != NULL)
        return MC_OK;
    if (status == MC_OK)
        status = mc_byte_buffer_append(stage, arrays ? "]" : "}", 1);
    if (status != MC_OK)
        return mc_fail(error, status, "export, row %" PRId64 ": no memory for its text", rows->rows + 1);
    rows->rows++;
    rows->column = 0;
    return MC_OK;
}

/// Continues the row whose large value had filled the stage.
static mc_status resume_row(mc_export *rows, mc_error *error)
{
    const mc_status status = append_large(rows, error);
    return status == MC_OK && rows->value == NULL ? append_row(rows, error) : status;
}

/// Fills the stage with rows, and with the closing bracket after the last row.
static mc_status fill_stage(mc_export *rows, mc_error *error)
{
    while (rows->state == STATE_ROWS && rows->stage.length < STAGE_BYTES) {
        if (rows->value != NULL) {
            const mc_status resumed = resume_row(rows, error);
            if (resumed != MC_OK)
                return resumed;
            continue;
        }
        const int step = sqlite3_step(rows->statement);
        mc_status status = MC_OK;
        if (step == SQLITE_ROW) {
            status = append_row(rows, error);
        } else if (step == SQLITE_DONE) {
            rows->state = STATE_COMPLETE;
            status = mc_byte_buffer_append(&rows->stage, "]", 1);
            if (status != MC_OK)
                status = mc_fail(error, status, "export: no memory");
        } else {
            sqlite3 *const db = sqlite3_db_handle(rows->statement);
            status = mc_fail_sqlite(error, db, sqlite3_extended_errcode(db), "export, row %" PRId64, rows->rows + 1);
        }
        if (status != MC_OK)
            return status;
    }
    return MC_OK;
}

/// Ensures that the stage has text to take, unless the whole text was taken.
static mc_status provide(mc_export *rows, mc_error *error)
{
    if (rows->stage_read < rows->stage.length || rows->state == STATE_COMPLETE)
        return MC_OK;
    rows->stage.length = rows->stage_read = 0;
    return fill_stage(rows, error);
}

static mc_status read_plain(mc_export *rows, uint8_t *buffer, size_t capacity, size_t *length, mc_error *error)
{
    while (*length < capacity) {
        const mc_status status = provide(rows, error);
        if (status != MC_OK)
            return status;
        const size_t here = rows->stage.length - rows->stage_read, room = capacity - *length, taken = here < room ? here : room;
        if (taken == 0)
            return MC_OK;
        memcpy(buffer + *length, rows->stage.bytes + rows->stage_read, taken);
        rows->stage_read += taken;
        *length += taken;
    }
    return MC_OK;
}

static mc_status read_deflated(mc_export *rows, uint8_t *buffer, size_t capacity, size_t *length, mc_error *error)
{
    z_stream *const stream = &rows->stream;
    while (*length < capacity && !rows->stream_complete) {
        const mc_status status = provide(rows, error);
        if (status != MC_OK)
            return status;
        const size_t here = rows->stage.length - rows->stage_read, room = capacity - *length;
        const uInt output = room < INT_MAX ? (uInt)room : INT_MAX;
        stream->next_in = rows->stage.bytes + rows->stage_read;
        stream->avail_in = here < INT_MAX ? (uInt)here : INT_MAX;
        stream->next_out = buffer + *length;
        stream->avail_out = output;
        const uInt input = stream->avail_in;
        const int result = deflate(stream, here == 0 ? Z_FINISH : Z_NO_FLUSH);
        if (result == Z_STREAM_ERROR)
            return mc_fail(error, MC_ERROR_CORRUPT, "export: the deflated stream's state is damaged");
        rows->stage_read += input - stream->avail_in;
        *length += output - stream->avail_out;
        rows->stream_complete = result == Z_STREAM_END;
    }
    return MC_OK;
}

/// Appends the values of the statement's current row, and notes where each of them ends.
static mc_status append_values(mc_export *rows, mc_error *error)
{
    mc_byte_buffer *const stage = &rows->stage;
    stage->length = 0;
    for (size_t column = 0; column < rows->column_count; column++) {
        mc_status status = column == 0 ? MC_OK : mc_byte_buffer_append(stage, ",", 1);
        if (status != MC_OK)
            return mc_fail(error, status, "export, row %" PRId64 ": no memory for its text", rows->rows + 1);
        status = append_value(rows, column, error);
        if (status != MC_OK) {
            rows->refused = column + 1;
            return status;
        }
        rows->ends[column] = stage->length;
    }
    rows->rows++;
    return MC_OK;
}

static mc_status next_row(mc_export *rows, bool *has_row, mc_error *error)
{
    if (rows->ends == NULL) {
        if (rows->format != MC_EXPORT_ARRAYS || rows->deflates || rows->large != NULL)
            return mc_fail(error, MC_ERROR_MISUSE, "export: rows one by one are arrays, plain, and without large values in line");
        if (rows->stage_read > 0 || rows->rows > 0 || rows->state == STATE_COMPLETE)
            return mc_fail(error, MC_ERROR_MISUSE, "export: it is read in pieces already");
        rows->ends = mc_allocate_zeroed(rows->column_count, sizeof *rows->ends);
        if (rows->ends == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    }
    if (rows->state == STATE_COMPLETE)
        return MC_OK;
    const int step = sqlite3_step(rows->statement);
    if (step == SQLITE_ROW) {
        *has_row = true;
        return append_values(rows, error);
    }
    if (step == SQLITE_DONE) {
        rows->state = STATE_COMPLETE;
        return MC_OK;
    }
    sqlite3 *const db = sqlite3_db_handle(rows->statement);
    return mc_fail_sqlite(error, db, sqlite3_extended_errcode(db), "export, row %" PRId64, rows->rows + 1);
}

static mc_status fail_after_error(mc_error *error)
{
    return mc_fail(error, MC_ERROR_MISUSE, "export: it was read after an error");
}

static void note_failure(mc_export *rows)
{
    rows->state = STATE_FAILED;
    // A statement on the row of a refused value stays there, so that its values can describe the row.
    if (rows->refused == 0)
        (void)sqlite3_reset(rows->statement);
}

mc_status mc_export_next_row(mc_export *rows, mc_export_row *row, bool *has_row, mc_error *error)
{
    *row = (mc_export_row){NULL, 0, NULL, rows->column_count};
    *has_row = false;
    if (rows->state == STATE_FAILED)
        return fail_after_error(error);
    const mc_status status = next_row(rows, has_row, error);
    if (status != MC_OK) {
        *has_row = false;
        note_failure(rows);
    } else if (*has_row) {
        *row = (mc_export_row){rows->stage.bytes, rows->stage.length, rows->ends, rows->column_count};
    }
    return status;
}

mc_status mc_export_read(mc_export *rows, void *buffer, size_t capacity, size_t *length, mc_error *error)
{
    *length = 0;
    if (rows->state == STATE_FAILED)
        return fail_after_error(error);
    if (rows->ends != NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "export: it is read row by row already");
    const mc_status status =
        rows->deflates ? read_deflated(rows, buffer, capacity, length, error) : read_plain(rows, buffer, capacity, length, error);
    if (status != MC_OK) {
        note_failure(rows);
        *length = 0;
    }
    return status;
}
