/// mc_fail.h: makes the errors of the core. Internal; every folder of the core includes it.
#ifndef MC_FAIL_H
#define MC_FAIL_H

#include <sqlite3.h>

#include "mc_error.h"

#define MC_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/// Fills `error` (which may be NULL) with `code` and a message, and returns `code`. No position.
mc_status mc_fail(mc_error *MC_NULLABLE error, mc_status code, const char *MC_NONNULL format, ...) MC_PRINTF(3, 4);

/// The same with a position in the input: bytes from its start, and the row's number from 1 (0 if outside of a row).
mc_status mc_fail_at(mc_error *MC_NULLABLE error, mc_status code, int64_t byte_offset, int64_t row, const char *MC_NONNULL format, ...)
    MC_PRINTF(5, 6);

/// The same for a failure of SQLite: `sqlite_code` chooses the status and is kept in the error, the text of the last error of `db` (NULL:
/// SQLite's text for the code) closes the message. Never returns MC_OK.
mc_status mc_fail_sqlite(mc_error *MC_NULLABLE error, sqlite3 *MC_NULLABLE db, int sqlite_code, const char *MC_NONNULL format, ...)
    MC_PRINTF(4, 5);

/// Ignores a status that makes no difference to its caller, who says why. A cast to void does not silence every compiler.
static inline void mc_ignore(mc_status status)
{
    (void)status;
}

#endif
