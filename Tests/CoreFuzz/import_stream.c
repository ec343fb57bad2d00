/// import_stream.c: fuzzes the whole import (mc_import.h): inflating, scanning, the virtual table, protection, rollback.
///
/// The first three bytes choose mode, one table or an object of two, chunk size, protection, a second thread, whether the column b is a
/// large one, and whether the rest is deflated here before it is pushed, because a fuzzer does not find check sums, or pushed twice, as two
/// texts. Otherwise the rest is pushed unchanged, in the format of its first byte. Between the chunks, an attempt to commit is refused. The
/// limit of a row is low, so that large values often come in parts. Rules: the outcome does not depend on the chunks or on the threads;
/// after a failure the database is unchanged; after a success its rows and counts agree, and every large value has a row that refers to it.
#include <MobileCore.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz_check.h"

static const char schema[] = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b, rc INTEGER DEFAULT 0, CHECK (a IS NOT 'forbidden'));"
                             "CREATE TABLE os(id INTEGER PRIMARY KEY, a TEXT, b, sv INTEGER);"
                             "INSERT INTO t(id, a) VALUES (1, 'one'), (2, 'two'), (7, 'seven');"
                             "INSERT INTO os(id) VALUES (2), (3), (0);";

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/// A digest of both tables, with the chunks of large values in place of their ids.
static uint64_t content(sqlite3 *db, bool is_large)
{
    static const char rows[] = "SELECT id, a, b, rc FROM t UNION ALL SELECT id, a, b, sv FROM os";
    static const char chunks[] = "SELECT id, a, (SELECT group_concat(quote(start) || quote(content)) || length || unit "
                                 "FROM _mc_chunk JOIN _mc_value AS v ON v.id = _mc_chunk.id >> 24 "
                                 "WHERE v.id = b), rc FROM (SELECT id, a, b, rc FROM t UNION ALL SELECT id, a, b, sv FROM os) "
                                 "UNION ALL SELECT (SELECT count(*) FROM _mc_value WHERE state <> 2), NULL, NULL, 0";
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, is_large ? chunks : rows, -1, &statement, NULL) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int column = 0; column < 4; column++) {
            const int type = sqlite3_column_type(statement, column);
            const uint8_t *const bytes = sqlite3_column_blob(statement, column);
            const int length = sqlite3_column_bytes(statement, column);
            digest = (digest ^ (uint64_t)type) * UINT64_C(0x100000001B3);
            for (int index = 0; index < length; index++)
                digest = (digest ^ bytes[index]) * UINT64_C(0x100000001B3);
        }
    }
    sqlite3_finalize(statement);
    return digest;
}

typedef struct outcome {
    mc_status status;
    mc_error error;
    mc_import_counts counts;
    uint64_t content;
} outcome;

static char path[64];

static void remove_files(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t index = 0; index < sizeof suffixes / sizeof suffixes[0]; index++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[index]);
        (void)remove(name);
    }
}

/// A pool's connection to an empty database, which large values need. The database is reused, because new files are slow.
static mc_connection *pooled_database(void)
{
    static mc_pool *pool;
    static mc_connection *connection;
    if (pool == NULL) {
        const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .timeout_ns = MC_WAIT_FOREVER};
        mc_pool_options options = mc_pool_default_options();
        options.synchronous = MC_SYNCHRONOUS_OFF;
        (void)snprintf(path, sizeof path, "%s/import-fuzz-%d.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
        remove_files();
        (void)atexit(remove_files);
        CHECK(mc_pool_open(path, &options, &pool, NULL) == MC_OK && mc_pool_checkout(pool, &checkout, &connection, NULL) == MC_OK);
        CHECK(mc_blob_prepare(connection, NULL) == MC_OK);
    }
    CHECK(sqlite3_exec(
              mc_connection_sqlite(connection),
              "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS os; DROP TABLE IF EXISTS seen; DELETE FROM _mc_value; DELETE FROM _mc_chunk",
              NULL, NULL, NULL)
          == SQLITE_OK);
    return connection;
}

/// Pushes the bytes in chunks of `chunk` bytes. Between them, a commit is refused.
static mc_status push(mc_import *import, sqlite3 *db, const uint8_t *bytes, size_t length, size_t chunk, mc_error *error)
{
    mc_status status = MC_OK;
    for (size_t at = 0; at < length && status == MC_OK; at += chunk) {
        const size_t size = length - at < chunk ? length - at : chunk;
        uint8_t *const piece = malloc(size);
        memcpy(piece, bytes + at, size);
        status = mc_import_push(import, piece, size, error);
        free(piece);
        if (status == MC_OK && size < length)
            CHECK(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_BUSY);
    }
    return status;
}

/// Imports a text, `texts` times as one import, into a new database. `large` is the type of the column b, or MC_COLUMN_ANY.
static outcome import_texts(int texts, const uint8_t *bytes, size_t length, size_t chunk, uint8_t choice, mc_column_type large,
                            mc_import_threads threads)
{
    outcome outcome = {0};
    sqlite3 *db = NULL;
    const bool is_large = large != MC_COLUMN_ANY;
    mc_connection *const connection = is_large ? pooled_database() : NULL;
    if (is_large)
        db = mc_connection_sqlite(connection);
    else
        CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK);
    if (choice & 8)
        CHECK(sqlite3_exec(db, "CREATE TABLE seen(id); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO seen VALUES (new.id); END",
                           NULL, NULL, NULL)
              == SQLITE_OK);
    const uint64_t before = content(db, is_large);
    const int64_t rows_before = number(db, "SELECT count(*) FROM t");

    const mc_column columns[] = {
        {.name = "id", .type = MC_COLUMN_INTEGER},
        {.name = "a", .type = choice & 16 ? MC_COLUMN_TEXT : MC_COLUMN_ANY},
        {.name = "b", .type = large},
    };
    const char *const large_columns[] = {"b"};
    const mc_import_assignment one = {.column = "sv", .value = {.value.integer = 1, .kind = MC_VALUE_INTEGER}};
    const mc_import_assignment counter = {.column = "rc", .value = {.value.integer = 9, .kind = MC_VALUE_INTEGER}};
    const mc_import_pending pending = {.table = "os", .assignments = &one, .assignment_count = 1};
    const bool deletes = choice % 3 == MC_IMPORT_DELETE;
    // In an object, rows of "t" as chosen, and keys of the same table to delete.
    mc_import_table tables[] = {
        {.table = "t",
         .columns = columns,
         .column_count = deletes ? 1 : 3,
         .mode = (mc_import_mode)(choice % 3),
         .on_insert = &counter,
         .on_insert_count = deletes ? 0 : 1,
         .pending = choice & 32 ? &pending : NULL},
        {.table = "t",
         .member = "d",
         .columns = columns,
         .column_count = 1,
         .mode = MC_IMPORT_DELETE,
         .pending = choice & 32 ? &pending : NULL},
    };
    for (size_t index = 0; index < 2 && is_large; index++) {
        tables[index].large = large_columns;
        tables[index].large_count = tables[index].mode == MC_IMPORT_DELETE ? 1 : 0;
    }
    const mc_import_options options = {
        MC_OPTIONS(mc_import_options),
        .connection = connection,
        .tables = tables,
        .table_count = choice & 128 ? 2 : 1,
        .depth = 8,
        .row_bytes = 8192,
        .inflated_bytes = 4 << 20,
        .inflate_ratio = 200,
        .threads = threads,
    };
    mc_import *import = NULL;
    CHECK(mc_import_open(db, &options, &import, NULL) == MC_OK);
    outcome.status = push(import, db, bytes, length, chunk, &outcome.error);
    for (int text = 1; text < texts && outcome.status == MC_OK; text++) {
        outcome.status = mc_import_end_text(import, NULL, &outcome.error);
        if (outcome.status == MC_OK)
            outcome.status = push(import, db, bytes, length, chunk, &outcome.error);
    }
    if (outcome.status == MC_OK && !(choice & 64))
        outcome.status = mc_import_finish(import, &outcome.counts, &outcome.error);
    else if (outcome.status == MC_OK)
        outcome.status = MC_ERROR_INTERRUPTED;  // freed without finish
    mc_import_free(import);

    CHECK(sqlite3_get_autocommit(db) == 1);
    outcome.content = content(db, is_large);
    if (outcome.status != MC_OK) {
        CHECK(outcome.content == before);
    } else {
        const mc_import_counts *const counts = &outcome.counts;
        CHECK(number(db, "SELECT count(*) FROM t") == rows_before + counts->inserted - counts->deleted);
        if (!deletes && !(choice & 128))
            CHECK(counts->rows == counts->inserted + counts->updated + counts->diverted);
        CHECK(!is_large
              || number(db, "SELECT count(*) FROM _mc_value WHERE state <> 2")
                  == number(db, "SELECT count(DISTINCT b) FROM (SELECT b FROM t UNION ALL SELECT b FROM os)"));
    }
    CHECK(is_large || sqlite3_close(db) == SQLITE_OK);
    return outcome;
}

static outcome import(const uint8_t *bytes, size_t length, size_t chunk, uint8_t choice, mc_column_type large, mc_import_threads threads)
{
    return import_texts(1, bytes, length, chunk, choice, large, threads);
}

static void compare(const outcome *left, const outcome *right, bool same_bytes)
{
    CHECK(left->status == right->status && left->content == right->content);
    CHECK(left->counts.rows == right->counts.rows && left->counts.inserted == right->counts.inserted);
    CHECK(left->counts.updated == right->counts.updated && left->counts.diverted == right->counts.diverted);
    CHECK(left->counts.deleted == right->counts.deleted);
    if (left->status == MC_OK || left->status == MC_ERROR_INTERRUPTED)
        return;
    CHECK(left->error.code == left->status);
    if (same_bytes)
        CHECK(left->error.byte_offset == right->error.byte_offset && strcmp(left->error.message, right->error.message) == 0);
}

/// Deflates the bytes; the caller frees them.
static uint8_t *deflated(const uint8_t *bytes, size_t length, bool gzip, size_t *out_length)
{
    z_stream stream = {0};
    CHECK(deflateInit2(&stream, 6, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    const uLong bound = deflateBound(&stream, (uLong)length);
    uint8_t *const out = malloc(bound);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    *out_length = bound - stream.avail_out;
    deflateEnd(&stream);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 3)
        return 0;
    const uint8_t choice = bytes[0], how = bytes[2];
    const mc_import_threads threads = how & 8 ? MC_IMPORT_THREADS_ON : MC_IMPORT_THREADS_OFF;
    const mc_column_type large = (how & 16) == 0 ? MC_COLUMN_ANY : how & 32 ? MC_COLUMN_LARGE_BLOB : MC_COLUMN_LARGE_TEXT;
    const size_t chunk = (size_t)bytes[1] * bytes[1] + 1;
    bytes += 3;
    length -= 3;
    const outcome whole = import(bytes, length, length + 1, choice, large, MC_IMPORT_THREADS_OFF);
    const outcome pieces = import(bytes, length, chunk, choice, large, threads);
    const bool plain = length == 0 || (bytes[0] != 0x1F && (bytes[0] & 0x0F) != 8);
    // A second thread reports an error with one of the next calls. An import that is freed early has no next call.
    if ((choice & 64) != 0 && threads == MC_IMPORT_THREADS_ON) {
        CHECK(whole.status != MC_OK && pieces.status != MC_OK && whole.content == pieces.content);
        return 0;
    }
    // The ratio limit depends on the input so far, and zlib may read a little more of it before it detects the damage.
    if (whole.status != MC_ERROR_LIMIT && pieces.status != MC_ERROR_LIMIT)
        compare(&whole, &pieces, plain);
    else
        CHECK(pieces.status != MC_OK && whole.status != MC_OK && whole.content == pieces.content);
    if (how % 4 == 1 && whole.status == MC_OK) {
        // The same text twice: what the second one does depends neither on the chunks nor on the threads.
        const outcome twice = import_texts(2, bytes, length, length + 1, choice, large, MC_IMPORT_THREADS_OFF);
        const outcome twice_in_pieces = import_texts(2, bytes, length, chunk, choice, large, threads);
        compare(&twice, &twice_in_pieces, plain);
        CHECK(twice.status != MC_OK || twice.counts.rows == 2 * whole.counts.rows);
    }
    if (how % 4 != 0 || !plain || length == 0)
        return 0;
    size_t deflated_length = 0;
    uint8_t *const packed = deflated(bytes, length, (how & 4) != 0, &deflated_length);
    const outcome unpacked = import(packed, deflated_length, chunk, choice, large, threads);
    compare(&whole, &unpacked, unpacked.status != MC_ERROR_LIMIT);
    // The same input with one wrong byte: the first error depends neither on the chunks nor on the threads.
    packed[(size_t)bytes[length / 2] * 251 % deflated_length] ^= (uint8_t)(1 << how / 64);
    const outcome damaged = import(packed, deflated_length, deflated_length, choice, large, MC_IMPORT_THREADS_OFF);
    const outcome in_pieces = import(packed, deflated_length, chunk, choice, large, threads);
    if (damaged.status != MC_ERROR_LIMIT && in_pieces.status != MC_ERROR_LIMIT)
        compare(&damaged, &in_pieces, false);
    free(packed);
    return 0;
}
