/// mc_log.c: the write-ahead log: its checkpoints, its maximum size, and the reader that pins it.
///
///     checkpoint_pages          after a commit: copied back as far as readers allow, without waiting (SQLite's own way)
///     4 times that number       the log must start over: the writer waits for active readers, 20 ms at most
///     8 times that number       a reader pins it: a warning names the oldest reader, once for each of its check-outs
///     POSTPONED_BYTES           for commits that postpone it (large values): copied back from this size on, if that is later
///     log_limit_bytes           a write begins only when the log can start over, or fails at its timeout
///     a checkpoint that fails   a warning, once until one succeeds; the log grows meanwhile
///
/// A reader never loses its snapshot and never waits; the writer waits. A transaction that has begun may finish, so the log holds at
/// most its limit and one transaction.
#include <inttypes.h>

#include "pool/mc_checkout.h"

enum {
    FRAME_HEADER_BYTES = 24,
    RESTART_AFTER = 4,  ///< times `checkpoint_pages`
    WARN_AFTER = 8,
    RESTART_WAIT_NS = 20 * 1000 * 1000,
    // Each checkpoint waits for the disk twice: with the usual 1000 pages these waits are a fifth of the time for writing a large
    // value. A longer log than this gains nothing.
    POSTPONED_BYTES = 16 * 1024 * 1024,
};

static int64_t bytes_of(const mc_connection *writer, int frames)
{
    return frames * ((int64_t)writer->pool->settings.page_size + FRAME_HEADER_BYTES);
}

typedef struct pin {
    char label[MC_LABEL_SIZE];
    int64_t age_ns;
    bool is_known;  ///< a reader of this pool
    bool is_warned_of;
} pin;

static pin find_pin(mc_connection *writer)
{
    mc_pool *pool = writer->pool;
    pin found = {.is_known = false};
    (void)pthread_mutex_lock(&pool->mutex);
    mc_connection *reader = mc_oldest_reader(pool);
    if (reader != NULL) {
        found.is_known = true;
        found.age_ns = mc_monotonic_ns() - reader->active_since_ns;
        found.is_warned_of = reader->is_warned_of;
        reader->is_warned_of = true;
        mc_copy_label(found.label, reader->label[0] != '\0' ? reader->label : "a read without a label");
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return found;
}

static void describe(const pin *pinned, char *text, size_t size)
{
    if (pinned->is_known)
        sqlite3_snprintf((int)size, text, "\"%s\", which has read for %.1f s,", pinned->label, (double)pinned->age_ns / 1e9);
    else
        sqlite3_snprintf((int)size, text, "a reader of another process or pool");
}

static void warn(mc_connection *writer, int frames)
{
    const mc_pool_options *options = &writer->pool->options;
    if (options->warn == NULL)
        return;
    const pin pinned = find_pin(writer);
    if (pinned.is_known ? pinned.is_warned_of : writer->has_warned_of_others)
        return;
    if (!pinned.is_known)
        writer->has_warned_of_others = true;
    char who[160], message[320];
    describe(&pinned, who, sizeof who);
    const int64_t bytes = bytes_of(writer, frames);
    sqlite3_snprintf((int)sizeof message, message, "the write-ahead log of \"%.80s\" has grown to %.1f MB: %s keeps it from starting over",
                     writer->pool->path, (double)bytes / 1e6, who);
    const mc_log_warning warning = {
        .message = message, .log_bytes = bytes, .reader = pinned.is_known ? pinned.label : NULL, .reader_age_ns = pinned.age_ns};
    options->warn(options->warn_context, &warning);
}

/// Warns that the log cannot be copied back, as where the file's disk is full or its rights have changed, once until it can.
static void warn_of_failure(mc_connection *writer, int code)
{
    mc_pool *const pool = writer->pool;
    if (pool->options.warn == NULL || writer->has_warned_of_failure)
        return;
    writer->has_warned_of_failure = true;
    char message[320];
    const int64_t bytes = bytes_of(writer, writer->log_frames);
    sqlite3_snprintf((int)sizeof message, message,
                     "the write-ahead log of \"%.80s\" cannot be copied to the database (%s): it has %.1f MB, and grows until it can",
                     pool->path, sqlite3_errstr(code), (double)bytes / 1e6);
    pool->options.warn(pool->options.warn_context, &(mc_log_warning){.message = message, .log_bytes = bytes});
}

/// Copies the log back. `waits_ns`: the longest wait for readers, so that the log starts over; negative: it need not start over.
static int checkpoint(mc_connection *writer, const char *schema, int64_t waits_ns)
{
    mc_pool *pool = writer->pool;
    const int64_t busy_limit = writer->busy_limit_ns;
    int frames = -1, copied = -1;
    if (waits_ns >= 0)
        writer->busy_limit_ns = waits_ns;
    const int code = sqlite3_wal_checkpoint_v2(writer->db, schema, waits_ns < 0 ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART,
                                               &frames, &copied);
    writer->busy_limit_ns = busy_limit;
    const bool is_held = code == SQLITE_BUSY || copied < frames, has_failed = code != SQLITE_OK && code != SQLITE_BUSY;
    (void)pthread_mutex_lock(&pool->mutex);
    pool->statistics.log.checkpoints++;
    pool->statistics.log.copied_pages += copied > 0 ? copied : 0;
    pool->statistics.log.held_checkpoints += is_held && !has_failed;
    pool->statistics.log.failed_checkpoints += has_failed;
    (void)pthread_mutex_unlock(&pool->mutex);
    if (has_failed)
        warn_of_failure(writer, code);
    else
        writer->has_warned_of_failure = false;
    return code == SQLITE_OK && is_held ? SQLITE_BUSY : code;
}

/// SQLite calls this after each commit. A checkpoint that fails here is repeated after the next commit: the commit itself has succeeded.
static int committed(void *context, sqlite3 *db, const char *schema, int frames)
{
    mc_connection *writer = context;
    mc_pool *pool = writer->pool;
    const int threshold = pool->options.checkpoint_pages;
    (void)db;
    writer->log_frames = frames;
    (void)pthread_mutex_lock(&pool->mutex);
    pool->statistics.log.bytes = bytes_of(writer, frames);
    (void)pthread_mutex_unlock(&pool->mutex);
    if (threshold == 0 || frames < threshold || (writer->postpones_checkpoint && frames < POSTPONED_BYTES / pool->settings.page_size))
        return SQLITE_OK;

    if (writer->log_restarts_at < (int64_t)RESTART_AFTER * threshold || frames < threshold * (int64_t)2)
        writer->log_restarts_at = (int64_t)RESTART_AFTER * threshold;
    const bool restarts = frames >= writer->log_restarts_at;
    const int code = checkpoint(writer, schema, restarts ? RESTART_WAIT_NS : -1);
    if (code == SQLITE_OK) {
        writer->has_warned_of_others = false;
        return SQLITE_OK;
    }
    if (restarts)  // not again at each commit, because it waits
        writer->log_restarts_at = frames + (int64_t)RESTART_AFTER * threshold;
    if (code == SQLITE_BUSY && frames >= (int64_t)WARN_AFTER * threshold)
        warn(writer, frames);
    return SQLITE_OK;
}

void mc_log_watch(mc_connection *writer)
{
    (void)sqlite3_wal_hook(writer->db, committed, writer);
}

void mc_log_postpone(mc_connection *writer, bool is_postponed)
{
    writer->postpones_checkpoint = is_postponed;
}

/// Whether a statement of the connection reads: its snapshot keeps the log from starting over, and no wait ends that.
static bool reads_itself(const mc_connection *writer)
{
    const mc_statement *statement = writer->in_use.first;
    while (statement != NULL && !statement->stepping)
        statement = statement->next;
    return statement != NULL;
}

mc_status mc_log_make_room(mc_connection *writer, mc_error *error)
{
    const int64_t limit = writer->pool->options.log_limit_bytes;
    if (limit == 0 || bytes_of(writer, writer->log_frames) <= limit)
        return MC_OK;
    if (reads_itself(writer))
        return mc_fail(
            error, MC_ERROR_TIMEOUT,
            "no write: the write-ahead log has %.1f MB, above its limit of %.1f MB, and a statement of this connection that is on "
            "a row keeps it from starting over; end it, or begin a transaction before it",
            (double)bytes_of(writer, writer->log_frames) / 1e6, (double)limit / 1e6);
    const int code = checkpoint(writer, "main", writer->busy_limit_ns);
    if (code == SQLITE_OK) {
        writer->log_frames = 0;  // the next frame is written at the log's start
        return MC_OK;
    }
    if (code != SQLITE_BUSY)
        return mc_fail_sqlite(error, writer->db, code, "copy the write-ahead log to \"%s\"", writer->pool->path);
    const mc_status status = mc_connection_check(writer, error);
    if (status != MC_OK)
        return status;
    const pin pinned = find_pin(writer);
    char who[160];
    describe(&pinned, who, sizeof who);
    (void)mc_fail(
        error, MC_ERROR_TIMEOUT,
        "no write within %.1f s: the write-ahead log has %.1f MB, above its limit of %.1f MB, and %s keeps it from starting over; "
        "end that read or raise the limit",
        (double)writer->busy_limit_ns / 1e9, (double)bytes_of(writer, writer->log_frames) / 1e6, (double)limit / 1e6, who);
    return MC_ERROR_TIMEOUT;
}
