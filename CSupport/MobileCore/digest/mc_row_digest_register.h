/// mc_row_digest_register.h: registers sums of rows with a connection. Internal.
#ifndef MC_ROW_DIGEST_REGISTER_H
#define MC_ROW_DIGEST_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the functions of `mc_row_digest.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_row_digest_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
