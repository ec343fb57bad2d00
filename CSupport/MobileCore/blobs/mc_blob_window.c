/// mc_blob_window.c: reads the chunks of a large value.
#include "blobs/mc_blob_window.h"

#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "pool/mc_pool_internal.h"

/// Consecutive reads read ahead more each time: then the costs of a connection and a look-up, which each fetch has, are small compared to
/// those of its bytes. Requested bytes go directly to the caller, and only bytes that are read ahead are copied twice. Requests of DIRECT
/// bytes or more read nothing ahead. Windows that do not fit into a processor's own cache next to SQLite's pages are slower again.
enum { WINDOW_LEAST = 4096, WINDOW_MOST = 192 * 1024, WINDOW_GROWTH = 4, DIRECT = 128 * 1024 };

static mc_status fail_chunk(const mc_blob_window *window, sqlite3 *db, int code, int64_t number, mc_error *error)
{
    if (code == SQLITE_ERROR)  // "no such rowid"
        return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": chunk %" PRId64 " is missing", window->value, number);
    return mc_fail_sqlite(error, db, code, "large value %" PRId64 ", chunk %" PRId64, window->value, number);
}

/// Opens the chunk, if possible in the handle of the previous chunk, and checks its length.
static mc_status open_chunk(const mc_blob_window *window, sqlite3 *db, int64_t number, sqlite3_blob **blob, mc_error *error)
{
    const int64_t key = mc_chunk_key(window->value, number);
    const int64_t before = number * window->chunk_size;
    const int64_t left = window->value_bytes - before;
    const int64_t expected = left < window->chunk_size ? left : window->chunk_size;
    const int code = *blob != NULL ? sqlite3_blob_reopen(*blob, key) : sqlite3_blob_open(db, "main", "_mc_chunk", "content", key, 0, blob);
    if (code != SQLITE_OK)
        return fail_chunk(window, db, code, number, error);
    if (sqlite3_blob_bytes(*blob) != expected)
        return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": chunk %" PRId64 " has %d bytes, %" PRId64 " are expected",
                       window->value, number, sqlite3_blob_bytes(*blob), expected);
    return MC_OK;
}

/// Bytes of the value on their way to memory.
typedef struct transfer {
    const mc_blob_window *window;
    mc_connection *connection;
    sqlite3 *db;
    sqlite3_blob *blob;  ///< the chunk that was read last; NULL before the first
    int64_t byte;        ///< the next one to copy
} transfer;

/// Copies the next `length` bytes, all of which exist.
static mc_status copy_next(transfer *transfer, uint8_t *buffer, size_t length, mc_error *error)
{
    const mc_blob_window *const window = transfer->window;
    const int64_t chunk_size = window->chunk_size;
    while (length > 0) {
        const int64_t number = transfer->byte / chunk_size, offset = transfer->byte % chunk_size;
        const size_t in_chunk = (size_t)(chunk_size - offset);
        const size_t size = length < in_chunk ? length : in_chunk;
        if (offset == 0 || transfer->blob == NULL) {
            // SQLite interrupts statements, not these reads.
            mc_status status = mc_connection_check(transfer->connection, error);
            if (status == MC_OK)
                status = open_chunk(window, transfer->db, number, &transfer->blob, error);
            if (status != MC_OK)
                return status;
        }
        const int code = sqlite3_blob_read(transfer->blob, buffer, (int)size, (int)offset);
        if (code != SQLITE_OK)
            return fail_chunk(window, transfer->db, code, number, error);
        buffer += size;
        transfer->byte += (int64_t)size;
        length -= size;
    }
    return MC_OK;
}

/// Fills `buffer` from `byte` on, then `behind` with the next bytes, with one connection of the pool.
static mc_status fetch(const mc_blob_window *window, int64_t byte, uint8_t *buffer, size_t length, uint8_t *behind, size_t more,
                       mc_error *error)
{
    mc_connection *connection = NULL;
    mc_status status = mc_pool_checkout(window->pool, &window->checkout, &connection, error);
    if (status != MC_OK)
        return status;
    transfer transfer = {.window = window, .connection = connection, .db = mc_connection_sqlite(connection), .byte = byte};
    status = copy_next(&transfer, buffer, length, error);
    if (status == MC_OK)
        status = copy_next(&transfer, behind, more, error);
    (void)sqlite3_blob_close(transfer.blob);  // returns the reported failure again
    mc_pool_return(window->pool, connection);
    return status;
}

/// The number of bytes to read after `length` requested bytes: enough to make a small request worth a fetch, and more for each
/// consecutive request.
static size_t window_size(const mc_blob_window *window, int64_t byte, size_t length)
{
    const bool goes_on = byte > 0 && byte == window->start + (int64_t)window->length;
    if (!goes_on)
        return length < WINDOW_LEAST ? WINDOW_LEAST - length : 0;
    const size_t last = window->length > length ? window->length : length;
    return last < WINDOW_MOST / WINDOW_GROWTH ? last * WINDOW_GROWTH : WINDOW_MOST;
}

static mc_status make_room(mc_blob_window *window, size_t size, mc_error *error)
{
    if (size <= window->capacity)
        return MC_OK;
    uint8_t *bytes = mc_reallocate(window->bytes, size, 1);
    if (bytes == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to read large value %" PRId64, window->value);
    window->bytes = bytes;
    window->capacity = size;
    return MC_OK;
}

/// Fetches `length` bytes into `buffer`, and the bytes to be read ahead into the window; 0 bytes of either are allowed.
static mc_status fetch_ahead(mc_blob_window *window, int64_t byte, uint8_t *buffer, size_t length, size_t least_ahead, mc_error *error)
{
    const int64_t start = byte + (int64_t)length, left = window->value_bytes - start;
    size_t ahead = length >= DIRECT ? 0 : window_size(window, byte, length);
    if (ahead < least_ahead)
        ahead = least_ahead;
    // Up to the end of a chunk: in the middle of one, the next fetch would have to traverse its pages again.
    const size_t beyond = (size_t)((start + (int64_t)ahead) % window->chunk_size);
    if (ahead > least_ahead && beyond < ahead - least_ahead)
        ahead -= beyond;
    if (left < (int64_t)ahead)
        ahead = (size_t)left;
    mc_status status = make_room(window, ahead, error);
    if (status != MC_OK)
        return status;
    window->length = 0;
    status = fetch(window, byte, buffer, length, window->bytes, ahead, error);
    if (status != MC_OK && ahead > least_ahead) {  // the damage may be after the requested bytes
        ahead = least_ahead;
        status = fetch(window, byte, buffer, length, window->bytes, ahead, error);
    }
    if (status != MC_OK)
        return status;
    window->start = start;
    window->length = ahead;
    return MC_OK;
}

mc_status mc_blob_window_fill(mc_blob_window *window, int64_t byte, size_t least, mc_error *error)
{
    const int64_t left = window->value_bytes - byte;
    const size_t wanted = left < (int64_t)least ? (size_t)left : least;
    const int64_t end = window->start + (int64_t)window->length;
    if (byte >= window->start && end - byte >= (int64_t)wanted)
        return MC_OK;
    return fetch_ahead(window, byte, NULL, 0, wanted, error);
}

const uint8_t *mc_blob_window_content(const mc_blob_window *window, int64_t byte, size_t *length)
{
    const size_t offset = (size_t)(byte - window->start);
    *length = window->length - offset;
    return window->bytes + offset;
}

/// Copies the bytes that the window already has.
static size_t copy_from_window(const mc_blob_window *window, int64_t byte, uint8_t *buffer, size_t capacity)
{
    size_t length = 0;
    if (byte < window->start || byte >= window->start + (int64_t)window->length)
        return 0;
    const uint8_t *bytes = mc_blob_window_content(window, byte, &length);
    if (length > capacity)
        length = capacity;
    memcpy(buffer, bytes, length);
    return length;
}

mc_status mc_blob_window_read(mc_blob_window *window, int64_t byte, uint8_t *buffer, size_t size, mc_error *error)
{
    const size_t copied = copy_from_window(window, byte, buffer, size);
    const size_t rest = size - copied;
    return rest == 0 ? MC_OK : fetch_ahead(window, byte + (int64_t)copied, buffer + copied, rest, 0, error);
}

void mc_blob_window_free(mc_blob_window *window)
{
    mc_free(window->bytes);
}
