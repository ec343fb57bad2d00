/// mc_pool_options.c: checks the options of a pool, and reads the settings in force.
#include <inttypes.h>
#include <string.h>

#include "base/mc_options.h"
#include "mc_vfs.h"
#include "pool/mc_pool_internal.h"

enum { PAGE_SIZE_SMALLEST = 1024, PAGE_SIZE_LARGEST = 65536, PAGE_SIZE_DEFAULT = 4096 };

/// The size of the options before `opened` was added.
enum { FIRST_SIZE = offsetof(mc_pool_options, opened) };

void mc_pool_fill_options(mc_pool_options *options, size_t size, int version)
{
    const mc_pool_options defaults = {
        .size = size,
        .version = version,
        .page_size = -1,
        .readers = 2,
        .cache_bytes = 10 * 1000 * 1000,
        .synchronous = MC_SYNCHRONOUS_NORMAL,
        .journal = MC_JOURNAL_WAL,
        .checkpoint_pages = 1000,
        .log_limit_bytes = INT64_C(1000000000),
        .journal_size_limit = 64 * 1000 * 1000,
        .statement_cache = 64,
        .secure_delete = -1,
        .creates_file = true,
        .coalesces_log_writes = true,
        .busy_timeout_ns = INT64_C(30000000000),
    };
    const size_t known = size < sizeof defaults ? size : sizeof defaults;
    memset(options, 0, size);
    memcpy(options, &defaults, known);
}

mc_status mc_pool_take_options(const mc_pool_options *given, mc_pool_options *options, mc_error *error)
{
    const mc_status status = mc_options_check("mc_pool_options", given->size, given->version, FIRST_SIZE, sizeof *options, error);
    if (status != MC_OK)
        return status;
    mc_pool_fill_options(options, sizeof *options, given->version);
    memcpy(options, given, given->size);
    options->size = sizeof *options;
    return MC_OK;
}

static mc_status check_range(const char *name, int64_t value, int64_t least, int64_t most, const char *unit, mc_error *error)
{
    if (value >= least && value <= most)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE, "%s %" PRId64 ": use %" PRId64 " to %" PRId64 "%s", name, value, least, most, unit);
}

static mc_status check_page_size(int size, mc_error *error)
{
    if (size < 0 || (size >= PAGE_SIZE_SMALLEST && size <= PAGE_SIZE_LARGEST && (size & (size - 1)) == 0))
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE, "page size %d: use a power of two from %d to %d, or a negative value for the default (%d)", size,
                   PAGE_SIZE_SMALLEST, PAGE_SIZE_LARGEST, PAGE_SIZE_DEFAULT);
}

static mc_status check_path(const char *path, const mc_pool_options *options, mc_error *error)
{
    static const char PRIVATE[] = ":memory:";
    if (!options->in_memory)
        return path[0] != '\0' ? MC_OK : mc_fail(error, MC_ERROR_MISUSE, "database path \"\": name a file, or \":memory:\"");
    const bool is_private = path[0] == '\0' || strcmp(path, PRIVATE) == 0;
    if (!is_private && strncmp(path, PRIVATE, sizeof PRIVATE - 1) == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "database in memory \"%s\": choose a name that does not begin with \"%s\"", path, PRIVATE);
    if (options->immutable || (options->read_only && is_private))
        return mc_fail(error, MC_ERROR_MISUSE, "database in memory \"%s\": it %s", path,
                       options->immutable ? "is never immutable; leave that option out"
                                          : "would be empty for reading only; open one with a name, or a file");
    if (options->vfs != NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "database in memory \"%s\": it has no storage layers, and no VFS \"%.80s\"", path,
                       options->vfs);
    return MC_OK;
}

mc_status mc_pool_check_options(const char *path, const mc_pool_options *options, mc_error *error)
{
    const int page_size = options->page_size < 0 ? PAGE_SIZE_DEFAULT : options->page_size;
    mc_status status = check_path(path, options, error);
    if (status == MC_OK && options->immutable && !options->read_only)
        status = mc_fail(error, MC_ERROR_MISUSE, "an immutable database is opened for reading only: set that option as well");
    if (status == MC_OK)
        status = check_page_size(options->page_size, error);
    if (status == MC_OK && options->cache_bytes < page_size)
        status = mc_fail(error, MC_ERROR_MISUSE, "cache size %" PRId64 " bytes: use at least one page (%d bytes)", options->cache_bytes,
                         page_size);
    if (status == MC_OK)
        status = check_range("cache size", options->cache_bytes, page_size, INT64_C(1) << 40, " bytes", error);
    if (status == MC_OK)
        status = check_range("maximum connections", options->readers, 1, MC_READERS_MAXIMUM, " readers in addition to the writer", error);
    if (status == MC_OK)
        status = check_range("memory map size", options->mmap_bytes, 0, INT64_C(1) << 40, " bytes", error);
    if (status == MC_OK)
        status = check_range("checkpoint pages", options->checkpoint_pages, 0, INT32_MAX, " pages (0: no automatic checkpoint)", error);
    if (status == MC_OK)
        status = check_range("log limit", options->log_limit_bytes, 0, INT64_MAX, " bytes (0: no limit)", error);
    if (status == MC_OK)
        status = check_range("journal size limit", options->journal_size_limit, -1, INT64_MAX, " bytes (-1: none)", error);
    if (status == MC_OK)
        status = check_range("statement cache size", options->statement_cache, 0, MC_STATEMENTS_MAXIMUM, " statements", error);
    if (status == MC_OK)
        status = check_range("synchronous", options->synchronous, MC_SYNCHRONOUS_OFF, MC_SYNCHRONOUS_FULL, "", error);
    if (status == MC_OK)
        status = check_range("journal", options->journal, MC_JOURNAL_WAL, MC_JOURNAL_UNCHANGED, "", error);
    if (status == MC_OK)
        status = check_range("secure delete", options->secure_delete, -1, 1, "", error);
    if (status == MC_OK)
        status = check_range("busy timeout", options->busy_timeout_ns, 0, INT64_MAX, " ns", error);
    return status;
}

static mc_status read_journal_mode(mc_connection *connection, char *mode, size_t size, mc_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection->db, "PRAGMA journal_mode", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW) {
            const unsigned char *text = sqlite3_column_text(statement, 0);
            sqlite3_snprintf((int)size, mode, "%s", text != NULL ? (const char *)text : "");
        }
        code = sqlite3_finalize(statement);
    }
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, connection->db, code, "read the journal mode");
}

mc_status mc_pool_read_settings(mc_pool *pool, mc_connection *connection, mc_error *error)
{
    mc_pool_settings *settings = &pool->settings;
    int64_t page_size = 0, cache_pages = 0, mmap_bytes = 0, synchronous = 0, size_limit = 0, secure = 0, keys = 0;
    const struct {
        const char *name;
        int64_t *value;
    } pragmas[] = {
        {"page_size", &page_size},           {"cache_size", &cache_pages}, {"mmap_size", &mmap_bytes}, {"synchronous", &synchronous},
        {"journal_size_limit", &size_limit}, {"secure_delete", &secure},   {"foreign_keys", &keys},
    };
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0]; i++) {
        const mc_status status = mc_connection_pragma(connection, pragmas[i].name, pragmas[i].value, error);
        if (status != MC_OK)
            return status;
    }
    settings->page_size = (int)page_size;
    settings->readers = pool->options.readers;
    settings->cache_bytes = cache_pages * page_size;
    settings->mmap_bytes = mmap_bytes;
    settings->synchronous = (mc_synchronous)synchronous;
    settings->checkpoint_pages = pool->options.checkpoint_pages;  // of mc_log.c: SQLite's own checkpoints are off
    settings->log_limit_bytes = pool->options.log_limit_bytes;
    settings->journal_size_limit = size_limit;
    settings->statement_cache = pool->options.statement_cache;
    settings->secure_delete = secure != 0;
    settings->foreign_keys = keys != 0;
    settings->read_only = pool->options.read_only;
    settings->in_memory = pool->options.in_memory;
    const mc_status status = read_journal_mode(connection, settings->journal_mode, sizeof settings->journal_mode, error);
    settings->coalesces_log_writes = mc_vfs_coalesces(connection->db) && strcmp(settings->journal_mode, "wal") == 0;
    return status;
}
