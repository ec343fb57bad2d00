/// mc_pool_internal.h: the declarations shared by the files of the pool.
///
/// Lock order: ticket, then pool. A connection's own fields belong to its holder, except those marked [pool].
#ifndef MC_POOL_INTERNAL_H
#define MC_POOL_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/mc_commit_guard.h"
#include "base/mc_fail.h"
#include "mc_pool.h"
#include "mc_statement.h"
#include "pool/mc_change_log.h"
#include "pool/mc_pool_hooks.h"

enum { MC_OVERTAKEN_MAXIMUM = 16, MC_LABEL_SIZE = 81, MC_READERS_MAXIMUM = 64, MC_STATEMENTS_MAXIMUM = 10000 };

/// The pool's own SQL statements, prepared once per connection.
typedef enum mc_control {
    MC_CONTROL_BEGIN,
    MC_CONTROL_COMMIT,
    MC_CONTROL_ROLLBACK,
    MC_CONTROL_SAVEPOINT,
    MC_CONTROL_RELEASE,
    MC_CONTROL_ROLLBACK_TO,
    MC_CONTROL_COUNT
} mc_control;

/// A statement. It is in one of two lists of its connection: in use, or at rest (and then in the hash table as well).
struct mc_statement {
    sqlite3_stmt *handle;
    mc_connection *connection;
    mc_statement *previous, *next;  ///< in its list; at rest: the most recently used one first
    mc_statement *chain;            ///< at rest: the next one in the same bucket of the hash table
    uint64_t hash;
    size_t length;
    char *sql;          ///< the key: the requested text, `length` bytes
    bool stepping;      ///< between its first step and its reset
    bool plan_checked;  ///< whether `fills_pages` is known, see pages/mc_page_plan.c
    bool fills_pages;
    mc_error *deferred;  ///< the error that its next step reports; NULL: none
};

typedef struct mc_statement_list {
    mc_statement *first, *last;
} mc_statement_list;

struct mc_connection {
    mc_pool *pool;
    sqlite3 *db;
    bool is_writer;
    atomic_ullong user;          ///< the number of the thread that used it last since its check-out; 0: none yet
    atomic_bool interrupted;     ///< every call fails from now on, except the end of the transaction
    int64_t busy_limit_ns;       ///< the longest wait for another process
    int64_t busy_since_ns;       ///< the start of the present wait
    int64_t file_checked_ns;     ///< of the writer: the time at which its file was the one of its path
    bool has_dropped_values;     ///< whether large values were dropped since its check-out
    bool has_transaction;        ///< begun by mc_connection_begin, not ended by the owner; SQLite may have rolled it back
    bool is_rolled_back;         ///< of the writer: whether that transaction was rolled back, by any caller or by SQLite
    mc_commit_guard *guard;      ///< of the writer
    mc_change_log changes;       ///< of the writer, for the observers
    int log_frames;              ///< of the writer: frames in the log after its last commit
    int64_t log_restarts_at;     ///< of the writer: the number of frames from which on the log should start over
    bool postpones_checkpoint;   ///< of the writer: its commits make no checkpoint before the log has 16 MB
    bool has_warned_of_failure;  ///< of the writer: of checkpoints, since one succeeded
    bool has_warned_of_others;   ///< of the writer: of readers outside of the pool, since the log last started over

    sqlite3_stmt *control[MC_CONTROL_COUNT];
    mc_statement_list in_use, at_rest;
    mc_statement **buckets;
    size_t bucket_count;
    int cache_limit;
    mc_statement_statistics statistics;
    mc_trace_mode trace_mode;                  ///< the part of its work that the user's trace gets
    void *hook_states[MC_POOL_HOOKS_MAXIMUM];  ///< the states of the folders above, in the order of the pool's hooks

    mc_connection *next;               ///< [pool] in the list of idle or of active readers
    bool is_active;                    ///< [pool]
    unsigned long long owner;          ///< [pool] the number of the thread whose check-outs nest; 0: none
    int depth;                         ///< [pool] the number of nested check-outs
    mc_ticket *ticket;                 ///< [pool] the innermost one; NULL: no check-out has one
    int64_t active_since_ns;           ///< [pool]
    char label[MC_LABEL_SIZE];         ///< [pool]
    bool is_warned_of;                 ///< [pool] a warning has named this check-out
    int uncounted;                     ///< [pool] returns since `counted` was updated from SQLite and the statement cache
    mc_connection_statistics counted;  ///< [pool]
};

/// A wait for a connection: a thread's on its own stack, or a callback's on the heap.
typedef struct mc_waiter {
    struct mc_waiter *previous, *next;
    const mc_checkout *checkout;  ///< of a thread; a callback's is `own_checkout`
    mc_checkout own_checkout;
    char own_label[MC_LABEL_SIZE];
    int64_t since_ns;
    int overtaken;  ///< by short reads
    mc_connection *granted;
    bool is_done;
    mc_error failure;
    bool has_failed;
    pthread_cond_t wake;  ///< of a thread
    mc_granted callback;  ///< NULL: a thread
    void *context;
} mc_waiter;

typedef struct mc_waiter_list {
    mc_waiter *first, *last;
} mc_waiter_list;

struct mc_ticket {
    pthread_mutex_t mutex;
    atomic_bool interrupted;
    mc_pool *pool;     ///< the pool in which it waits or works; NULL: none
    bool is_used;      ///< whether it has been in a pool
    mc_ticket *outer;  ///< [pool] the ticket of a check-out around this one; NULL: there is none
    int depth;         ///< [pool] of its check-out among those that nest
    // The time after which it has timed out before its wait began, or -1. Until it is in a pool under its own lock, then under that of the
    // pool.
    int64_t expired_ns;
};

struct mc_pool {
    pthread_mutex_t mutex;
    pthread_cond_t drained;  ///< no connection is in use, and no wait is open
    char *path;
    char *parameters;  ///< of a URI, for the VFS: "&NAME=VALUE...", encoded; NULL: none
    bool knows_file;   ///< whether `device` and `inode` count: not for files that the VFS keeps elsewhere
    uint64_t device;
    uint64_t inode;
    char *vfs;         ///< of the readers, copied; NULL: the system's
    char *writer_vfs;  ///< the same with the layer that only the writer needs
    mc_pool_options options;
    mc_pool_settings settings;
    mc_trace_mode trace_mode;  ///< the requested mode; each connection adopts it
    mc_connection *writer;     ///< NULL: the pool is read-only
    mc_connection *idle_readers, *active_readers;
    int readers_open;     ///< idle and active ones
    int readers_opening;  ///< being opened at the moment, without the lock
    mc_waiter_list for_writer, for_reader;
    int leaving;  ///< waits that are over, but whose callers have not returned yet
    bool is_closing, is_closed;
    mc_pool_statistics statistics;      ///< the counted values; the others are read from the pool's state
    struct mc_observer *observers;      ///< in the order of their registration
    pthread_t telling_thread;           ///< the thread that calls them
    atomic_bool has_new_observers;      ///< some were added since the writer's last check-out
    atomic_ullong observer_version;     ///< grows when observers take effect or end; from 1, so that a new table's 0 is out of date
    pthread_cond_t told;                ///< a call has ended
    const mc_pool_hooks *const *hooks;  ///< of the folders above, borrowed
    size_t hook_count;                  ///< the hooks whose states exist
    void *hook_states[MC_POOL_HOOKS_MAXIMUM];
};

/// mc_clock.c
int64_t mc_monotonic_ns(void);
int mc_condition_init(pthread_cond_t *condition);
/// Waits until `deadline_ns` of the monotonic clock; false when it has passed.
bool mc_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ns);

/// mc_waiters.c: the number of the calling thread, from 1 on. No other thread ever has it, as it may have the same pthread_t later.
unsigned long long mc_thread_number(void);

/// mc_pool_options.c: checks the size and version of a program's options, and completes them with the defaults of fields that it does not
/// know.
mc_status mc_pool_take_options(const mc_pool_options *given, mc_pool_options *options, mc_error *error);
mc_status mc_pool_check_options(const char *path, const mc_pool_options *options, mc_error *error);
mc_status mc_pool_read_settings(mc_pool *pool, mc_connection *connection, mc_error *error);

/// mc_uri.c: the parts of a URI, allocated; freeing takes a zeroed one. Reading sets the options that the parameters name.
typedef struct mc_uri {
    char *path, *vfs;  ///< `vfs` is NULL without the parameter
    char *parameters;  ///< of the VFS, as `mc_pool.parameters`
} mc_uri;
mc_status mc_uri_read(const char *text, mc_pool_options *options, mc_uri *uri, mc_error *error);
void mc_uri_free(mc_uri *uri);
/// Writes the URI of a file; NULL without memory. `parameters` may be NULL; sqlite3_free frees it.
char *mc_uri_write(const char *path, bool immutable, const char *parameters);

/// mc_pool_hooks.c calls the hooks of the folders above: before the first connection, after each opening of a connection, after the last
/// closing, and when the pool is freed.
mc_status mc_pool_hooks_make(mc_pool *pool, const mc_pool_hooks *const *hooks, size_t count, mc_error *error);
mc_status mc_pool_hooks_open(mc_connection *connection, mc_error *error);
void mc_pool_hooks_close(mc_pool *pool);
void mc_pool_hooks_free(mc_pool *pool);

/// mc_file.c: opens the file for a connection. Probe: reads the schema, so that an invalid database file or a permanent lock is reported
/// when the connection is opened, not by a later call.
mc_status mc_file_open(mc_connection *connection, mc_error *error);
mc_status mc_file_probe(mc_connection *connection, mc_error *error);
/// Notes the file of the first connection. Later connections are refused if its path leads to another one.
void mc_file_note(mc_pool *pool);
/// The error of a file that is no longer the one of its path.
mc_status mc_file_fail_moved(const mc_pool *pool, mc_error *error);

/// mc_connection.c: opens a connection with the pool's options; closing frees it (NULL is allowed).
mc_status mc_connection_open(mc_pool *pool, bool writer, mc_connection **out, mc_error *error);
void mc_connection_close(mc_connection *connection);
/// With the pool locked, at a check-out: starts or ends the user's trace of the connection's statements. The statements of its opening are
/// not traced.
void mc_connection_follow_trace(mc_connection *connection);
mc_status mc_connection_pragma(mc_connection *connection, const char *name, int64_t *value, mc_error *error);

/// mc_changes.c. Begin: with the pool locked, when the writer is checked out. Tell: after every step that may have committed.
void mc_changes_begin(mc_connection *writer);
void mc_changes_tell(mc_connection *connection);
/// At the beginning of a statement, and at its end: a failed one has undone the rows that it named.
void mc_changes_begin_statement(mc_connection *connection);
void mc_changes_end_statement(mc_connection *connection, bool has_failed);
/// The same after a commit that does not end the transaction of the writer's owner.
void mc_changes_tell_within(mc_connection *writer);
/// Discards the recorded changes of the running transaction.
void mc_changes_forget(mc_connection *writer);
void mc_changes_close(mc_connection *connection);

/// mc_log.c: watch, once for the writer; postpone the checkpoints of the next commits; make room before a transaction begins.
void mc_log_watch(mc_connection *writer);
void mc_log_postpone(mc_connection *writer, bool is_postponed);
mc_status mc_log_make_room(mc_connection *writer, mc_error *error);

/// mc_transaction.c: before a transaction or a statement of the writer begins to write: the file is still there, and the log has room.
mc_status mc_connection_begin_write(mc_connection *writer, mc_error *error);

/// mc_statistics.c, with the pool locked: notes the return of the connection. Its counters are copied at every 16th return only, because
/// reading them from SQLite takes a fiftieth of the time of a look-up by key.
void mc_connection_note_return(mc_connection *connection);

/// mc_optimize.c, before the connections are closed: analyzes the tables that their queries have searched. Failures are ignored.
/// The pool must not be locked; NULL is allowed.
void mc_pool_optimize(mc_connection *writer, mc_connection *readers);

/// mc_statement_cache.c
mc_status mc_statement_cache_open(mc_connection *connection, int limit, mc_error *error);
void mc_statement_cache_close(mc_connection *connection);
void mc_statement_reset_all(mc_connection *connection);
void mc_statement_return_all(mc_connection *connection);
/// The hash of an SQL text in the cache.
uint64_t mc_statement_hash(const char *sql, size_t length);
/// Takes the statement of a text, whose hash is `hash`, out of the cache. NULL if the cache does not have it.
mc_statement *mc_statement_cache_take(mc_connection *connection, const char *sql, size_t length, uint64_t hash);
mc_status mc_statement_adopt(mc_connection *connection, sqlite3_stmt *handle, const char *sql, size_t length, mc_statement **out,
                             mc_error *error);

/// mc_transaction.c: checks that another statement may run: the connection is not interrupted, and its transaction was not rolled back.
mc_status mc_connection_check(mc_connection *connection, mc_error *error);

#endif
