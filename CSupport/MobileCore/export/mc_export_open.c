/// mc_export_open.c: opens an export by its options, and frees it.
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "export/mc_export_internal.h"
#include "json/mc_json_append.h"

/// Makes the text before the value of a column.
static mc_status make_prefix(mc_export *rows, size_t column, const char *name, mc_error *error)
{
    size_t bad = 0;
    mc_byte_buffer *const prefix = &rows->prefixes[column];
    prefix->maximum = MC_EXPORT_STAGE_MAXIMUM;
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
    // The others are summed only.
    const bool has_others = options->columns != NULL && options->sums != NULL && options->column_count > 0;
    if (has_others && options->column_count < rows->column_count)
        rows->column_count = options->column_count;
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

static mc_status copy_conversions(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    if (options->conversions == NULL && options->exact == NULL)
        return MC_OK;
    if (options->columns == NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "export: conversions to the types of columns, without types");
    rows->converted = mc_allocate_zeroed(1, sizeof *rows->converted);
    rows->conversions = mc_allocate_zeroed(rows->column_count, sizeof *rows->conversions);
    if (rows->converted == NULL || rows->conversions == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    mc_status status = MC_OK;
    for (size_t column = 0; column < rows->column_count && status == MC_OK; column++) {
        mc_export_conversion *const conversion = &rows->conversions[column];
        conversion->converted = rows->converted;
        conversion->is_exact = options->exact != NULL && options->exact[column];
        status = mc_export_conversion_make(conversion, options->conversions != NULL ? options->conversions[column] : NULL, error);
    }
    return status;
}

static mc_status copy_limits(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    if (options->limits == NULL)
        return MC_OK;
    if (options->columns == NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "export: limits of columns, without types");
    rows->limits = mc_allocate_zeroed(rows->column_count, sizeof *rows->limits);
    if (rows->limits == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    memcpy(rows->limits, options->limits, rows->column_count * sizeof *rows->limits);
    return MC_OK;
}

static mc_status copy_sums(mc_export *rows, const mc_export_options *options, mc_error *error)
{
    const size_t columns = (size_t)sqlite3_column_count(rows->statement);
    rows->sums = options->sums;
    rows->summed_first = options->summed_first;
    rows->summed_count = options->summed_count;
    if (rows->sums != NULL && (rows->summed_first > columns || rows->summed_count > columns - rows->summed_first))
        return mc_fail(error, MC_ERROR_MISUSE, "export: sums of %zu columns from column %zu, the statement has %zu", rows->summed_count,
                       rows->summed_first, columns);
    return MC_OK;
}

mc_status mc_export_open(sqlite3_stmt *statement, const mc_export_options *options, mc_export **out, mc_error *error)
{
    *out = NULL;
    mc_status status = MC_OPTIONS_CHECK(mc_export_options, options, error);
    if (status != MC_OK)
        return status;
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
    rows->stage.maximum = MC_EXPORT_STAGE_MAXIMUM;
    status = copy_rules(rows, options, error);
    if (status == MC_OK)
        status = copy_large(rows, options, error);
    if (status == MC_OK)
        status = copy_conversions(rows, options, error);
    if (status == MC_OK)
        status = copy_limits(rows, options, error);
    if (status == MC_OK)
        status = copy_sums(rows, options, error);
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
    for (size_t column = 0; rows->conversions != NULL && column < rows->column_count; column++)
        mc_export_conversion_free(&rows->conversions[column]);
    mc_free(rows->prefixes);
    mc_free(rows->conversions);
    mc_free(rows->converted);
    mc_free(rows->limits);
    mc_free(rows->columns);
    mc_free(rows->ends);
    mc_free(rows->values);
    mc_free(rows->large);
    mc_export_large_close(rows->value);
    mc_byte_buffer_free(&rows->stage);
    mc_free(rows);
}
