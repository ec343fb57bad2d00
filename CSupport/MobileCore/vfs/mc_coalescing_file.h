/// mc_coalescing_file.h: the files of the coalescing layer. Internal to this folder.
#ifndef MC_COALESCING_FILE_H
#define MC_COALESCING_FILE_H

#include "vfs/mc_coalescing_log.h"

/// Opens a file over `base`. The main database, its write-ahead log and the journals of statements are
/// wrapped, everything else is the base's own file.
/// `file` has room for MC_COALESCING_FILE_SIZE plus the base's `szOsFile` bytes.
/// Returns an SQLite result code.
int mc_coalescing_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags);

#endif
