/// mc_export.c: reads an export, in pieces or row by row.
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "export/mc_export_internal.h"
#include "export/mc_export_limit.h"
#include "json/mc_json_append.h"

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
static mc_status append_value(mc_export *rows, size_t column, sqlite3_value *stored, mc_error *error)
{
    const char *problem = "no memory for its text";
    const mc_column *const rule = &rows->columns[column];
    mc_stored value;
    if (rows->large != NULL && rows->large[column] != MC_EXPORT_LARGE_REFERENCE && sqlite3_value_type(stored) == SQLITE_INTEGER)
        return mc_export_large_open(rows->pool, sqlite3_value_int64(stored), rows->large[column], &rows->value, error);
    mc_export_conversion *const conversion = rows->conversions != NULL ? &rows->conversions[column] : NULL;
    const bool converts = conversion != NULL && (conversion->is_exact || conversion->sql != NULL);
    mc_status status = MC_OK;
    if (converts) {
        const mc_export_place place = {rows->statement, column, rows->rows + 1};
        status = mc_export_convert(conversion, &place, stored, rule, &value, error);
        if (status != MC_OK) {
            mc_export_conversion_end(conversion);
            return status;
        }
    } else if (!mc_stored_from_value(stored, rule->type, &value)) {
        status = MC_ERROR_NO_MEMORY;
    }
    // A plain time has its form: SQL did not run for it.
    const bool is_plain_time = converts && !conversion->is_running && rule->type >= MC_COLUMN_DATE && rule->type <= MC_COLUMN_DATE_TIME;
    if (status == MC_OK && rows->limits != NULL && !(is_plain_time && value.storage == SQLITE_TEXT) &&
        !mc_export_limit_holds(&rows->limits[column], &value, rule->type))
        status = mc_export_limit_check(&rows->limits[column], &value, rule->type, &problem);
    if (status == MC_OK)
        status = mc_json_append_stored(&rows->stage, &value, rule, &problem);
    if (converts)
        mc_export_conversion_end(conversion);
    return status == MC_OK ? MC_OK : fail_value(rows, status, column, problem, error);
}

/// Continues the open large value, up to a full stage.
static mc_status append_large(mc_export *rows, mc_error *error)
{
    bool at_end = false;
    mc_status status = MC_OK;
    while (status == MC_OK && !at_end && rows->stage.length < MC_EXPORT_STAGE_BYTES)
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
        status = append_value(rows, column, sqlite3_column_value(rows->statement, (int)column), error);
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
    while (rows->state == MC_EXPORT_ROWS && rows->stage.length < MC_EXPORT_STAGE_BYTES) {
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
            rows->state = MC_EXPORT_COMPLETE;
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
    if (rows->stage_read < rows->stage.length || rows->state == MC_EXPORT_COMPLETE)
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
    rows->refused = 0;
    for (size_t column = 0; column < rows->value_count; column++)
        rows->values[column] = sqlite3_column_value(rows->statement, (int)column);
    // First, while the values are as they are stored: their conversion to text changes them in place.
    if (rows->sums != NULL) {
        const mc_status summed =
            mc_row_digest_pass_add(rows->sums, rows->values[0], rows->values + rows->summed_first, rows->summed_count, error);
        if (summed != MC_OK)
            return summed;
    }
    for (size_t column = 0; column < rows->column_count; column++) {
        mc_status status = column == 0 ? MC_OK : mc_byte_buffer_append(stage, ",", 1);
        if (status != MC_OK)
            return mc_fail(error, status, "export, row %" PRId64 ": no memory for its text", rows->rows + 1);
        status = append_value(rows, column, rows->values[column], error);
        if (status == MC_ERROR_TYPE || status == MC_ERROR_CORRUPT || status == MC_ERROR_LIMIT)
            rows->refused = column + 1;
        if (status != MC_OK)
            return status;
        rows->ends[column] = stage->length;
    }
    rows->rows++;
    return MC_OK;
}

/// Makes room for the values of rows. The first step has compiled the statement once more if the schema was changed since its preparation, and
/// `SELECT *` may have other columns then.
static mc_status prepare_values(mc_export *rows, mc_error *error)
{
    const size_t count = (size_t)sqlite3_data_count(rows->statement), summed = rows->summed_first + rows->summed_count;
    if (count < rows->column_count || (rows->sums != NULL && count < summed))
        return mc_fail(error, MC_ERROR_MISUSE, "export: the schema was changed, and the statement has %zu columns now", count);
    rows->values = mc_allocate_zeroed(count, sizeof(sqlite3_value *));
    if (rows->values == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    rows->value_count = count;
    return MC_OK;
}

static mc_status next_row(mc_export *rows, bool *has_row, mc_error *error)
{
    if (rows->ends == NULL) {
        if (rows->format != MC_EXPORT_ARRAYS || rows->deflates || rows->large != NULL)
            return mc_fail(error, MC_ERROR_MISUSE, "export: rows one by one are arrays, plain, and without large values in line");
        if (rows->stage_read > 0 || rows->rows > 0 || rows->state == MC_EXPORT_COMPLETE)
            return mc_fail(error, MC_ERROR_MISUSE, "export: it is read in pieces already");
        rows->ends = mc_allocate_zeroed(rows->column_count, sizeof *rows->ends);
        if (rows->ends == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    }
    if (rows->state == MC_EXPORT_COMPLETE)
        return MC_OK;
    const int step = sqlite3_step(rows->statement);
    if (step == SQLITE_ROW) {
        *has_row = true;
        const mc_status status = rows->values != NULL ? MC_OK : prepare_values(rows, error);
        return status == MC_OK ? append_values(rows, error) : status;
    }
    if (step == SQLITE_DONE) {
        rows->state = MC_EXPORT_COMPLETE;
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
    rows->state = MC_EXPORT_FAILED;
    (void)sqlite3_reset(rows->statement);
}

mc_status mc_export_next_row(mc_export *rows, mc_export_row *row, bool *has_row, mc_error *error)
{
    *row = (mc_export_row){NULL, 0, NULL, rows->column_count};
    *has_row = false;
    if (rows->state == MC_EXPORT_FAILED)
        return fail_after_error(error);
    const mc_status status = next_row(rows, has_row, error);
    if (status != MC_OK) {
        *has_row = false;
        // The statement stays on the row of a refused value, so that its values can describe the row.
        if (rows->refused == 0)
            note_failure(rows);
    } else if (*has_row) {
        *row = (mc_export_row){rows->stage.bytes, rows->stage.length, rows->ends, rows->column_count};
    }
    return status;
}

mc_status mc_export_read(mc_export *rows, void *buffer, size_t capacity, size_t *length, mc_error *error)
{
    *length = 0;
    if (rows->state == MC_EXPORT_FAILED)
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
