/// mc_export_internal.h: an export, as opening and reading see it. Internal to the exporter.
#ifndef MC_EXPORT_INTERNAL_H
#define MC_EXPORT_INTERNAL_H

#include <sqlite3.h>
#include <zlib.h>

#include "base/mc_byte_buffer.h"
#include "export/mc_export_convert.h"
#include "export/mc_export_large.h"
#include "mc_export.h"

enum {
    MC_EXPORT_STAGE_BYTES = 32 * 1024,             // rows are collected up to this size before they are read
    MC_EXPORT_STAGE_MAXIMUM = 2000 * 1000 * 1000,  // longer than any row whose values are within SQLite's default limit
};

/// rows ---last row---> closing bracket written: text complete ---deflated and read---> end. An error: failed.
typedef enum mc_export_state { MC_EXPORT_ROWS, MC_EXPORT_COMPLETE, MC_EXPORT_FAILED } mc_export_state;

struct mc_export {
    sqlite3_stmt *statement;
    mc_export_state state;
    mc_export_format format;
    size_t column_count;
    mc_column *columns;
    mc_byte_buffer *prefixes;  // objects: `{"id":` and `,"name":`; the text before each value
    int64_t rows;
    size_t column;                      // of the statement's current row: the next one to write; 0 between rows
    size_t *ends;                       // of the values of a row that is read by itself; NULL: none was
    sqlite3_value **values;             // of the statement's current row, if it is read by itself; NULL before the first one
    size_t value_count;
    size_t refused;                     // the number of the column from 1 whose value in the last row could not be written; 0: none
    mc_export_large *large;             // the form of the columns' large values; NULL: none is in line
    mc_pool *pool;                      // of these values
    mc_export_large_value *value;       // the large value in progress; NULL: none
    mc_export_conversion *conversions;  // of the columns; NULL: none has one
    mc_export_converted *converted;     // the memory of their values
    mc_export_limit *limits;            // of the columns; NULL: none has one
    mc_row_digest_pass *sums;           // of the rows; NULL: they are not added up
    size_t summed_first, summed_count;

    mc_byte_buffer stage;  // JSON text on its way
    size_t stage_read;     // the number of its bytes that have been taken

    bool deflates, stream_ready, stream_complete;
    z_stream stream;
};

#endif
