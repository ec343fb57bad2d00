/// mc_text_check_register.h: registers the check of texts with a connection. Internal.
#ifndef MC_TEXT_CHECK_REGISTER_H
#define MC_TEXT_CHECK_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the function of `mc_text_check.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_text_check_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
