/// mc_plain_time_register.h: registers plain times with a connection. Internal.
#ifndef MC_PLAIN_TIME_REGISTER_H
#define MC_PLAIN_TIME_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the function of `mc_plain_time.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_plain_time_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
