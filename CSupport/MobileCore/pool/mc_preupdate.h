/// mc_preupdate.h: SQLite's preupdate hook, which some builds of SQLite do not have. Internal to the pool.
///
/// The update hook names a row by its new rowid, and names no row that another one replaces. The preupdate hook has both.
#ifndef MC_PREUPDATE_H
#define MC_PREUPDATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/// Called before a row is changed: `before` is its rowid if it is updated or deleted, `after` if it is updated or inserted.
typedef void (*mc_preupdate)(void *context, sqlite3 *db, int operation, const char *schema, const char *table, sqlite3_int64 before,
                             sqlite3_int64 after);

/// Sets the hook of a connection; NULL removes it. Returns whether this build of SQLite has it.
bool mc_preupdate_set(sqlite3 *db, mc_preupdate hook, void *context);

#endif
