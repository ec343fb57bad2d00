/// mc_exact_register.h: registers exact conversions with a connection, and makes the usual ones without SQL. Internal.
#ifndef MC_EXACT_REGISTER_H
#define MC_EXACT_REGISTER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "mc_error.h"

/// Registers the functions of `mc_exact.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_exact_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

/// Make a number with few digits, such as a price, `value * 10 ^ scale`, as `mc_exact_decimal` does. Return false for a number that takes
/// more than that.
bool mc_exact_scaled_real(double value, int whole, int scale, int64_t *MC_NONNULL scaled);
bool mc_exact_scaled_integer(int64_t value, int whole, int scale, int64_t *MC_NONNULL scaled);

#endif
