/// mc_statistics.h: counters of a pool and its connections, for tuning, and SQLite's own count of its memory. Numbers count from the opening.
#ifndef MC_STATISTICS_H
#define MC_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif

MC_NONNULL_BEGIN

/// The counters of a statement cache.
typedef struct mc_statement_statistics {
    int64_t hits;       ///< statements found
    int64_t misses;     ///< statements prepared
    int64_t evictions;  ///< statements dropped because the cache was full
    int cached;         ///< statements in the cache now, those in use not counted
} mc_statement_statistics;

/// The counters of a page cache, as SQLite counts (`sqlite3_db_status`).
typedef struct mc_page_statistics {
    int64_t hits;        ///< pages found in the cache
    int64_t misses;      ///< pages read from the file or the log
    int64_t writes;      ///< pages written, to the log or by checkpoints
    int64_t spills;      ///< pages written before their commit because the cache was full
    int64_t used_bytes;  ///< memory of the cache now
} mc_page_statistics;

/// The write-ahead log.
typedef struct mc_log_statistics {
    int64_t bytes;             ///< size of the frames that were in it after the last commit; 0 before the first one
    int64_t checkpoints;       ///< number of times that its pages were copied to the database
    int64_t copied_pages;      ///< pages in the log whose copying was finished then, all checkpoints together
    int64_t held_checkpoints;  ///< checkpoints that readers kept from copying all pages, or the log from starting over
    int64_t failed_checkpoints;  ///< checkpoints that failed: the disk is full, or the file cannot be written
} mc_log_statistics;

/// One connection. Its counters are exact while it is not in use; those of a connection in use are of one of its last 16 returns.
typedef struct mc_connection_statistics {
    bool is_writer;
    bool is_active;     ///< a caller holds it
    int64_t active_ns;  ///< time since its check-out; 0 when it is not in use
    int64_t checkouts;  ///< nested ones not counted
    int64_t busy_ns;    ///< time in use, without the present check-out
    mc_statement_statistics statements;
    mc_page_statistics pages;
} mc_connection_statistics;

/// A pool. `statements`, `pages` and `busy_ns` are the sums over its open connections.
typedef struct mc_pool_statistics {
    bool writer_is_active;   ///< a caller holds the writer
    int readers_active;      ///< readers in use
    int readers_open;        ///< readers opened so far
    int waiting_for_writer;  ///< callers that wait now
    int waiting_for_reader;
    int64_t checkouts;  ///< nested ones not counted
    int64_t waits;      ///< check-outs that had to wait, those that failed included
    int64_t waited_ns;  ///< the sum of all waits
    int64_t longest_wait_ns;
    int64_t busy_ns;
    mc_statement_statistics statements;
    mc_page_statistics pages;
    mc_log_statistics log;
} mc_pool_statistics;

/// Turns off SQLite's count of the memory that the process has from it, for the whole process and until its end. SQLite takes one lock for each
/// allocation only for this count, so that threads with connections of their own wait for each other.
///
/// To be called once, before anything in the process has used SQLite, and on one thread. `sqlite3_memory_used` and its relatives return 0 then, and
/// SQLite's limits of the heap have no effect; the statistics of pools stay as they are. A library leaves the choice to its program.
///
/// Fails with MC_ERROR_MISUSE (SQLite is in use already).
MC_MUST_USE mc_status mc_disable_memory_count(mc_error *MC_NULLABLE error);

MC_NONNULL_END

#ifdef __cplusplus
}
#endif
#endif
