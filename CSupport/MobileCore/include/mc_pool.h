/// mc_pool.h: one writing and several reading connections over one SQLite database.
///
/// The writer is handed to one caller at a time, in the order of the calls. Readers are handed out likewise; they are opened when
/// first needed, and the most recently used one is handed out first (its cache is warm). In WAL mode readers never wait for the writer.
///
/// Order of calls: open; any number of check-outs, each followed by a return; close; free.
/// Threads:        every function but `mc_pool_free` may be called on any thread at the same time as any other. A connection
///                 is used by one thread at a time: by its holder.
/// Nesting:        a thread that holds the writer and requests it again, or requests a reader, gets the writer again and sees its
///                 own changes; a thread that holds a reader and requests a reader gets the same one. Return it as often.
/// Memory:         the page cache of each open connection, and its cached statements.
#ifndef MC_POOL_H
#define MC_POOL_H

#include <stdbool.h>
#include <string.h>

#include "mc_error.h"
#include "mc_statistics.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_pool mc_pool;
typedef struct mc_connection mc_connection;
typedef struct mc_ticket mc_ticket;
struct sqlite3;

/// The time at which a transaction is on the disk. The numbers are those of `PRAGMA synchronous`.
typedef enum mc_synchronous {
    MC_SYNCHRONOUS_OFF = 0,     ///< never waited for: a power cut may lose or damage the database
    MC_SYNCHRONOUS_NORMAL = 1,  ///< at checkpoints: a power cut may lose the last transactions, never the database
    MC_SYNCHRONOUS_FULL = 2     ///< at every commit
} mc_synchronous;

typedef enum mc_journal {
    MC_JOURNAL_WAL = 0,       ///< the database is switched to WAL if it is in another mode
    MC_JOURNAL_UNCHANGED = 1  ///< the journal mode of the file is not changed, for databases that belong to other programs
} mc_journal;

/// A warning that a reader keeps the write-ahead log from starting over, and that the log has grown to eight times `checkpoint_pages`; or
/// that the log cannot be copied to the database: `reader` is NULL then.
typedef struct mc_log_warning {
    const char *message;  ///< a whole sentence
    int64_t log_bytes;
    const char *MC_NULLABLE reader;  ///< label of the oldest check-out of a reader; NULL: the reader is in another process or pool
    int64_t reader_age_ns;           ///< time since its check-out; 0 when it is not known
} mc_log_warning;

/// Called for each connection of a pool, the writer and every reader, also for those that are opened later, before any statement of the
/// pool and its users: on the thread that opens the connection, and for several connections at the same time. `handle` is the connection's,
/// for keys (`PRAGMA key`, or what the library has), functions, collations, modules, extensions, ATTACH and temporary tables: what one
/// connection has and SQL needs must be there on all of them.
///
/// It returns MC_OK, or another status with a message in `error->message`; the opening of the pool, or the check-out that opens a
/// reader, then fails with both. Without a message, it has that of the last failure of `handle`. `error` is never NULL.
///
/// It runs before the pool's own settings: the journal mode, foreign keys and so on are not in force yet, and a new file has no page size.
/// It does not read or write `main`, for which a key is the only exception, does not leave a transaction open (MC_ERROR_MISUSE), does not
/// use the pool, and does not keep `handle`, close it, or set its busy handler, its hooks (update, preupdate, commit, rollback, log) and
/// its trace, which are the pool's. A function of its own does not replace one of the core, whose names begin with "mc_".
typedef mc_status (*mc_connection_opened)(void *MC_NULLABLE context, struct sqlite3 *handle, bool is_writer, mc_error *error);

/// The options of a pool. Start from `mc_pool_default_options`.
typedef struct mc_pool_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    int page_size;        ///< bytes, a power of two from 1024 to 65536; negative: 4096. An existing file keeps its own.
    int readers;          ///< largest number of readers, 1 to 64
    int64_t cache_bytes;  ///< page cache of each connection, at least one page
    int64_t mmap_bytes;   ///< bytes of the file that are mapped into memory; 0 for none
    mc_synchronous synchronous;
    mc_journal journal;
    int checkpoint_pages;         ///< pages in the WAL that start a checkpoint; 0: no automatic checkpoint
    int64_t log_limit_bytes;      ///< no write begins while the WAL is larger and a reader keeps it from starting over; 0: no limit
    int64_t journal_size_limit;   ///< bytes that the file of the WAL (or of the journal) keeps when it starts over; -1: all it has
    int statement_cache;          ///< prepared statements kept by each connection, 0 to 10000
    int secure_delete;            ///< 1: deleted content is overwritten, 0: it is not, -1: the library's default
    bool foreign_keys;            ///< whether FOREIGN KEY constraints are enforced
    bool read_only;               ///< no writer; every change is refused
    bool immutable;               ///< with `read_only`: no process changes the file while it is open, which is not checked: it is not
                                  ///< locked, and a write-ahead log needs no files, so that its folder may be one for reading only
    bool creates_file;            ///< whether a file that does not exist is created
    bool coalesces_log_writes;    ///< whether the writer's log is written in runs of up to 64 KB, see mc_vfs.h
    int64_t busy_timeout_ns;      ///< the wait of a check-out without a timeout, for the connection and for locks of other processes
    const char *MC_NULLABLE vfs;  ///< name of the SQLite VFS, copied; NULL: the system's
    /// Called on the connection's thread with each statement before it runs: its SQL, with values if `trace_values`.
    void (*MC_NULLABLE trace)(void *MC_NULLABLE context, const char *sql, size_t length);
    void *MC_NULLABLE trace_context;
    bool trace_values;
    bool trace_waits;  ///< `trace` is not called before `mc_pool_set_trace` enables it
    /// Called once for each check-out of a reader that pins the log, and once until a checkpoint succeeds if one fails, on the writer's
    /// thread and after its commit. Keep it short.
    void (*MC_NULLABLE warn)(void *MC_NULLABLE context, const mc_log_warning *warning);
    void *MC_NULLABLE warn_context;
    mc_connection_opened MC_NULLABLE opened;  ///< called for each connection when it opens
    void *MC_NULLABLE opened_context;
    bool in_memory;  ///< the path is the name of a database in memory, see `mc_pool_open`
    bool uri;        ///< the path is a URI, see `mc_pool_open`
} mc_pool_options;

/// The settings in force, read back from the open database.
typedef struct mc_pool_settings {
    int page_size;
    int readers;
    int64_t cache_bytes;  ///< whole pages
    int64_t mmap_bytes;   ///< as far as the operating system and the library allow
    mc_synchronous synchronous;
    int checkpoint_pages;
    int64_t log_limit_bytes;
    int64_t journal_size_limit;
    int statement_cache;
    bool secure_delete;
    bool foreign_keys;
    bool read_only;
    bool coalesces_log_writes;  ///< the layer is in use, and the journal is a write-ahead log
    char journal_mode[16];      ///< "wal", "delete", "truncate", "persist", "memory" or "off"
    bool in_memory;
} mc_pool_settings;

/// Fills options of `size` bytes, for a program that was compiled with this `version`. Programs call `mc_pool_default_options`.
void mc_pool_fill_options(mc_pool_options *options, size_t size, int version);

/// Returns the defaults: 4096, 2 readers, 10 MB, no mmap, normal, WAL, checkpoint at 1000 pages, log limit 1 GB, journal size limit 64 MB,
/// 64 statements, secure delete as built, no foreign keys, a file that does not exist is created, coalesced log writes, 30 s, no callbacks.
static inline mc_pool_options mc_pool_default_options(void)
{
    mc_pool_options options;
    mc_pool_fill_options(&options, sizeof options, MC_VERSION_NUMBER);
    return options;
}

/// Opens the database file `path` (UTF-8, NUL-terminated, copied) with its writer; with `read_only`, with its first reader.
///
/// With `in_memory`, the database is in memory and gone when the last pool that has it is closed. An empty path and ":memory:" (which needs
/// no option) are a database of this pool alone; any other path is a name, and all pools of the process that open it have one database. It
/// works as a file does, with a write-ahead log and readers that never wait (mc_vfs.h), except that nothing waits for a disk, that nothing
/// survives the process, and that no other process has it. So `synchronous`, `coalesces_log_writes` and `mmap_bytes` have no effect, and
/// `vfs` is refused.
///
/// With `uri`, `path` is "file:PATH?NAME=VALUE&...", with "%20" and the like in path and values. A parameter sets the option of its
/// meaning, and is refused where it contradicts an option that is set: "mode" (ro: `read_only`; rw: no file is created; rwc: as the options
/// say; memory: `in_memory`, with a name of other pools only with "cache=shared"), "immutable" (0 or 1), "vfs", "cache" (private; shared
/// for memory only). "nolock=1" is refused for files that can change. All others ("psow", "modeof" and those of a VFS) go to the VFS.
/// Without `uri` a path is never a URI, also if it begins with "file:".
///
/// On success `*out` is a pool that the caller owns and gives to `mc_pool_free`; on failure it is NULL and no file was created.
/// Fails with MC_ERROR_MISUSE (an option out of its range, or a contradiction: the message names it), MC_ERROR_NOT_FOUND (no such file or
/// folder, or a folder in place of the file; no such name in memory), what `opened` returns,
/// MC_ERROR_CORRUPT (not a database), MC_ERROR_TIMEOUT (another process keeps it locked), MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_pool_open(const char *path, const mc_pool_options *options, mc_pool *MC_NULLABLE *MC_NONNULL out,
                                   mc_error *MC_NULLABLE error);

/// Admits no more callers (those that wait get MC_ERROR_CLOSED at once), waits for the holders of connections, and closes every
/// connection. Before, it analyzes the tables whose indexes the queries have used, where that is worth its cost (`PRAGMA optimize`), a
/// bounded part of each index, except with MC_JOURNAL_UNCHANGED. Afterwards every check-out fails with MC_ERROR_CLOSED; closing again
/// has no effect. Fails with MC_ERROR_MISUSE, and closes nothing, on a thread that holds a connection, also a loose one that it was the
/// last to use.
MC_MUST_USE mc_status mc_pool_close(mc_pool *pool, mc_error *MC_NULLABLE error);

/// Closes the pool if it is open, and frees it: no thread may hold a connection, wait for one, or use the pool afterwards. If this thread
/// holds a connection, the pool is not freed. NULL is allowed.
void mc_pool_free(mc_pool *MC_NULLABLE pool);

/// Reads the settings in force, which do not change while the pool is open.
void mc_pool_get_settings(mc_pool *pool, mc_pool_settings *settings);

/// The statements that `trace` of the options gets.
typedef enum mc_trace_mode { MC_TRACE_OFF, MC_TRACE_STATEMENTS, MC_TRACE_VALUES } mc_trace_mode;

/// Switches the trace, at any time; without effect if the options have none. A connection applies it at its next check-out.
void mc_pool_set_trace(mc_pool *pool, mc_trace_mode mode);

/// Reads the statistics, at any time.
void mc_pool_get_statistics(mc_pool *pool, mc_pool_statistics *statistics);

/// Reads the statistics of each connection, the writer first, up to `capacity`. Returns the number of connections.
int mc_pool_get_connection_statistics(mc_pool *pool, mc_connection_statistics *MC_NULLABLE statistics, int capacity);

/// The special values of timeouts, which otherwise are nanoseconds from 1 on. Other negative numbers are refused: a remaining time that
/// was computed and is used up must not become an endless wait.
enum {
    MC_WAIT_DEFAULT = 0,   ///< the time of `busy_timeout_ns` of the pool's options, 30 s unless it was changed
    MC_WAIT_FOREVER = -1,  ///< no limit; for locks of other processes the default
    MC_WAIT_NEVER = -2     ///< no wait: a connection or lock that is not free at once fails with MC_ERROR_TIMEOUT
};

/// The options of a check-out. Start from `mc_default_checkout`.
typedef struct mc_checkout {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    bool writer;                    ///< the writer; otherwise a reader
    bool is_long;                   ///< a read that keeps its connection for long: up to 16 waiting short reads go first
    bool loose;                     ///< not tied to this thread: no nesting; for a connection that travels between threads
    int64_t timeout_ns;             ///< the longest wait, on the monotonic clock: nanoseconds or one of MC_WAIT_...
    const char *MC_NULLABLE label;  ///< the holder's work, for the messages of waiting callers; copied, cut at 80 bytes
    mc_ticket *MC_NULLABLE ticket;  ///< interrupts the wait and the work; outlives the connection's return. That of a nested check-out
                                    ///< interrupts until its own return, and with it a statement around it that is on a row
} mc_checkout;

/// Returns the defaults: a reader, waited for as long as by default, tied to this thread.
static inline mc_checkout mc_default_checkout(void)
{
    mc_checkout options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// Takes a connection, waiting for it in the order of the calls. `*out` is returned with `mc_pool_return`.
/// Fails with MC_ERROR_TIMEOUT (the message names the holders of the connections), MC_ERROR_INTERRUPTED, MC_ERROR_CLOSED,
/// MC_ERROR_READ_ONLY (the writer of a read-only pool), MC_ERROR_MISUSE (a ticket in use, an invalid timeout; after a second, if this
/// thread was the last to use all the loose connections that it waits for), MC_ERROR_NO_MEMORY, and as opening a reader does.
MC_MUST_USE mc_status mc_pool_checkout(mc_pool *pool, const mc_checkout *checkout, mc_connection *MC_NULLABLE *MC_NONNULL out,
                                       mc_error *MC_NULLABLE error);

/// Called once with the connection, or with NULL and the error. Keep it short: hand over to another thread.
typedef void (*mc_granted)(void *MC_NULLABLE context, mc_connection *MC_NULLABLE connection, const mc_error *MC_NULLABLE error);

/// The same without blocking: `granted` is called on this thread during the call when a connection is free (or the call
/// fails), otherwise later on the thread that returns one, interrupts, lets the ticket time out, or closes the pool.
/// `timeout_ns` limits only the waits for other processes; limit the wait for the connection with `mc_ticket_time_out`.
/// The connection is tied to no thread until `mc_connection_adopt`.
void mc_pool_checkout_later(mc_pool *pool, const mc_checkout *checkout, mc_granted granted, void *MC_NULLABLE context);

/// Ties a connection that was granted or is loose to the calling thread, so that check-outs on it nest.
void mc_connection_adopt(mc_connection *connection);

/// Gives a connection back. Its outermost return resets the statements still in use and ends a transaction that is still
/// open: a reader's by COMMIT, the writer's by ROLLBACK.
void mc_pool_return(mc_pool *pool, mc_connection *connection);

/// A ticket names one check-out at a time. On success `*out` goes to `mc_ticket_free`. Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_ticket_create(mc_ticket *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Frees a ticket whose check-out has failed or whose connection was returned. NULL is allowed.
void mc_ticket_free(mc_ticket *MC_NULLABLE ticket);

/// Ends the wait, or interrupts the running and all further statements of the connection, with MC_ERROR_INTERRUPTED.
/// Any thread, any time before the ticket is freed; it stays interrupted. COMMIT and ROLLBACK are not interrupted.
void mc_ticket_interrupt(mc_ticket *ticket);

/// Ends the wait of `mc_pool_checkout_later` with MC_ERROR_TIMEOUT, whose message contains `waited_ns`; one that has not begun yet, as soon
/// as it does. Without effect afterwards.
void mc_ticket_time_out(mc_ticket *ticket, int64_t waited_ns);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
