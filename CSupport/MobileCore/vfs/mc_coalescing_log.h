/// mc_coalescing_log.h: the write-ahead log of the coalescing layer. Internal to this folder.
#ifndef MC_COALESCING_LOG_H
#define MC_COALESCING_LOG_H

#include <sqlite3.h>
#include <stdbool.h>

/// Bytes of the layer's own part of a file, which lies before the base's.
enum { MC_COALESCING_FILE_SIZE = 128 };

/// A log that holds frames back: an `sqlite3_file` of MC_COALESCING_FILE_SIZE bytes at most, over a file of the base.
typedef struct mc_coalescing_log mc_coalescing_log;

/// Makes `file` a log over `real`, which is open and is closed with it. `place` is where the database keeps the log that its connection has
/// open: it is filled, and NULL again when the log is closed. NULL where the database is not of this layer: nothing is held back then.
void mc_coalescing_log_open(sqlite3_file *file, sqlite3_file *real, mc_coalescing_log **place);

/// A transaction began or ended: nothing of the one before it is held back, or missing. `is_locked`: the connection has the write lock from
/// now on. Without it nothing is held back: with exclusive locking nobody would be told where a transaction ends.
void mc_coalescing_log_separate(mc_coalescing_log *log, bool is_locked);

/// The database is closed before its log: from here on nothing is held back.
void mc_coalescing_log_forget_database(mc_coalescing_log *log);

#endif
