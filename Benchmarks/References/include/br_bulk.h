/// br_bulk.h: the reference of bulk synchronization: the statements of SQLite that check a server's database file and copy its values.
#ifndef BR_BULK_H
#define BR_BULK_H

#include <stdbool.h>

#include "br_open.h"

/// Writes the only entry of a ZIP archive, compressed with deflate, to the file `path`. False on any failure.
bool br_bulk_inflate(const char *archive, const char *path);

/// Checks the database file `path`, and copies the values of its source 1 into the table `object_values` of `database`, which is new, in one transaction.
/// The index of values is made at the end: that is faster than a row at a time. False on any failure.
bool br_bulk_copy(br_database *database, const char *path);

#endif
