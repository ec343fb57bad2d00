/// mc_import.h: imports row data into a table, as fast as SQLite accepts it.
///
/// Bytes are pushed in chunks of any size, plain or deflated (zlib or gzip, distinguished by the first byte). They are inflated,
/// scanned (mc_rows.h describes the format) and handed to SQLite as a virtual table, so that one statement
///
///     INSERT INTO t(...) SELECT ... FROM incoming WHERE true ON CONFLICT(key) DO UPDATE SET ...
///
/// runs for all complete rows of a chunk: nothing is bound, stepped or reset per row, and no value is copied on its way.
///
/// Several tables: the input is then an object with an array of rows per table. A table's mode is the effect of its rows, so that
/// rows to write and keys to delete of one table come as two members:
///
///     {"customer":[[1,"Harbour Foods"],[2,"Mill & Sons"]], "customer.deleted":[[3]], "order":[...]}
///
/// All or nothing, unless commits are requested: an import opens a savepoint and releases it at `mc_import_finish`. An error, or freeing
/// it before finish, rolls it back; earlier work of the surrounding transaction stays. Without a transaction the savepoint is one.
/// No other code can commit while an import is open, through any interface: SQLite refuses it (SQLITE_BUSY, `mc_connection_commit` and
/// the statements of a pool: MC_ERROR_MISUSE), and the transaction and the import continue. A rollback of the transaction ends the import
/// as well: its next call fails with MC_ERROR_SQLITE (SQLITE_ABORT_ROLLBACK).
///
/// Pending protection: rows whose key has a row in the table of original states are not written to the target; their values are written
/// to that table instead. The pending keys are read when the import opens, and must not change while it runs. Keys are equal if they meet
/// the same row of the target: after the conversion by the column's type, in the collation of the key. Integers below 2^53, and texts with
/// the collation BINARY in a UTF-8 database, are looked up in memory; other keys cost a SELECT for each row.
///
/// Large values (mc_blob.h): columns of the types MC_COLUMN_LARGE_TEXT and MC_COLUMN_LARGE_BLOB get the ids of values that the import
/// stores in chunks as they arrive, in its own transaction, regardless of their length. A value that a row no longer refers to is dropped
/// in the same transaction, unless the protected row still refers to it. No other row may refer to a value of such a column.
///
/// Indexes of a table that is being filled are made at the end of the import: those that are not unique are dropped when it has inserted
/// 4,096 rows and the table has at most as many others.
///
/// Triggers on the target make SQLite collect a chunk's rows first, and enforced foreign keys are checked at the end of a statement. The
/// rows are then handed over one by one, so that an error still names its row, and no later row repairs it: an import of a table with
/// references takes 1.6 of the time.
///
/// Order of calls: open, push any number of times, finish, free; with several texts, an end of the text and more pushes before finish.
///                 Imports on one connection end in the reverse of the order in which they were opened, as savepoints do.
/// Threads:        the connection's, also for callbacks. Larger inputs are inflated and scanned in a second thread, which ends at
///                 the latest when the import is finished, fails or is freed. An error is then reported by one of the next
///                 calls: the same error with the same position as without the thread.
/// Memory:         about 300 KB (2 MB with a second thread), one row (bounded by `row_bytes`), and 16 bytes per pending key;
///                 some 200 KB per table with large values, regardless of their length.
#ifndef MC_IMPORT_H
#define MC_IMPORT_H

#include <string.h>

#include "mc_error.h"
#include "mc_rows.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef enum mc_import_mode {
    MC_IMPORT_INSERT = 0,  ///< a row that exists is an error, also a row that the same input has inserted
    MC_IMPORT_UPSERT = 1,  ///< a row that exists gets the values of the columns; of several rows with one key the last one wins
    MC_IMPORT_DELETE = 2   ///< the rows are keys: the columns are exactly the key columns; a key that does not exist is ignored
} mc_import_mode;

/// A column and the value that it gets in all rows.
typedef struct mc_import_assignment {
    const char *column;
    mc_value value;
} mc_import_assignment;

/// The table for the versions of rows with pending changes.
typedef struct mc_import_pending {
    const char *table;                                    ///< has the columns of the import
    const char *MC_NONNULL const *MC_NULLABLE keys;       ///< its key, in the order of the import's; NULL: of the same names
    const mc_import_assignment *MC_NULLABLE assignments;  ///< values for further columns; none of the import's columns
    size_t assignment_count;
} mc_import_pending;

/// One table of an import. `columns` are in the order of the values in row arrays and have the names of the table's columns.
typedef struct mc_import_table {
    const char *table;
    const char *MC_NULLABLE member;  ///< its name in the input, so that a table can occur there twice; NULL: as `table`
    const mc_column *columns;
    size_t column_count;
    mc_import_mode mode;
    const char *MC_NONNULL const *MC_NULLABLE keys;  ///< some of the columns, together unique in the table; NULL: the first one, for
                                                     ///< deletions all of them. They are required
    size_t key_count;
    const mc_import_assignment *MC_NULLABLE on_insert;  ///< written with new rows only; never updated; none of `columns`
    size_t on_insert_count;
    const mc_import_pending *MC_NULLABLE pending;  ///< NULL: no protection
    /// For deletions: the columns of the table that hold ids of large values, which are dropped with their rows. The other modes recognize
    /// them by the types of their columns.
    const char *MC_NONNULL const *MC_NULLABLE large;
    size_t large_count;
} mc_import_table;

/// The progress of an import.
typedef struct mc_import_counts {
    int64_t rows;  ///< taken from the input
    int64_t inserted;
    int64_t updated;
    int64_t diverted;  ///< written to the table of original states
    int64_t deleted;
    int64_t committed;       ///< of `rows`; 0 until the first commit of an import with batch commits
    int64_t bytes;           ///< of the input, as pushed
    int64_t inflated_bytes;  ///< of JSON text
} mc_import_counts;

/// Called after each batch of rows; anything but 0 cancels the import, which then fails with MC_ERROR_INTERRUPTED.
/// It must not use the import, but may use its connection.
typedef int (*mc_import_progress)(void *MC_NULLABLE context, const mc_import_counts *counts);

/// The use of a second thread, which inflates and scans while the first one inserts.
typedef enum mc_import_threads {
    MC_IMPORT_THREADS_AUTOMATIC = 0,  ///< if the process may use a second core, from 128 KB of JSON text on
    MC_IMPORT_THREADS_OFF = 1,        ///< all on the connection's thread
    MC_IMPORT_THREADS_ON = 2          ///< from the first bytes on
} mc_import_threads;

/// Called on the second thread when it begins: to name it, or to set its priority.
typedef void (*mc_import_thread_begins)(void *MC_NULLABLE context);

/// The effect of an import on a row.
typedef enum mc_import_change {
    MC_IMPORT_INSERTED = 0,
    MC_IMPORT_UPDATED = 1,
    MC_IMPORT_DELETED = 2,
    MC_IMPORT_DIVERTED = 3,  ///< its values were written to the table of original states
    MC_IMPORT_IGNORED = 4    ///< not written: there was no such key to delete, or a constraint or a trigger of the table ignores the row
} mc_import_change;

/// Called after each batch of rows that has been written: `changes[n]` is the `mc_import_change` of row n of the batch, whose
/// `member` is the number of the table. Anything but 0 cancels the import. The rules of `mc_import_progress` hold.
typedef int (*mc_import_observer)(void *MC_NULLABLE context, const mc_row_batch *batch, const uint8_t *changes);

/// Names are copied at open.
typedef struct mc_import_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    const mc_import_table *tables;  ///< one: the input is an array of rows, unless `is_object`; see mc_rows.h
    size_t table_count;
    bool is_object;          ///< the input is an object whose members are tables, even if there is only one
    unsigned depth;          ///< as in `mc_rows_options`
    size_t row_bytes;        ///< as in `mc_rows_options`
    int64_t inflated_bytes;  ///< the most JSON text to take from deflated input; 0: 64 GB
    int64_t inflate_ratio;   ///< the largest ratio of inflated to deflated bytes, checked beyond 1 MB; 0: 400
    /// The numbers of rows, and of bytes of JSON text, since the last commit after which the import commits; 0: all or nothing.
    /// They are checked after each batch of some hundred rows. A commit includes the transaction's work from before the import; an error
    /// rolls back the work since the last commit. Observers (mc_changes.h) are notified of each commit. While another import is open a
    /// commit fails with MC_ERROR_MISUSE.
    int64_t commit_rows, commit_bytes;
    mc_import_progress MC_NULLABLE progress;
    mc_import_observer MC_NULLABLE observer;
    void *MC_NULLABLE context;  ///< handed to `progress` and `observer`
    mc_import_threads threads;  ///< if no memory or thread is available, all work is done on the connection's thread
    mc_import_thread_begins MC_NULLABLE thread_begins;
    void *MC_NULLABLE thread_context;  ///< handed to `thread_begins`
    /// The pool's connection whose database the import is on; needed for large values only. Its tables exist (`mc_blob_prepare`).
    struct mc_connection *MC_NULLABLE connection;
} mc_import_options;

/// Returns the defaults: no tables yet, all or nothing.
static inline mc_import_options mc_import_default_options(void)
{
    mc_import_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

typedef struct mc_import mc_import;

/// Opens an import on a connection, which is borrowed and must outlive it. On success the caller owns `*out` and gives it to
/// `mc_import_free`; on failure it is NULL and the database is unchanged.
/// Fails with MC_ERROR_MISUSE (options out of range), MC_ERROR_SQLITE (no such table, column or unique key) and as SQLite does.
MC_MUST_USE mc_status mc_import_open(struct sqlite3 *db, const mc_import_options *options, mc_import *MC_NULLABLE *MC_NONNULL out,
                                     mc_error *MC_NULLABLE error);

/// Imports the next bytes, which must stay in place during the call only. After a failure the import is rolled back.
/// Fails as `mc_rows_push` does, with MC_ERROR_CONSTRAINT and other failures of SQLite (`row` is the row that it refused),
/// MC_ERROR_COMPRESSION (damaged; `byte_offset` counts deflated bytes), MC_ERROR_LIMIT (too many inflated bytes),
/// MC_ERROR_INTERRUPTED (cancelled by `progress` or sqlite3_interrupt).
MC_MUST_USE mc_status mc_import_push(mc_import *import, const void *MC_NULLABLE bytes, size_t length, mc_error *MC_NULLABLE error);

/// The same as a sink for streams: `context` is the import. Returns whether it took the bytes; if not, `mc_import_failure` returns
/// the error.
bool mc_import_sink(void *context, const void *MC_NULLABLE bytes, size_t length);

/// Returns the error of the sink; its `code` is MC_OK if the sink has not failed.
const mc_error *mc_import_failure(const mc_import *import);

/// Ends a text of the input. The import takes another one, of the same tables, or is finished: any number of texts is imported as one, all
/// or nothing, and indexes that are made at the end are made once. Rows and bytes in errors, and the limits of inflated bytes, count from
/// the beginning of a text; `*counts` gets the counts of all texts. After a failure the import is rolled back.
/// Fails as `mc_import_push` does, and with MC_ERROR_TRUNCATED.
MC_MUST_USE mc_status mc_import_end_text(mc_import *import, mc_import_counts *MC_NULLABLE counts, mc_error *MC_NULLABLE error);

/// Completes the import: the input ends here, if a text is open. Fails as `mc_import_push` does, and with MC_ERROR_TRUNCATED.
MC_MUST_USE mc_status mc_import_finish(mc_import *import, mc_import_counts *MC_NULLABLE counts, mc_error *MC_NULLABLE error);

/// Returns the progress of the import.
mc_import_counts mc_import_progress_counts(const mc_import *import);

/// Frees an import, and rolls it back if it is not finished; NULL is allowed.
void mc_import_free(mc_import *MC_NULLABLE import);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
