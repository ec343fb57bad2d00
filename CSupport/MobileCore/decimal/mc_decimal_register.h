/// mc_decimal_register.h: registers decimals with a connection. Internal.
#ifndef MC_DECIMAL_REGISTER_H
#define MC_DECIMAL_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the collation and the aggregates of `mc_decimal.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_decimal_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
