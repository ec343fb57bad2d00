/// mc_coalescing_log.h: the write-ahead log of the coalescing layer. Internal to this folder.
#ifndef MC_COALESCING_LOG_H
#define MC_COALESCING_LOG_H

#include <sqlite3.h>
#include <stdbool.h>

/// Bytes of the layer's own part of a file, which is before the base's.
enum { MC_COALESCING_FILE_SIZE = 128 };

/// A log that holds frames back: an `sqlite3_file` of MC_COALESCING_FILE_SIZE bytes at most, over a file of the base.
typedef struct mc_coalescing_log mc_coalescing_log;

/// Makes `file` a log over `real`, which is open and is closed with it. `place` is where the database keeps the open log of its connection:
/// it is filled, and is NULL again when the log is closed. If `place` is NULL, the database is not of this layer: no frame is held back.
void mc_coalescing_log_open(sqlite3_file *file, sqlite3_file *real, mc_coalescing_log **place);

/// A transaction began or ended: no part of the one before it is held back, or missing. `is_locked`: the connection has the write lock from
/// now on. Without it no frame is held back: with exclusive locking the layer is not notified of the end of a transaction.
void mc_coalescing_log_separate(mc_coalescing_log *log, bool is_locked);

/// The database is closed before its log: from here on no frame is held back.
void mc_coalescing_log_forget_database(mc_coalescing_log *log);

#endif
