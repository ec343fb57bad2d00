/// mc_text_list_register.h: registers the table of lists with a connection. Internal.
#ifndef MC_TEXT_LIST_REGISTER_H
#define MC_TEXT_LIST_REGISTER_H

#include <sqlite3.h>

#include "mc_error.h"

/// Registers the table of `mc_text_list.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_text_list_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

#endif
