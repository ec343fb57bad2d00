#include "br_chunks.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "br_checksum.h"

enum { BLOCK = 4 << 20, READ_PIECE = 65536 };

/// The block, followed by a copy of its beginning, so that a piece across its end is contiguous.
struct br_content {
    uint8_t bytes[BLOCK + BR_PIECE_MOST];
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void fill_with_words(uint8_t *bytes, size_t length, uint64_t *state)
{
    static const char *const words[] = {"the ",
                                        "customer ",
                                        "order ",
                                        "is ",
                                        "delivered ",
                                        "on ",
                                        "Zw\xC3\xB6lf ",
                                        "Stra\xC3\x9F"
                                        "e ",
                                        "na\xC3\xAFve ",
                                        "12\xE2\x82\xAC ",
                                        "\xE6\xBC\xA2\xE5\xAD\x97 ",
                                        "\xF0\x9F\x98\x80 ",
                                        "harbour ",
                                        "foods, ",
                                        "and ",
                                        "nothing ",
                                        "else. ",
                                        "tomorrow ",
                                        "again\n",
                                        "please "};
    size_t at = 0;
    while (at < length) {
        const char *const word = words[next_random(state) % (sizeof words / sizeof words[0])];
        const size_t size = strlen(word);
        if (size > length - at) {  // the block begins and ends with a whole character
            memset(bytes + at, '.', length - at);
            return;
        }
        memcpy(bytes + at, word, size);
        at += size;
    }
}

br_content *br_content_make(uint64_t seed, bool is_text)
{
    br_content *content = malloc(sizeof *content);
    if (content == NULL)
        return NULL;
    if (is_text) {
        fill_with_words(content->bytes, BLOCK, &seed);
    } else {
        for (size_t at = 0; at < BLOCK; at += 8) {
            const uint64_t number = next_random(&seed);
            memcpy(content->bytes + at, &number, 8);
        }
    }
    memcpy(content->bytes + BLOCK, content->bytes, BR_PIECE_MOST);
    return content;
}

void br_content_free(br_content *content)
{
    free(content);
}

const uint8_t *br_content_at(const br_content *content, int64_t at)
{
    return content->bytes + at % BLOCK;
}

int64_t br_content_whole_characters(const br_content *content, int64_t length)
{
    while (length > 0 && (*br_content_at(content, length) & 0xC0) == 0x80)
        length--;
    return length;
}

uint64_t br_content_checksum(const br_content *content, int64_t length, size_t chunk)
{
    uint64_t sum = 0;
    for (int64_t at = 0; at < length; at += (int64_t)chunk) {
        const size_t size = (uint64_t)(length - at) < chunk ? (size_t)(length - at) : chunk;
        sum = br_checksum_bytes(sum, (const char *)br_content_at(content, at), size);
    }
    return sum;
}

bool br_content_equals(const br_content *content, int64_t at, const uint8_t *bytes, size_t length)
{
    return memcmp(br_content_at(content, at), bytes, length) == 0;
}

struct br_chunks {
    sqlite3 *db;
    sqlite3_stmt *insert;
};

br_chunks *br_chunks_open(const char *path, int page_size, int64_t cache_bytes, char *message, size_t message_size)
{
    char settings[320];
    br_chunks *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    snprintf(settings, sizeof settings,
             "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-%" PRId64
             "; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000;"
             "CREATE TABLE IF NOT EXISTS chunk(id INTEGER PRIMARY KEY, start INTEGER, content BLOB)",
             page_size, cache_bytes / 1024);
    if (sqlite3_open_v2(path, &result->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(result->db, settings, NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v3(result->db, "INSERT INTO chunk VALUES (?, ?, ?)", -1, SQLITE_PREPARE_PERSISTENT, &result->insert, NULL)
            == SQLITE_OK)
        return result;
    snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(result->db));
    br_chunks_close(result);
    return NULL;
}

static int64_t count_characters(const uint8_t *bytes, size_t length)
{
    int64_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += (bytes[i] & 0xC0) != 0x80;
    return count;
}

bool br_chunks_write(br_chunks *chunks, const br_content *content, int64_t first_id, int64_t length, size_t chunk, bool counts)
{
    sqlite3_stmt *statement = chunks->insert;
    int64_t id = first_id, characters = 0;
    if (sqlite3_exec(chunks->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    for (int64_t at = 0; at < length; at += (int64_t)chunk, id++) {
        const size_t size = (uint64_t)(length - at) < chunk ? (size_t)(length - at) : chunk;
        const uint8_t *bytes = br_content_at(content, at);
        sqlite3_bind_int64(statement, 1, id);
        if (counts) {
            sqlite3_bind_int64(statement, 2, characters);
            characters += count_characters(bytes, size);
        }
        sqlite3_bind_blob64(statement, 3, bytes, size, SQLITE_STATIC);
        const int step = sqlite3_step(statement);
        sqlite3_reset(statement);
        if (step != SQLITE_DONE) {
            sqlite3_exec(chunks->db, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
    }
    return sqlite3_exec(chunks->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

bool br_chunks_read(br_chunks *chunks, int64_t first_id, int64_t length, size_t chunk, int64_t *characters, const br_content *compared)
{
    static _Thread_local uint8_t piece[READ_PIECE];
    sqlite3_blob *blob = NULL;
    int64_t id = first_id, count = 0;
    bool is_right = true;
    for (int64_t at = 0; at < length && is_right; at += (int64_t)chunk, id++) {
        const int code =
            blob != NULL ? sqlite3_blob_reopen(blob, id) : sqlite3_blob_open(chunks->db, "main", "chunk", "content", id, 0, &blob);
        if (code != SQLITE_OK) {
            is_right = false;
            break;
        }
        const int size = sqlite3_blob_bytes(blob);
        for (int offset = 0; offset < size && is_right; offset += READ_PIECE) {
            const int part = size - offset < READ_PIECE ? size - offset : READ_PIECE;
            is_right = sqlite3_blob_read(blob, piece, part, offset) == SQLITE_OK;
            if (characters != NULL)
                count += count_characters(piece, (size_t)part);
            if (compared != NULL)
                is_right = is_right && br_content_equals(compared, at + offset, piece, (size_t)part);
        }
    }
    sqlite3_blob_close(blob);
    if (characters != NULL)
        *characters = count;
    return is_right;
}

void br_chunks_close(br_chunks *chunks)
{
    if (chunks == NULL)
        return;
    sqlite3_finalize(chunks->insert);
    sqlite3_close(chunks->db);
    free(chunks);
}
