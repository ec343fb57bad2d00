/// mc_exact_internal.h: registers exact conversions with a connection, and makes them without SQL. Internal.
#ifndef MC_EXACT_INTERNAL_H
#define MC_EXACT_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mc_error.h"

/// Registers the functions of `mc_exact.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_exact_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

enum {
    MC_EXACT_SCALE_MAXIMUM = 1000,  // of a column, and the maximum of its digits before the point
    MC_EXACT_TEXT_SIZE = 2500,      // bytes of the longest decimal as text
};

/// The result of a conversion.
typedef struct mc_exact_number {
    int storage;  // SQLITE_INTEGER, SQLITE_FLOAT or SQLITE_TEXT
    int64_t integer;
    double real;
    size_t length;  // of `text`
    char text[MC_EXACT_TEXT_SIZE];
} mc_exact_number;

/// Converts a value as `mc_exact_integer` does. Returns false for a value that stays unchanged.
bool mc_exact_to_integer(sqlite3_value *MC_NONNULL value, mc_exact_number *MC_NONNULL out);

/// The same as `mc_exact_decimal` with `whole` and `scale`, both from 0 to MC_EXACT_SCALE_MAXIMUM.
bool mc_exact_to_decimal(sqlite3_value *MC_NONNULL value, int whole, int scale, mc_exact_number *MC_NONNULL out);

#endif
