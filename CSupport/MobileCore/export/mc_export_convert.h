/// mc_export_convert.h: stored values in the form of their column's type. Internal to the exporter.
#ifndef MC_EXPORT_CONVERT_H
#define MC_EXPORT_CONVERT_H

#include <sqlite3.h>

#include "json/mc_exact_internal.h"
#include "json/mc_plain_time_internal.h"
#include "rows/mc_stored_value.h"

/// The memory of a value that was converted without SQL: one at a time.
typedef union mc_export_converted {
    mc_plain_time time;
    mc_exact_number number;
} mc_export_converted;

/// The conversion of a column.
typedef struct mc_export_conversion {
    bool is_exact;                   // numbers are converted by the core
    char *sql;                       // an expression of ?1; NULL: other values are written as they are stored
    sqlite3_stmt *statement;         // that gives it; NULL before the first value that needs it
    bool is_running;                 // the statement has the present value
    mc_export_converted *converted;  // of all columns, borrowed
} mc_export_conversion;

/// Gives a conversion a copy of `sql`, which may be NULL. It goes to `mc_export_conversion_free`. Fails with MC_ERROR_NO_MEMORY.
mc_status mc_export_conversion_make(mc_export_conversion *conversion, const char *sql, mc_error *error);

/// The place of a value.
typedef struct mc_export_place {
    sqlite3_stmt *statement;
    size_t column;
    int64_t row;  // from 1
} mc_export_place;

/// Brings a value to the form of its type. `*out` is valid until `mc_export_conversion_end`, and as long as `stored`.
/// Fails with MC_ERROR_NO_MEMORY, and as SQLite does.
mc_status mc_export_convert(mc_export_conversion *conversion, const mc_export_place *place, sqlite3_value *stored, const mc_column *rule,
                            mc_stored *out, mc_error *error);

/// Ends the use of a converted value.
void mc_export_conversion_end(mc_export_conversion *conversion);

void mc_export_conversion_free(mc_export_conversion *conversion);

#endif
