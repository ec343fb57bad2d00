/// mc_column_value.h: reads or fills one value of an ordinary table piece by piece, without holding the whole value.
///
/// For values that other programs keep in their rows (the tables of a back end). The platform's own large values are stored in chunks, see
/// mc_blob_reader.h and mc_blob_writer.h. Works on BLOB and TEXT values of tables with a rowid; a text is read as the database stores it.
///
/// Order of calls: open; any number of reads, writes and moves; free, before the connection is returned.
/// Threads:        the connection's.
/// Memory:         a cursor; SQLite reads the pages that hold a piece.
#ifndef MC_COLUMN_VALUE_H
#define MC_COLUMN_VALUE_H

#include "mc_error.h"

struct sqlite3;

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_column_value mc_column_value;

/// Opens the value of `column` in the row `rowid` of `table` (names as they are, not quoted; the main database).
/// On success `*out` goes to `mc_column_value_free`; on failure it is NULL. `db` is borrowed and must outlive it.
/// Fails with MC_ERROR_NOT_FOUND (no such row), MC_ERROR_SQLITE (no such table or column, a view, a table without rowid, a value that is
/// neither BLOB nor TEXT), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_column_value_open(struct sqlite3 *db, const char *table, const char *column, int64_t rowid,
                                           mc_column_value *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Opens the value for writing as well, on the writer and in its transaction. Its length cannot change: make room with `zeroblob(n)` first.
/// Neither triggers nor CHECK constraints see the written bytes, and nothing that is computed from the column is updated.
/// Fails as `mc_column_value_open` does; MC_ERROR_SQLITE also for a column that is indexed or part of a foreign key.
MC_MUST_USE mc_status mc_column_value_open_writable(struct sqlite3 *db, const char *table, const char *column, int64_t rowid,
                                                    mc_column_value *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Moves to the value of the same column in another row, which is much cheaper than opening it.
/// Fails as open does; the value can then only be moved again or freed.
MC_MUST_USE mc_status mc_column_value_move(mc_column_value *value, int64_t rowid, mc_error *MC_NULLABLE error);

/// Returns the length of the value, in bytes.
int64_t mc_column_value_length(const mc_column_value *value);

/// Copies `length` bytes from `offset`; the range must be within the value.
/// Fails with MC_ERROR_MISUSE (beyond the value), MC_ERROR_SQLITE (the row was changed meanwhile).
MC_MUST_USE mc_status mc_column_value_read(mc_column_value *value, int64_t offset, void *buffer, size_t length,
                                           mc_error *MC_NULLABLE error);

/// Overwrites `length` bytes from `offset`; the range must be within the value.
/// Fails with MC_ERROR_MISUSE (beyond the value, or not opened for writing), MC_ERROR_FULL, MC_ERROR_IO, MC_ERROR_SQLITE (the row was
/// changed meanwhile).
MC_MUST_USE mc_status mc_column_value_write(mc_column_value *value, int64_t offset, const void *bytes, size_t length,
                                            mc_error *MC_NULLABLE error);

/// Frees the reader or writer of the value. NULL is allowed.
void mc_column_value_free(mc_column_value *MC_NULLABLE value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
