/// mc_pool.c: opens and closes a pool.
#include <string.h>

#include "base/mc_memory.h"
#include "mc_vfs.h"
#include "pool/mc_checkout.h"

enum { LOOK_AGAIN_NS = 10 * 1000 * 1000 };

static const char MEMORY[] = ":memory:";

static mc_status fail_memory(mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a pool");
}

static void free_texts(mc_pool *pool)
{
    mc_free(pool->path);
    mc_free(pool->parameters);
    mc_free(pool->vfs);
    mc_free(pool->writer_vfs);
}

/// The path of the pool's database; that of one in memory for this pool alone is like no other. NULL without memory.
static char *own_path(const mc_pool *pool, const char *path)
{
    char name[40];
    if (!pool->options.in_memory || (path[0] != '\0' && strcmp(path, MEMORY) != 0))
        return mc_copy_text(path);
    sqlite3_snprintf(sizeof name, name, "%s%llx", MEMORY, (unsigned long long)(uintptr_t)pool);
    return mc_copy_text(name);
}

/// Copies the path, the parameters of a URI, and the names of the VFSs.
static mc_status copy_texts(mc_pool *pool, const char *path, const char *parameters, const mc_pool_options *options, mc_error *error)
{
    char name[MC_VFS_NAME_SIZE], layer[MC_VFS_NAME_SIZE];
    const char *vfs = options->vfs, *writer_vfs = options->vfs;
    mc_status status = MC_OK;
    if (options->in_memory) {
        status = mc_vfs_memory(name, error);
        vfs = writer_vfs = name;
    } else if (options->coalesces_log_writes && !options->read_only) {
        status = mc_vfs_coalescing(options->vfs, layer, error);
        writer_vfs = layer;
    }
    if (status != MC_OK)
        return status;
    pool->path = own_path(pool, path);
    pool->parameters = parameters != NULL ? mc_copy_text(parameters) : NULL;
    pool->vfs = vfs != NULL ? mc_copy_text(vfs) : NULL;
    pool->writer_vfs = writer_vfs != NULL ? mc_copy_text(writer_vfs) : NULL;
    pool->options.vfs = pool->vfs;
    const bool is_complete = pool->path != NULL && (pool->parameters != NULL || parameters == NULL) && (pool->vfs != NULL || vfs == NULL)
        && (pool->writer_vfs != NULL || writer_vfs == NULL);
    return is_complete ? MC_OK : fail_memory(error);
}

static mc_status init_locks(mc_pool *pool, mc_error *error)
{
    if (pthread_mutex_init(&pool->mutex, NULL) != 0)
        return fail_memory(error);
    if (mc_condition_init(&pool->drained) != 0) {
        (void)pthread_mutex_destroy(&pool->mutex);
        return fail_memory(error);
    }
    if (mc_condition_init(&pool->told) != 0) {
        (void)pthread_cond_destroy(&pool->drained);
        (void)pthread_mutex_destroy(&pool->mutex);
        return fail_memory(error);
    }
    return MC_OK;
}

static mc_status create_pool(const char *path, const char *parameters, const mc_pool_options *options, mc_pool **out, mc_error *error)
{
    mc_pool *pool = mc_allocate_zeroed(1, sizeof *pool);
    *out = NULL;
    if (pool == NULL)
        return fail_memory(error);
    pool->options = *options;
    atomic_init(&pool->observer_version, 1);
    mc_status status = copy_texts(pool, path, parameters, options, error);
    if (status == MC_OK)
        status = init_locks(pool, error);
    if (status != MC_OK) {
        free_texts(pool);
        mc_free(pool);
        return status;
    }
    *out = pool;
    return MC_OK;
}

/// Gives the pool the file's own path, absolute and without links, as SQLite has found it. All connections open that file then, and all
/// pools of it have the same files next to it, also if they were given other paths.
static mc_status take_own_path(mc_pool *pool, const mc_connection *first, mc_error *error)
{
    const char *const own = sqlite3_db_filename(first->db, "main");
    if (own == NULL || *own == '\0')
        return MC_OK;
    char *const path = mc_copy_text(own);
    if (path == NULL)
        return fail_memory(error);
    mc_free(pool->path);
    pool->path = path;
    return MC_OK;
}

/// Closes the connections, the writer last: it makes the final checkpoint.
static void close_connections(mc_connection *writer, mc_connection *readers)
{
    while (readers != NULL) {
        mc_connection *const reader = readers;
        readers = reader->next;
        mc_connection_close(reader);
    }
    mc_connection_close(writer);
}

static void free_pool(mc_pool *pool)
{
    mc_pool_hooks_free(pool);
    (void)pthread_cond_destroy(&pool->told);
    (void)pthread_cond_destroy(&pool->drained);
    (void)pthread_mutex_destroy(&pool->mutex);
    free_texts(pool);
    mc_free(pool);
}

/// Makes a pool of the program's options and path, without a connection.
static mc_status make_pool(const char *path, const mc_pool_options *given, mc_pool **out, mc_error *error)
{
    mc_pool_options options;
    mc_uri uri = {NULL, NULL, NULL};
    *out = NULL;
    mc_status status = mc_pool_take_options(given, &options, error);
    if (status == MC_OK && options.uri) {
        status = mc_uri_read(path, &options, &uri, error);
        path = uri.path;
    }
    if (status == MC_OK) {
        options.in_memory = options.in_memory || (!options.uri && strcmp(path, MEMORY) == 0);
        status = mc_pool_check_options(path, &options, error);
    }
    if (status == MC_OK)
        status = create_pool(path, uri.parameters, &options, out, error);
    mc_uri_free(&uri);
    return status;
}

mc_status mc_pool_open_with_hooks(const char *path, const mc_pool_options *given, const mc_pool_hooks *const *hooks, size_t count,
                                  mc_pool **out, mc_error *error)
{
    mc_pool *pool = NULL;
    mc_connection *first = NULL;
    *out = NULL;
    mc_status status = make_pool(path, given, &pool, error);
    if (status != MC_OK)
        return status;
    const mc_pool_options *const options = &pool->options;
    status = mc_pool_hooks_make(pool, hooks, count, error);
    if (status != MC_OK)
        goto done;
    status = mc_connection_open(pool, !options->read_only, &first, error);
    if (status != MC_OK)
        goto done;
    if (options->read_only) {
        pool->idle_readers = first;
        pool->readers_open = 1;
    } else {
        pool->writer = first;
    }
    status = take_own_path(pool, first, error);
    if (status != MC_OK)
        goto done;
    mc_file_note(pool);
    status = mc_pool_read_settings(pool, first, error);
    if (status != MC_OK)
        goto done;
    if (options->trace != NULL && !options->trace_waits)
        pool->trace_mode = options->trace_values ? MC_TRACE_VALUES : MC_TRACE_STATEMENTS;
    *out = pool;
    pool = NULL;  // the caller owns it now

done:
    if (pool != NULL) {
        close_connections(pool->writer, pool->idle_readers);
        free_pool(pool);
    }
    return status;
}

void mc_pool_set_trace(mc_pool *pool, mc_trace_mode mode)
{
    (void)pthread_mutex_lock(&pool->mutex);
    if (pool->options.trace != NULL)
        pool->trace_mode = mode;
    (void)pthread_mutex_unlock(&pool->mutex);
}

/// With the pool locked: waits until this thread is not the last user of a connection. False: it still is.
static bool hands_over(mc_pool *pool)
{
    const int64_t deadline = mc_monotonic_ns() + mc_handover_ns(pool);
    // A return signals nothing before the pool is closing.
    while (mc_used_by_this_thread(pool) != NULL) {
        const int64_t now = mc_monotonic_ns(), next = now + LOOK_AGAIN_NS;
        if (now >= deadline)
            return false;
        (void)mc_condition_wait_until(&pool->drained, &pool->mutex, next < deadline ? next : deadline);
    }
    return true;
}

static mc_status fail_in_use(const mc_pool *pool, const mc_connection *held, mc_error *error)
{
    return mc_fail(error, MC_ERROR_MISUSE, "close of \"%s\": this thread still uses one of its connections, as \"%s\": end that work first",
                   pool->path, held->label[0] != '\0' ? held->label : "work without a label");
}

mc_status mc_pool_close(mc_pool *pool, mc_error *error)
{
    mc_waiter_list refused = {NULL, NULL};
    (void)pthread_mutex_lock(&pool->mutex);
    const mc_connection *held = mc_pool_held_by(pool, true);
    if (held == NULL && !hands_over(pool))
        held = mc_used_by_this_thread(pool);
    if (held != NULL) {
        const mc_status status = fail_in_use(pool, held, error);
        (void)pthread_mutex_unlock(&pool->mutex);
        return status;
    }
    const bool is_first = !pool->is_closing;
    pool->is_closing = true;
    mc_refuse_waiters(pool, &refused);
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_call_back(pool, &refused);

    (void)pthread_mutex_lock(&pool->mutex);
    while (mc_pool_is_in_use(pool) || (!is_first && !pool->is_closed))
        (void)pthread_cond_wait(&pool->drained, &pool->mutex);
    if (is_first) {
        mc_connection *const writer = pool->writer, *const readers = pool->idle_readers;
        pool->writer = pool->idle_readers = NULL;
        (void)pthread_mutex_unlock(&pool->mutex);  // the writer's hooks lock it, and statistics stay available
        mc_pool_optimize(writer, readers);
        close_connections(writer, readers);
        mc_pool_hooks_close(pool);
        (void)pthread_mutex_lock(&pool->mutex);
        pool->is_closed = true;
        (void)pthread_cond_broadcast(&pool->drained);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return MC_OK;
}

void mc_pool_free(mc_pool *pool)
{
    if (pool == NULL)
        return;
    // Fails only if this thread holds a connection, against the contract: its return needs the pool, which is not freed then.
    if (mc_pool_close(pool, NULL) == MC_OK)
        free_pool(pool);
}

void mc_pool_get_settings(mc_pool *pool, mc_pool_settings *settings)
{
    *settings = pool->settings;
}
