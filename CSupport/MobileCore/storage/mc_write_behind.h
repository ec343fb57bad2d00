/// mc_write_behind.h: lets the system write a log to the disk while the transaction goes on, so that the sync at its end finds little to
/// do.
///
/// A hint and nothing else: what fails is passed over, and who needs the bytes on the disk syncs as before. Where the system has no such
/// call, nothing happens. It opens the file a second time, which only a log allows: closing a second descriptor of the database would
/// drop the locks of the whole process.
#ifndef MC_WRITE_BEHIND_H
#define MC_WRITE_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mc_write_behind {
    const char *name;    ///< of the log, which SQLite keeps as long as the file is open
    int64_t start, end;  ///< written, and the system not told yet
    int descriptor;      ///< -1: not open
    bool is_on;          ///< somebody syncs this file
} mc_write_behind;

/// `name` may be NULL.
mc_write_behind mc_write_behind_none(const char *name);

/// Bytes were written at `offset`.
void mc_write_behind_note(mc_write_behind *behind, int64_t offset, int64_t length);

void mc_write_behind_close(mc_write_behind *behind);

#endif
