/// cw_run.h: one run of a world: the core, and next to it plain SQLite on a database of its own.
///
/// Each step does the same to both, and compares: statuses, counts, rows. The first difference ends the run.
#ifndef CW_RUN_H
#define CW_RUN_H

#include <MobileCore.h>
#include <fault_storage.h>
#include <sqlite3.h>

#include "base/cw_feature.h"
#include "base/cw_program.h"

enum { CW_PATH = 512, CW_NAME = 64, CW_WRITERS = 6, CW_OBSERVERS = 4, CW_LARGE_COLUMNS = 8, CW_COMMITS_MOST = 256 };

/// A column that has ids of large values in the core, and their content in the reference.
typedef struct cw_large_column {
    char table[CW_NAME], column[CW_NAME];
} cw_large_column;

/// A change that was reported to an observer since the last comparison.
typedef struct cw_reported {
    char table[CW_NAME];
    int64_t key;
    bool any_key;
} cw_reported;

typedef struct cw_observer {
    mc_observer *observer;  ///< NULL: none
    char tables[CW_PATH];   ///< with commas; "" for all
    cw_reported *reported;
    size_t count, capacity;
    int calls;
    bool any_table, is_unwanted;  ///< a table was reported that it does not observe
} cw_observer;

/// A large value, and its writer until it is freed.
typedef struct cw_value {
    mc_blob_writer *writer;
    int64_t id;       ///< 0 until it is finished
    cw_text content;  ///< all that was given to the writer
    bool is_text, is_finished, is_pinned, is_saved;
    bool is_lost;         ///< a transaction that had a part of it was rolled back
    int stored_level;     ///< the outermost level whose rollback loses a part; 0: none would
    size_t stored_bytes;  ///< of the content, given to the database by flush or finish
} cw_value;

struct cw_state;

typedef struct cw_run {
    const cw_program *program;
    size_t step;  ///< number of the line from 1
    char folder[CW_PATH];
    mc_pool *pool, *other;    ///< the second one opens the same file, perhaps by another path
    mc_connection *writer;    ///< held by `begin` or `hold`
    mc_connection *lent;      ///< taken for one step
    mc_connection *snapshot;  ///< a loose reader in a transaction
    sqlite3 *reference;
    int level;  ///< 0 outside of a transaction, 1 in it, more in savepoints
    bool is_held, is_utf16, has_large;
    uint64_t snapshot_digest;
    cw_large_column large[CW_LARGE_COLUMNS];
    size_t large_count;
    cw_observer observers[CW_OBSERVERS];
    cw_value values[CW_WRITERS];
    struct cw_state *state;  ///< the reference's rows at the last commit; NULL without observers
    fault_storage *storage;
    bool is_in_memory;
    bool records;         ///< the storage records changes for power cuts
    sqlite3 *saved;       ///< a copy of the reference after the last commit, for steps that the storage fails
    int64_t fails_after;  ///< the next step's operation that fails; -1: none
    int fails_with;       ///< SQLite's code
    bool fails_for_good, is_faulty, has_failed;  ///< a fault is on; the core has failed because of it
    uint64_t commits[CW_COMMITS_MOST];
    int64_t commit_count;
    uint64_t met;      ///< features, a bit each
    const char *kind;  ///< of the failure; NULL
    cw_text failure;
} cw_run;

/// Runs a program in an empty folder, and leaves the result in `run`. `cw_run_free` frees what it holds.
void cw_run_program(cw_run *run, const cw_program *program, const char *folder);
void cw_run_free(cw_run *run);

/// Notes the first failure. `kind` is a constant that the shrinker keeps.
void cw_fail(cw_run *run, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/// Notes that a feature was at work.
void cw_meet(cw_run *run, cw_feature feature);

/// The writer: the one that is held, or one for this step. NULL after a failure.
mc_connection *cw_writer(cw_run *run);
/// A reader for a step: `on` is "reader", "writer" or "snapshot".
mc_connection *cw_connection(cw_run *run, const char *on, mc_connection **taken);
/// Gives back what was taken for the step.
void cw_return_writer(cw_run *run);

/// The path of a file of the world. Free the result.
char *cw_path(const cw_run *run, const char *name);
/// The text with {dir} replaced by the folder of the world or, for the reference, by its own. Free the result.
char *cw_expand(const cw_run *run, const char *text, bool for_reference);

// Steps; `line` is the number of the line, counted from 0.
void cw_step_sql(cw_run *run, const char *line);
void cw_step_bind(cw_run *run, size_t line);
void cw_step_transaction(cw_run *run, const char *line);
void cw_step_page(cw_run *run, const char *line);
void cw_step_nul(cw_run *run, const char *line);
void cw_step_import(cw_run *run, size_t line);
void cw_step_cursor(cw_run *run, size_t line);
bool cw_step_large(cw_run *run, const char *line);
bool cw_step_pools(cw_run *run, const char *line);
bool cw_step_backup(cw_run *run, const char *line);
void cw_step_observe(cw_run *run, const char *line);
bool cw_step_storage(cw_run *run, const char *line);

/// Runs SQL on the reference, statement by statement. Returns the extended result code; `*changes` counts as the core
/// does.
int cw_reference_exec(cw_run *run, const char *sql, size_t length, int64_t *changes);
/// Compares the outcome of a step.
void cw_compare_status(cw_run *run, const char *what, mc_status status, const mc_error *error, int code);

/// Large values after the end of a transaction level: what it had is lost, or belongs to the level below.
void cw_large_level_ended(cw_run *run, int level, bool is_undone);
/// Frees writers, drops values that are not used, and checks that nothing is left over.
void cw_large_end(cw_run *run);
/// Reads a large value by plain SQL. False if it is not there or not complete.
bool cw_large_content(sqlite3 *db, int64_t id, cw_text *content);
/// Whether a column has ids of large values.
bool cw_is_large(const cw_run *run, const char *table, const char *column);

/// Compares the changes that were reported to observers with the changes since the last call.
void cw_check_observers(cw_run *run);
void cw_observers_end(cw_run *run);
/// Notes in the storage's record that a commit is acknowledged, and keeps a copy of the reference.
void cw_storage_committed(cw_run *run);
/// Switches the fault of a `fail` line on for this step, and off after it: what the core then has failed, the reference
/// undoes.
void cw_storage_begin_fault(cw_run *run);
void cw_storage_end_fault(cw_run *run);
/// Cuts the power at some moments of the record, and compares what is left.
void cw_storage_end(cw_run *run);

#endif
