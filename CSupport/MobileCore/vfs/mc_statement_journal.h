/// mc_statement_journal.h: the file in which SQLite keeps pages for the end of a statement or a savepoint. Internal to this folder.
///
/// SQLite first copies the pages that a statement changes to a file if the statement may fail in the middle. SQLite keeps up to 64 KB of it
/// in memory, which is a few pages if pages are large: then each batch of an import writes the last pages of its table to a
/// file in pieces of a page, and discards them when the batch is done. This file keeps up to 512 KB in memory, and opens a file of
/// the base when there is more.
#ifndef MC_STATEMENT_JOURNAL_H
#define MC_STATEMENT_JOURNAL_H

#include <sqlite3.h>

/// Bytes that `mc_statement_journal_open` needs before a file of the base.
enum { MC_STATEMENT_JOURNAL_SIZE = 96 };

/// Opens a journal; `file` has room for MC_STATEMENT_JOURNAL_SIZE plus the base's `szOsFile` bytes. Cannot fail: the base's file is opened
/// when it is needed.
int mc_statement_journal_open(sqlite3_vfs *base, sqlite3_file *file, int flags, int *out_flags);

#endif
