/// mc_blob_reader.c: reads large values.
#include "mc_blob_reader.h"

#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_utf8_counter.h"

/// Reading ahead grows while reads follow each other: then the costs of a connection and a look-up, which each fetch has, are few beside
/// those of its bytes. What is asked for goes straight to the caller, only what is read ahead is copied twice; requests from DIRECT on
/// bear the costs alone. Windows that do not fit a processor's own cache beside SQLite's pages are slower again.
enum { WINDOW_LEAST = 4096, WINDOW_MOST = 192 * 1024, WINDOW_GROWTH = 4, DIRECT = 128 * 1024 };

struct mc_blob_reader {
    mc_pool *pool;
    int64_t value;
    mc_blob_description description;
    int64_t byte;     ///< where it stands
    int64_t unit;     ///< the same in units
    uint8_t *window;  ///< content that has been read ahead; NULL before the first
    size_t window_capacity;
    int64_t window_start;
    size_t window_length;
    mc_error source_failure;
};

mc_status mc_blob_reader_open(mc_pool *pool, int64_t value, mc_blob_reader **out, mc_error *error)
{
    const mc_checkout checkout = {.timeout_ns = MC_WAIT_FOREVER};
    mc_connection *connection = NULL;
    mc_blob_description description;
    *out = NULL;
    mc_status status = mc_blob_pin(pool, value, error);  // before the look-up: see mc_blob_removal.c
    if (status != MC_OK)
        return status;
    mc_blob_reader *reader = mc_allocate(sizeof *reader);
    if (reader == NULL)
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to read large value %" PRId64, value);
    if (status == MC_OK)
        status = mc_pool_checkout(pool, &checkout, &connection, error);
    if (status == MC_OK) {
        status = mc_blob_describe(connection, value, &description, error);
        mc_pool_return(pool, connection);
    }
    if (status != MC_OK) {
        mc_free(reader);
        mc_blob_unpin(pool, value);
        return status;
    }
    *reader = (mc_blob_reader){.pool = pool, .value = value, .description = description};
    *out = reader;
    return MC_OK;
}

mc_blob_description mc_blob_reader_description(const mc_blob_reader *reader)
{
    return reader->description;
}

int64_t mc_blob_reader_position(const mc_blob_reader *reader)
{
    return reader->unit;
}

void mc_blob_reader_free(mc_blob_reader *reader)
{
    if (reader == NULL)
        return;
    mc_blob_unpin(reader->pool, reader->value);
    mc_free(reader->window);
    mc_free(reader);
}

static mc_status fail_chunk(const mc_blob_reader *reader, sqlite3 *db, int code, int64_t number, mc_error *error)
{
    if (code == SQLITE_ERROR)  // "no such rowid"
        return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": chunk %" PRId64 " is missing", reader->value, number);
    return mc_fail_sqlite(error, db, code, "large value %" PRId64 ", chunk %" PRId64, reader->value, number);
}

/// Opens the chunk, in the handle of the chunk before where there is one, and checks its length.
static mc_status open_chunk(const mc_blob_reader *reader, sqlite3 *db, int64_t number, sqlite3_blob **blob, mc_error *error)
{
    const int64_t key = mc_chunk_key(reader->value, number);
    const int64_t before = number * reader->description.chunk_size;
    const int64_t left = reader->description.bytes - before;
    const int64_t expected = left < reader->description.chunk_size ? left : reader->description.chunk_size;
    const int code = *blob != NULL ? sqlite3_blob_reopen(*blob, key) : sqlite3_blob_open(db, "main", "_mc_chunk", "content", key, 0, blob);
    if (code != SQLITE_OK)
        return fail_chunk(reader, db, code, number, error);
    if (sqlite3_blob_bytes(*blob) != expected)
        return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": chunk %" PRId64 " has %d bytes, %" PRId64 " are expected",
                       reader->value, number, sqlite3_blob_bytes(*blob), expected);
    return MC_OK;
}

/// Bytes of the value on their way to memory.
typedef struct transfer {
    const mc_blob_reader *reader;
    sqlite3 *db;
    sqlite3_blob *blob;  ///< the chunk that was read last; NULL before the first
    int64_t byte;        ///< where it goes on
} transfer;

/// Copies the next `length` bytes, all of which exist.
static mc_status copy_next(transfer *transfer, uint8_t *buffer, size_t length, mc_error *error)
{
    const mc_blob_reader *const reader = transfer->reader;
    const int64_t chunk_size = reader->description.chunk_size;
    while (length > 0) {
        const int64_t number = transfer->byte / chunk_size, offset = transfer->byte % chunk_size;
        const size_t in_chunk = (size_t)(chunk_size - offset);
        const size_t size = length < in_chunk ? length : in_chunk;
        if (offset == 0 || transfer->blob == NULL) {
            const mc_status status = open_chunk(reader, transfer->db, number, &transfer->blob, error);
            if (status != MC_OK)
                return status;
        }
        const int code = sqlite3_blob_read(transfer->blob, buffer, (int)size, (int)offset);
        if (code != SQLITE_OK)
            return fail_chunk(reader, transfer->db, code, number, error);
        buffer += size;
        transfer->byte += (int64_t)size;
        length -= size;
    }
    return MC_OK;
}

/// Fills `buffer`, then `behind` with what follows, from `byte` on, with one connection of the pool.
static mc_status fetch(const mc_blob_reader *reader, int64_t byte, uint8_t *buffer, size_t length, uint8_t *behind, size_t more,
                       mc_error *error)
{
    const mc_checkout checkout = {.timeout_ns = MC_WAIT_FOREVER};
    mc_connection *connection = NULL;
    mc_status status = mc_pool_checkout(reader->pool, &checkout, &connection, error);
    if (status != MC_OK)
        return status;
    transfer transfer = {.reader = reader, .db = mc_connection_sqlite(connection), .byte = byte};
    status = copy_next(&transfer, buffer, length, error);
    if (status == MC_OK)
        status = copy_next(&transfer, behind, more, error);
    (void)sqlite3_blob_close(transfer.blob);  // repeats the failure that has been reported
    mc_pool_return(reader->pool, connection);
    return status;
}

/// How much to read behind `length` bytes that are asked for: what makes a small request worth a fetch, and from the second one on
/// in a row more each time.
static size_t window_size(const mc_blob_reader *reader, int64_t byte, size_t length)
{
    const bool goes_on = byte > 0 && byte == reader->window_start + (int64_t)reader->window_length;
    if (!goes_on)
        return length < WINDOW_LEAST ? WINDOW_LEAST - length : 0;
    const size_t last = reader->window_length > length ? reader->window_length : length;
    return last < WINDOW_MOST / WINDOW_GROWTH ? last * WINDOW_GROWTH : WINDOW_MOST;
}

static mc_status make_room(mc_blob_reader *reader, size_t size, mc_error *error)
{
    if (size <= reader->window_capacity)
        return MC_OK;
    uint8_t *window = mc_reallocate(reader->window, size, 1);
    if (window == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to read large value %" PRId64, reader->value);
    reader->window = window;
    reader->window_capacity = size;
    return MC_OK;
}

/// Fetches `length` bytes into `buffer`, and as many as are to be read ahead into the window; 0 of one of them is allowed.
static mc_status fetch_ahead(mc_blob_reader *reader, int64_t byte, uint8_t *buffer, size_t length, size_t least_ahead, mc_error *error)
{
    const int64_t start = byte + (int64_t)length, left = reader->description.bytes - start;
    size_t ahead = length >= DIRECT ? 0 : window_size(reader, byte, length);
    if (ahead < least_ahead)
        ahead = least_ahead;
    // Up to the end of a chunk: in the middle of one, the next fetch would have to walk over its pages once more.
    const size_t beyond = (size_t)((start + (int64_t)ahead) % reader->description.chunk_size);
    if (ahead > least_ahead && beyond < ahead - least_ahead)
        ahead -= beyond;
    if (left < (int64_t)ahead)
        ahead = (size_t)left;
    mc_status status = make_room(reader, ahead, error);
    if (status != MC_OK)
        return status;
    reader->window_length = 0;
    status = fetch(reader, byte, buffer, length, reader->window, ahead, error);
    if (status != MC_OK && ahead > least_ahead) {  // what is damaged may lie behind what is asked for
        ahead = least_ahead;
        status = fetch(reader, byte, buffer, length, reader->window, ahead, error);
    }
    if (status != MC_OK)
        return status;
    reader->window_start = start;
    reader->window_length = ahead;
    return MC_OK;
}

/// Makes the window begin at `byte`, or contain it with at least `least` bytes behind it where the value has them.
static mc_status fill_window(mc_blob_reader *reader, int64_t byte, size_t least, mc_error *error)
{
    const int64_t left = reader->description.bytes - byte;
    const size_t wanted = left < (int64_t)least ? (size_t)left : least;
    const int64_t end = reader->window_start + (int64_t)reader->window_length;
    if (byte >= reader->window_start && end - byte >= (int64_t)wanted)
        return MC_OK;
    return fetch_ahead(reader, byte, NULL, 0, wanted, error);
}

/// What the window has from `byte` on.
static const uint8_t *in_window(const mc_blob_reader *reader, int64_t byte, size_t *length)
{
    const size_t offset = (size_t)(byte - reader->window_start);
    *length = reader->window_length - offset;
    return reader->window + offset;
}

/// Copies what the window already has.
static size_t copy_from_window(const mc_blob_reader *reader, uint8_t *buffer, size_t capacity)
{
    size_t length = 0;
    if (reader->byte < reader->window_start || reader->byte >= reader->window_start + (int64_t)reader->window_length)
        return 0;
    const uint8_t *bytes = in_window(reader, reader->byte, &length);
    if (length > capacity)
        length = capacity;
    memcpy(buffer, bytes, length);
    return length;
}

/// Copies `size` bytes, all of which exist, from where the reader stands.
static mc_status read_bytes(mc_blob_reader *reader, uint8_t *buffer, size_t size, mc_error *error)
{
    const size_t copied = copy_from_window(reader, buffer, size);
    const size_t rest = size - copied;
    const int64_t byte = reader->byte + (int64_t)copied;
    if (rest == 0)
        return MC_OK;
    return fetch_ahead(reader, byte, buffer + copied, rest, 0, error);
}

mc_status mc_blob_reader_read(mc_blob_reader *reader, void *buffer, size_t capacity, size_t *length, mc_error *error)
{
    const int64_t left = reader->description.bytes - reader->byte;
    const size_t size = (uint64_t)left < capacity ? (size_t)left : capacity;
    *length = 0;
    const mc_status status = read_bytes(reader, buffer, size, error);
    if (status != MC_OK)
        return status;
    reader->byte += (int64_t)size;
    reader->unit += reader->description.unit == MC_BLOB_SCALARS ? mc_utf8_count(buffer, size) : (int64_t)size;
    *length = size;
    return MC_OK;
}

size_t mc_blob_reader_source(void *context, void *buffer, size_t capacity)
{
    mc_blob_reader *reader = context;
    size_t length = 0;
    return mc_blob_reader_read(reader, buffer, capacity, &length, &reader->source_failure) == MC_OK ? length : SIZE_MAX;
}

const mc_error *mc_blob_reader_failure(const mc_blob_reader *reader)
{
    return &reader->source_failure;
}

/// Reads as many bytes as fit and gives back those of a character that does not: for requests that want all of what fits.
static mc_status read_whole_characters(mc_blob_reader *reader, char *buffer, size_t capacity, size_t *length, int64_t *units,
                                       mc_error *error)
{
    const int64_t left = reader->description.bytes - reader->byte;
    const size_t size = (uint64_t)left < capacity ? (size_t)left : capacity;
    const mc_status status = read_bytes(reader, (uint8_t *)buffer, size, error);
    if (status != MC_OK)
        return status;
    *length = mc_utf8_prefix((const uint8_t *)buffer, size, INT64_MAX, units);
    reader->byte += (int64_t)*length;
    reader->unit += *units;
    return MC_OK;
}

mc_status mc_blob_reader_read_text(mc_blob_reader *reader, int64_t max_units, char *buffer, size_t capacity, size_t *length, int64_t *units,
                                   mc_error *error)
{
    const int64_t first_byte = reader->byte, first_unit = reader->unit;
    *length = 0;
    *units = 0;
    if (reader->description.unit != MC_BLOB_SCALARS)
        return mc_fail(error, MC_ERROR_MISUSE, "large value %" PRId64 ": its content is bytes, not text", reader->value);
    if (capacity < 4)
        return mc_fail(error, MC_ERROR_MISUSE, "a buffer of %zu bytes: use at least 4, which hold any character", capacity);
    if (max_units >= 0 && (uint64_t)max_units >= capacity)
        return read_whole_characters(reader, buffer, capacity, length, units, error);
    while (*units < max_units && reader->byte < reader->description.bytes) {
        size_t available = 0;
        int64_t count = 0;
        const mc_status status = fill_window(reader, reader->byte, 4, error);
        if (status != MC_OK) {
            reader->byte = first_byte;
            reader->unit = first_unit;
            *length = 0;
            *units = 0;
            return status;
        }
        const uint8_t *bytes = in_window(reader, reader->byte, &available);
        if (available > capacity - *length)
            available = capacity - *length;
        const size_t size = mc_utf8_prefix(bytes, available, max_units - *units, &count);
        if (size == 0)
            break;  // the next character does not fit
        memcpy(buffer + *length, bytes, size);
        *length += size;
        *units += count;
        reader->byte += (int64_t)size;
        reader->unit += count;
    }
    return MC_OK;
}

/// The scalars before a chunk.
static mc_status start_of_chunk(const mc_blob_reader *reader, mc_connection *connection, int64_t number, int64_t *start, mc_error *error)
{
    const int64_t key = mc_chunk_key(reader->value, number);
    bool found = false;
    const mc_status status =
        mc_blob_find(connection, "SELECT \"start\" FROM \"_mc_chunk\" WHERE \"id\" = ?", &key, 1, start, &found, error);
    if (status == MC_OK && !found)
        return fail_chunk(reader, mc_connection_sqlite(connection), SQLITE_ERROR, number, error);
    return status;
}

/// The last chunk that no more than `position` scalars precede, and how many do.
static mc_status find_chunk(const mc_blob_reader *reader, mc_connection *connection, int64_t position, int64_t *number, int64_t *start,
                            mc_error *error)
{
    int64_t low = 0, high = (reader->description.bytes - 1) / reader->description.chunk_size;
    *start = 0;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        int64_t before = 0;
        const mc_status status = start_of_chunk(reader, connection, middle, &before, error);
        if (status != MC_OK)
            return status;
        if (before <= position) {
            low = middle;
            *start = before;
        } else {
            high = middle - 1;
        }
    }
    *number = low;
    return MC_OK;
}

/// Goes on from the first byte of a chunk, which may lie within a character, to a character that begins in it.
static mc_status skip_scalars(mc_blob_reader *reader, int64_t byte, int64_t scalars, int64_t *found, mc_error *error)
{
    bool is_start = true;
    while (byte < reader->description.bytes) {
        size_t length = 0;
        int64_t count = 0;
        const mc_status status = fill_window(reader, byte, 4, error);
        if (status != MC_OK)
            return status;
        const uint8_t *bytes = in_window(reader, byte, &length);
        size_t skipped = 0;
        while (is_start && skipped < length && (bytes[skipped] & 0xC0) == 0x80)
            skipped++;
        is_start = false;
        const size_t size = mc_utf8_prefix(bytes + skipped, length - skipped, scalars, &count);
        byte += (int64_t)(skipped + size);
        scalars -= count;
        if (scalars == 0) {
            *found = byte;
            return MC_OK;
        }
        if (size == 0)
            return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ", byte %" PRId64 ": not UTF-8", reader->value, byte);
    }
    return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": it has fewer characters than were counted", reader->value);
}

static mc_status seek_scalar(mc_blob_reader *reader, int64_t position, int64_t *byte, mc_error *error)
{
    const mc_checkout checkout = {.timeout_ns = MC_WAIT_FOREVER};
    mc_connection *connection = NULL;
    int64_t number = 0, start = 0;
    mc_status status = mc_pool_checkout(reader->pool, &checkout, &connection, error);
    if (status != MC_OK)
        return status;
    status = find_chunk(reader, connection, position, &number, &start, error);
    mc_pool_return(reader->pool, connection);
    if (status != MC_OK)
        return status;
    return skip_scalars(reader, number * reader->description.chunk_size, position - start, byte, error);
}

mc_status mc_blob_reader_seek(mc_blob_reader *reader, int64_t position, mc_error *error)
{
    const int64_t length = reader->description.length;
    int64_t byte = position;
    mc_status status = MC_OK;
    if (position < 0 || position > length)
        return mc_fail(error, MC_ERROR_MISUSE, "large value %" PRId64 ": position %" PRId64 ", use 0 to %" PRId64, reader->value, position,
                       length);
    if (position == length)
        byte = reader->description.bytes;
    else if (reader->description.unit == MC_BLOB_SCALARS)
        status = seek_scalar(reader, position, &byte, error);
    if (status != MC_OK)
        return status;
    reader->byte = byte;
    reader->unit = position;
    return MC_OK;
}
