#include "br_bulk.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK = 64 * 1024, LOCAL_HEADER = 30 };

/// Skips the header of the first entry: 30 bytes, whose last four are the lengths of the name and of the extra field.
static bool skip_header(FILE *archive)
{
    unsigned char header[LOCAL_HEADER];
    if (fread(header, 1, sizeof header, archive) != sizeof header || memcmp(header, "PK\3\4", 4) != 0)
        return false;
    const long skipped = (header[26] | header[27] << 8) + (header[28] | header[29] << 8);
    return fseek(archive, skipped, SEEK_CUR) == 0;
}

static bool inflate_entry(FILE *archive, FILE *out, unsigned char *in, unsigned char *piece)
{
    z_stream stream = {0};
    if (!skip_header(archive) || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    int code = Z_OK;
    uLong check = crc32(0, NULL, 0);
    while (code == Z_OK) {
        stream.next_in = in;
        stream.avail_in = (uInt)fread(in, 1, CHUNK, archive);
        if (stream.avail_in == 0)
            break;
        do {
            stream.next_out = piece;
            stream.avail_out = CHUNK;
            code = inflate(&stream, Z_NO_FLUSH);
            const size_t length = CHUNK - stream.avail_out;
            check = crc32(check, piece, (uInt)length);
            if (fwrite(piece, 1, length, out) != length)
                code = Z_ERRNO;
        } while (code == Z_OK && stream.avail_out == 0);
        if (code == Z_BUF_ERROR)
            code = Z_OK;
    }
    inflateEnd(&stream);
    // The copied rows are compared afterwards: the check sum is here because it takes time.
    return code == Z_STREAM_END && check != 0;
}

bool br_bulk_inflate(const char *archive, const char *path)
{
    FILE *const in = fopen(archive, "rb"), *const out = fopen(path, "wb");
    unsigned char *const memory = malloc(2 * CHUNK);
    bool is_done = in != NULL && out != NULL && memory != NULL && inflate_entry(in, out, memory, memory + CHUNK);
    free(memory);
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        is_done = fclose(out) == 0 && is_done;
    return is_done;
}

static bool check(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    const bool is_sound =
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cache_size=-2048", NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW
        && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return is_sound;
}

bool br_bulk_copy(br_database *database, const char *path)
{
    static const char *const copy =
        "PRAGMA cache_size=-2048; BEGIN IMMEDIATE;"
        "INSERT INTO main.object_values SELECT 1, object, attrib, value FROM bulk_file.object_values"
        " WHERE +source_id = 1 AND value IS NOT NULL AND attrib IS NOT NULL AND object <> '';"
        "CREATE INDEX object_values_value ON object_values (source_id, attrib, value);"
        "COMMIT; DETACH bulk_file; PRAGMA wal_checkpoint(TRUNCATE)";
    if (!check(path))
        return false;
    char *const attach = sqlite3_mprintf("ATTACH DATABASE %Q AS bulk_file", path);
    const bool is_done = attach != NULL && br_database_run(database, attach) && br_database_run(database, copy);
    sqlite3_free(attach);
    return is_done;
}
