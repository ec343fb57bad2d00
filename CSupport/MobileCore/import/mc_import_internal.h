/// mc_import_internal.h: the state of an import, which its files share. Internal to them.
///
///     mc_import_open.c   opening
///     mc_import.c        texts: their bytes, their ends, and the end of the import
#ifndef MC_IMPORT_INTERNAL_H
#define MC_IMPORT_INTERNAL_H

#include "import/mc_import_savepoint.h"
#include "import/mc_import_target.h"
#include "import/mc_inflater.h"
#include "import/mc_scan_ahead.h"
#include "mc_import.h"
#include "rows/mc_rows_internal.h"

/// open ---push---> open ---finish---> finished; an error in any of them: failed, and rolled back. Only `open` takes bytes.
typedef enum import_state { STATE_OPEN, STATE_FINISHED, STATE_FAILED } import_state;

struct mc_import {
    sqlite3 *db;
    import_state state;
    mc_import_savepoint savepoint;
    mc_inflater inflate;
    mc_rows *rows;
    mc_scan_ahead *ahead;  // not NULL: it uses inflater and scanner
    bool was_ahead;        // for an earlier text
    bool is_between;       // a text has ended, and no byte of another one has come
    int64_t ended_bytes;   // of JSON text, in the texts before this one
    mc_import_target *targets;
    size_t target_count;
    mc_import_counts counts;
    int64_t commit_rows, commit_bytes;
    int64_t committed_bytes;  // of JSON text
    mc_import_progress progress;
    mc_import_observer observer;
    void *context;
    mc_import_threads threads;
    mc_import_thread_begins thread_begins;
    void *thread_context;
    mc_error sink_failure;
};

/// The name of the import in messages.
const char *mc_import_name(const mc_import *import);

/// Refuses a commit while another import is open, which would lose its dropped indexes.
mc_status mc_import_check_commits(const mc_import *import, mc_error *error);

/// The sink of the row scanner; `context` is the import.
mc_status mc_import_take_batch(void *context, const mc_row_batch *scanned, mc_error *error);

/// The sink of the inflater; `context` is the import.
mc_status mc_import_take_text(void *context, const void *bytes, size_t length, mc_error *error);

#endif
