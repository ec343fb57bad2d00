/// blob_operations.c: fuzzes large values (mc_blob*.h) with operations in any order, each compared with a model in memory.
///
/// Each operation takes four bytes: its kind, the number of a writer, reader or value, and two numbers. Rules: every call succeeds or
/// fails like the model; reading returns the written content; open readers can still read a dropped value; when all values are closed and
/// dropped, the tables are empty. Two pools work on the file, like two processes.
#include <MobileCore.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blob_content.h"
#include "fuzz_check.h"

enum { SLOTS = 3, VALUES = 6, POOLS = 2, CONTENT_MOST = 1500 * 1000 };

typedef struct value_model {
    int64_t id;  // 0: none
    content content;
    bool is_dropped, is_pinned;
    mc_pool *pool;  // holds the pin
} value_model;

typedef struct writer_model {
    mc_blob_writer *writer;  // NULL: none
    mc_pool *pool;
    content content;
    int64_t announced;
    int64_t most;  // bytes: a limit, because small chunks make many rows
} writer_model;

typedef struct reader_model {
    mc_blob_reader *reader;  // NULL: none
    value_model *value;
    content content;
    int64_t byte;
} reader_model;

static mc_pool *pools[POOLS];
static value_model values[VALUES];
static writer_model writers[SLOTS];
static reader_model readers[SLOTS];
static uint8_t buffer[CONTENT_MOST];
static char path[64], copy_path[80];

static void remove_files(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lease"};
    for (size_t index = 0; index < sizeof suffixes / sizeof suffixes[0]; index++) {
        char name[100];
        snprintf(name, sizeof name, "%s%s", path, suffixes[index]);
        (void)remove(name);
    }
    (void)remove(copy_path);
}

static void close_pools(void)
{
    for (int index = 0; index < POOLS; index++)
        mc_pool_free(pools[index]);
    remove_files();
}

static mc_connection *writing(mc_pool *pool)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .timeout_ns = MC_WAIT_FOREVER};
    mc_connection *connection = NULL;
    CHECK(mc_pool_checkout(pool, &checkout, &connection, NULL) == MC_OK);
    return connection;
}

static void prepare(mc_pool *pool)
{
    mc_connection *const connection = writing(pool);
    CHECK(mc_blob_prepare(connection, NULL) == MC_OK);
    mc_pool_return(pool, connection);
}

static void open_pools(void)
{
    mc_pool_options options = mc_pool_default_options();
    options.page_size = 1024;
    options.cache_bytes = 10 * 1024;
    options.synchronous = MC_SYNCHRONOUS_OFF;
    snprintf(path, sizeof path, "/tmp/blob_operations-%d.db", (int)getpid());
    snprintf(copy_path, sizeof copy_path, "%s.copy", path);
    remove_files();
    for (int index = 0; index < POOLS; index++) {
        CHECK(mc_pool_open(path, &options, &pools[index], NULL) == MC_OK);
        prepare(pools[index]);
    }
    atexit(close_pools);
}

static void open_writer(writer_model *model, mc_pool *pool, uint8_t a, uint8_t b)
{
    if (model->writer != NULL)
        mc_blob_writer_free(model->writer);
    const mc_blob_writer_options options = {
        MC_OPTIONS(mc_blob_writer_options),
        .unit = a & 1 ? MC_BLOB_SCALARS : MC_BLOB_BYTES,
        .length = !(a & 2) ? -1
            : b > 0        ? b
                           : MC_BLOB_EMPTY,
        .chunk_size = a & 4 ? 0 : (size_t)(a >> 3) * 9 + 1,
        .timeout_ns = MC_WAIT_FOREVER,
    };
    *model = (writer_model){
        .pool = pool, .content = {.unit = options.unit, .seed = b}, .announced = a & 2 ? b : -1, .most = a & 4 ? CONTENT_MOST : 20000};
    CHECK(mc_blob_writer_open(pool, &options, &model->writer, NULL) == MC_OK);
}

static void check_write(writer_model *model, mc_status status, const mc_error *error, int64_t size)
{
    const int64_t bytes = model->content.bytes, after = bytes + size;
    const int64_t added = scalars(&model->content, after) - scalars(&model->content, bytes);
    if (model->announced >= 0 && added > model->announced - scalars(&model->content, bytes)) {
        CHECK(status == MC_ERROR_OVER_LENGTH && error->code == status);
        return;
    }
    CHECK(status == MC_OK);
    model->content.bytes = after;
}

static void write_piece(writer_model *model, uint8_t a, uint8_t b)
{
    const int64_t size = a < 250 ? a : (int64_t)b * (1 << 11);
    mc_error error = {0};
    if (model->writer == NULL || model->content.bytes + size > model->most)
        return;
    // A separate copy, so that the sanitizer detects a read after the piece.
    uint8_t *const piece = malloc((size_t)size + 1);
    fill(&model->content, model->content.bytes, piece, (size_t)size);
    const int64_t position = scalars(&model->content, model->content.bytes);
    if (b == 1)
        check_write(model, mc_blob_writer_write_at(model->writer, position, piece, (size_t)size, &error), &error, size);
    else if (b == 2)
        CHECK(mc_blob_writer_write_at(model->writer, position - 1, piece, (size_t)size, &error) == MC_ERROR_APPEND_ONLY);
    else
        check_write(model, mc_blob_writer_write(model->writer, piece, (size_t)size, &error), &error, size);
    CHECK(mc_blob_writer_bytes(model->writer) == model->content.bytes);
    CHECK(mc_blob_writer_length(model->writer) == scalars(&model->content, model->content.bytes));
    free(piece);
}

static void write_bad_text(writer_model *model, uint8_t a)
{
    mc_error error = {0};
    if (model->writer == NULL || model->content.unit != MC_BLOB_SCALARS)
        return;
    const uint8_t bad = a | 0xF8;  // never a part of UTF-8
    const mc_status status = mc_blob_writer_write(model->writer, &bad, 1, &error);
    CHECK(status == MC_ERROR_TYPE && error.byte_offset == model->content.bytes);
    CHECK(mc_blob_writer_bytes(model->writer) == model->content.bytes);
}

/// The slot of a new value. An old value in it is released first. NULL when the old value has a reader.
static value_model *place(uint8_t which)
{
    value_model *const value = &values[which % VALUES];
    for (int index = 0; index < SLOTS; index++) {
        if (readers[index].reader != NULL && readers[index].value == value)
            return NULL;
    }
    if (value->is_pinned)
        mc_blob_unpin(value->pool, value->id);
    if (value->id != 0 && !value->is_dropped) {
        mc_connection *const connection = writing(pools[0]);
        CHECK(mc_blob_drop(connection, &value->id, 1, NULL) == MC_OK);
        mc_pool_return(pools[0], connection);
    }
    *value = (value_model){0};
    return value;
}

static void finish_writer(writer_model *model, uint8_t which)
{
    mc_error error = {0};
    int64_t id = 0;
    if (model->writer == NULL)
        return;
    value_model *const value = place(which);
    if (value == NULL)
        return;
    const mc_status status = mc_blob_writer_finish(model->writer, &id, &error);
    if (ends_within_character(&model->content, model->content.bytes)) {
        CHECK(status == MC_ERROR_TYPE && error.byte_offset == model->content.bytes);
        return;
    }
    if (model->announced > scalars(&model->content, model->content.bytes)) {
        CHECK(status == MC_ERROR_TRUNCATED);
        return;
    }
    CHECK(status == MC_OK && id > 0);
    CHECK(mc_blob_writer_write(model->writer, "x", 1, NULL) == MC_ERROR_MISUSE);
    mc_blob_writer_free(model->writer);
    *value = (value_model){.id = id, .content = model->content, .is_pinned = true, .pool = model->pool};
    model->writer = NULL;
}

static void close_reader(reader_model *model)
{
    mc_blob_reader_free(model->reader);
    model->reader = NULL;
}

static void open_reader(reader_model *model, value_model *value)
{
    close_reader(model);
    if (value->id == 0)
        return;
    mc_pool *const pool = value->pool;
    const mc_status status = mc_blob_reader_open(pool, value->id, NULL, &model->reader, NULL);
    if (value->is_dropped) {
        CHECK(status == MC_ERROR_NOT_FOUND && model->reader == NULL);
        return;
    }
    CHECK(status == MC_OK);
    model->value = value;
    model->content = value->content;
    model->byte = 0;
    const mc_blob_description description = mc_blob_reader_description(model->reader);
    CHECK(description.bytes == value->content.bytes && description.unit == value->content.unit);
    CHECK(description.length == scalars(&value->content, value->content.bytes));
}

static void read_piece(reader_model *model, uint8_t a, uint8_t b)
{
    const size_t capacity = b < 200 ? (size_t)a + ((size_t)b << 6) : (size_t)a << 12;
    size_t length = 0;
    if (model->reader == NULL || capacity > sizeof buffer)
        return;
    const int64_t left = model->content.bytes - model->byte;
    CHECK(mc_blob_reader_read(model->reader, buffer, capacity, &length, NULL) == MC_OK);
    CHECK((int64_t)length == (left < (int64_t)capacity ? left : (int64_t)capacity));
    CHECK(equals(&model->content, model->byte, buffer, length));
    model->byte += (int64_t)length;
    CHECK(mc_blob_reader_position(model->reader) == scalars(&model->content, model->byte));
}

static void read_text(reader_model *model, uint8_t a, uint8_t b)
{
    const int64_t units = b < 128 ? b : (int64_t)b << 10;
    size_t length = 1, capacity = a < 128 ? a : (size_t)a << 10;
    int64_t read = 0;
    if (model->reader == NULL || ends_within_character(&model->content, model->byte))
        return;
    const mc_status status = mc_blob_reader_read_text(model->reader, units, (char *)buffer, capacity, &length, &read, NULL);
    if (model->content.unit != MC_BLOB_SCALARS || capacity < 4) {
        CHECK(status == MC_ERROR_MISUSE && length == 0 && read == 0);
        return;
    }
    CHECK(status == MC_OK && read <= units && length <= capacity);
    CHECK(equals(&model->content, model->byte, buffer, length));
    model->byte += (int64_t)length;
    CHECK(!ends_within_character(&model->content, model->byte));
    CHECK(read == scalars(&model->content, model->byte) - scalars(&model->content, model->byte - (int64_t)length));
    if (model->byte < model->content.bytes)  // it stopped at a limit, before a character that does not fit
        CHECK(read == units || capacity - length < 4);
}

static void seek(reader_model *model, uint8_t a, uint8_t b)
{
    if (model->reader == NULL)
        return;
    const int64_t length = scalars(&model->content, model->content.bytes);
    const int64_t position = a == 255 ? length + b : length * (a * 256 + b) / 65536;
    const mc_status status = mc_blob_reader_seek(model->reader, position, NULL);
    if (position > length) {
        CHECK(status == MC_ERROR_MISUSE);
        return;
    }
    CHECK(status == MC_OK && mc_blob_reader_position(model->reader) == position);
    model->byte = position == length ? model->content.bytes : byte_of(&model->content, position);
}

static void drop(value_model *value, mc_pool *pool, bool commits)
{
    if (value->id == 0)
        return;
    mc_connection *const connection = writing(pool);
    CHECK(mc_connection_begin(connection, NULL) == MC_OK);
    CHECK(mc_blob_drop(connection, &value->id, 1, NULL) == MC_OK && mc_blob_has_dropped(connection));
    if (commits)
        CHECK(mc_connection_commit(connection, NULL) == MC_OK);
    mc_pool_return(pool, connection);
    if (commits)
        value->is_dropped = true;
}

static bool is_read(const value_model *value)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        if (readers[slot].reader != NULL && readers[slot].value == value)
            return true;
    }
    return false;
}

/// Drops all values without a pin, because no column refers to a value here; none while the other pool writes or holds a value.
static void drop_unreferenced(mc_pool *pool)
{
    int64_t dropped = 0, expected = 0;
    bool must_stay = false, may_stay = false;
    for (int slot = 0; slot < SLOTS; slot++)  // the model does not know whether the writer has stored a chunk
        may_stay = may_stay || (writers[slot].writer != NULL && writers[slot].pool != pool && writers[slot].content.bytes > 0);
    for (int index = 0; index < VALUES; index++) {
        const value_model *const value = &values[index];
        const bool is_other = value->id != 0 && value->pool != pool;
        must_stay = must_stay || (is_other && value->is_pinned);
        may_stay = may_stay || (is_other && is_read(value));
        if (value->id == 0 || value->is_dropped || (!is_other && (value->is_pinned || is_read(value))))
            continue;
        if (is_other && is_read(value))
            return;  // it has a reader
        expected++;
    }
    mc_connection *const connection = writing(pool);
    CHECK(mc_blob_drop_unreferenced(connection, NULL, 0, &dropped, NULL) == MC_OK);
    mc_pool_return(pool, connection);
    CHECK(must_stay ? dropped == 0 : dropped == expected || (may_stay && dropped == 0));
    for (int index = 0; index < VALUES && dropped > 0; index++) {
        if (values[index].id != 0 && (values[index].pool != pool || (!values[index].is_pinned && !is_read(&values[index]))))
            values[index].is_dropped = true;
    }
}

/// Frees the space of dropped values; a pool must not free those that the other pool reads.
static void collect(mc_pool *pool)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        if (readers[slot].reader != NULL && readers[slot].value->is_dropped && readers[slot].value->pool != pool)
            return;
    }
    CHECK(mc_blob_collect(pool, NULL, NULL) == MC_OK);
}

static void copy_value(reader_model *reader, writer_model *writer)
{
    int64_t bytes = 0;
    if (reader->reader == NULL || writer->writer == NULL || writer->content.bytes > 0 || writer->announced >= 0)
        return;
    if (writer->content.unit != reader->content.unit || reader->content.bytes > writer->most)
        return;
    CHECK(mc_blob_copy_to_file(reader->reader, copy_path, &bytes, NULL) == MC_OK && bytes == reader->content.bytes);
    reader->byte = reader->content.bytes;
    CHECK(mc_blob_copy_from_file(writer->writer, copy_path, &bytes, NULL) == MC_OK && bytes == reader->content.bytes);
    writer->content = reader->content;
}

static int64_t count(mc_pool *pool, const char *sql)
{
    mc_statement *statement = NULL;
    bool has_row = false;
    mc_connection *const connection = writing(pool);
    CHECK(mc_statement_prepare(connection, sql, strlen(sql), &statement, NULL) == MC_OK);
    CHECK(mc_statement_step(statement, &has_row, NULL) == MC_OK && has_row);
    const int64_t number = mc_statement_column_integer(statement, 0);
    mc_statement_return(statement);
    mc_pool_return(pool, connection);
    return number;
}

/// Closes and drops everything, and checks that the tables are empty.
static void finish(void)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        mc_blob_writer_free(writers[slot].writer);
        writers[slot].writer = NULL;
        close_reader(&readers[slot]);
    }
    for (int index = 0; index < VALUES; index++)
        CHECK(place((uint8_t)index) != NULL);
    CHECK(mc_blob_collect(pools[0], NULL, NULL) == MC_OK);
    CHECK(count(pools[0], "SELECT (SELECT count(*) FROM _mc_value) + (SELECT count(*) FROM _mc_chunk)") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (pools[0] == NULL)
        open_pools();
    for (; length >= 4; bytes += 4, length -= 4) {
        const uint8_t which = bytes[1], a = bytes[2], b = bytes[3];
        writer_model *const writer = &writers[which % SLOTS];
        reader_model *const reader = &readers[which % SLOTS];
        mc_pool *const pool = pools[(which >> 4) % POOLS];
        switch (bytes[0] % 15) {
        case 0: open_writer(writer, pool, a, b); break;
        case 1:
        case 2: write_piece(writer, a, b); break;
        case 3: write_bad_text(writer, a); break;
        case 4: CHECK(writer->writer == NULL || mc_blob_writer_flush(writer->writer, NULL) == MC_OK); break;
        case 5: finish_writer(writer, a); break;
        case 6:
            mc_blob_writer_free(writer->writer);
            writer->writer = NULL;
            break;
        case 7: open_reader(reader, &values[a % VALUES]); break;
        case 8: read_piece(reader, a, b); break;
        case 9: read_text(reader, a, b); break;
        case 10: seek(reader, a, b); break;
        case 11: drop(&values[a % VALUES], pool, b % 2 == 0); break;
        case 12:
            if (b % 2 == 0)
                drop_unreferenced(pool);
            else
                collect(pool);
            break;
        case 13:
            if (b % 4 == 0) {
                prepare(pool);
            } else if (values[a % VALUES].is_pinned) {
                mc_blob_unpin(values[a % VALUES].pool, values[a % VALUES].id);
                values[a % VALUES].is_pinned = false;
            }
            break;
        default: copy_value(reader, &writers[a % SLOTS]); break;
        }
    }
    finish();
    return 0;
}
