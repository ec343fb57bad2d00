/// mc_exact_register.h: registers exact conversions with a connection. Internal.
#ifndef MC_EXACT_REGISTER_H
#define MC_EXACT_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the functions of `mc_exact.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_exact_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
