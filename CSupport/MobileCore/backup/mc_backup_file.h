/// mc_backup_file.h: the file of a backup, which gets its name when it is complete. Internal to this folder.
#ifndef MC_BACKUP_FILE_H
#define MC_BACKUP_FILE_H

#include <sqlite3.h>

#include "mc_backup.h"

typedef struct mc_backup_file {
    const char *path;  ///< borrowed
    char *part;        ///< the name until then; NULL without memory
    int descriptor;    ///< of the part, which holds a lock as long as it is open; -1: closed
    sqlite3 *db;       ///< on the part; NULL: closed
} mc_backup_file;

/// Makes the part, empty and locked, and opens a database on it. `file` goes to the other function also on failure. Fails as
/// `mc_pool_backup` does.
mc_status mc_backup_file_open(mc_backup_file *file, const mc_pool *pool, const char *path, mc_error *error);

/// Ends the file: with MC_OK as the status of the copy, it is written to the disk and gets its name; otherwise it is removed. Returns the
/// status of the whole.
mc_status mc_backup_file_close(mc_backup_file *file, mc_status status, mc_error *error);

#endif
