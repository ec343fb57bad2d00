/// mc_plain_time_internal.h: registers plain times with a connection, and reads them without SQL. Internal.
#ifndef MC_PLAIN_TIME_INTERNAL_H
#define MC_PLAIN_TIME_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "mc_error.h"

/// Registers the function of `mc_plain_time.h`. Fails with MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
mc_status mc_plain_time_register(sqlite3 *MC_NONNULL db, mc_error *MC_NULLABLE error);

/// A time in one of the forms of `mc_plain_time.h`: `length` bytes from `first` on.
typedef struct mc_plain_time {
    char bytes[24];
    size_t first, length;
} mc_plain_time;

/// Reads a text into a form. Returns false for one that is not plainly a time.
bool mc_plain_time_read(const char *MC_NONNULL text, size_t length, int form, mc_plain_time *MC_NONNULL out);

#endif
