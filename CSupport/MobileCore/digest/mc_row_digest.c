/// mc_row_digest.c: sums of rows, as SQLite calls them.
#include "mc_row_digest.h"

#include <stdbool.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "digest/mc_row_digest_register.h"
#include "digest/mc_row_hash.h"

/// Integer keys that differ in these lowest bits alone are neighbours.
enum { NEIGHBOUR_BITS = 6 };

// MARK: Values

static void add_value(mc_row_hash *hash, const mc_value *value)
{
    uint64_t bits = 0;
    const bool has_bytes = value->kind == MC_VALUE_TEXT || value->kind == MC_VALUE_BLOB;
    mc_row_hash_word(hash, value->kind | (has_bytes ? (uint64_t)value->length << 8 : 0));
    if (value->kind == MC_VALUE_INTEGER) {
        mc_row_hash_word(hash, (uint64_t)value->value.integer);
    } else if (value->kind == MC_VALUE_REAL) {
        memcpy(&bits, &value->value.real, sizeof bits);
        mc_row_hash_word(hash, bits);
    } else if (has_bytes) {
        mc_row_hash_bytes(hash, value->value.bytes, value->length);
    }
}

/// Reads an argument, whose bytes stay SQLite's. Returns false without memory.
static bool read_value(sqlite3_value *from, mc_value *to)
{
    *to = (mc_value){.kind = MC_VALUE_NULL};
    switch (sqlite3_value_type(from)) {
    case SQLITE_INTEGER:
        to->kind = MC_VALUE_INTEGER;
        to->value.integer = sqlite3_value_int64(from);
        return true;
    case SQLITE_FLOAT:
        to->kind = MC_VALUE_REAL;
        to->value.real = sqlite3_value_double(from);
        return true;
    case SQLITE_TEXT:
        to->kind = MC_VALUE_TEXT;
        to->value.bytes = (const char *)sqlite3_value_text(from);
        to->length = (uint32_t)sqlite3_value_bytes(from);
        return to->value.bytes != NULL;
    case SQLITE_BLOB:
        to->kind = MC_VALUE_BLOB;
        to->value.bytes = sqlite3_value_blob(from);
        to->length = (uint32_t)sqlite3_value_bytes(from);
        return to->value.bytes != NULL || to->length == 0;
    default: return true;
    }
}

static uint32_t bucket_of(const mc_value *key, uint64_t hash)
{
    const uint64_t place = key->kind == MC_VALUE_INTEGER ? (uint64_t)key->value.integer >> NEIGHBOUR_BITS : hash;
    return (uint32_t)(place % MC_ROW_DIGEST_BUCKETS);
}

uint32_t mc_row_digest_bucket(const uint8_t *seed, const mc_value *key)
{
    mc_row_hash hash = mc_row_hash_begin(seed);
    add_value(&hash, key);
    return bucket_of(key, mc_row_hash_end(&hash));
}

/// Returns the bytes of an argument that must be a blob of this size; NULL, with the error of the statement, for another one.
static const uint8_t *blob_argument(sqlite3_context *context, sqlite3_value *value, int size, const char *message)
{
    const bool is_blob = sqlite3_value_type(value) == SQLITE_BLOB && sqlite3_value_bytes(value) == size;
    const uint8_t *const bytes = is_blob ? sqlite3_value_blob(value) : NULL;
    if (bytes != NULL)
        return bytes;
    if (is_blob)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, message, -1);
    return NULL;
}

static const uint8_t *seed_argument(sqlite3_context *context, sqlite3_value **values)
{
    return blob_argument(context, values[0], MC_ROW_DIGEST_SEED_SIZE, "the seed of a row digest is not a blob of 16 bytes");
}

/// Adds arguments to a hash. Returns false, with the error of the statement, without memory.
static bool add_arguments(sqlite3_context *context, mc_row_hash *hash, int count, sqlite3_value **values)
{
    mc_value value;
    for (int i = 0; i < count; i++) {
        if (!read_value(values[i], &value)) {
            sqlite3_result_error_nomem(context);
            return false;
        }
        add_value(hash, &value);
    }
    return true;
}

// MARK: Sums

/// The sums so far: SQLite hands them out full of zeros.
typedef struct digest_sums {
    uint64_t count;
    uint64_t rows[MC_ROW_DIGEST_BUCKETS];
    uint64_t keys[MC_ROW_DIGEST_BUCKETS];
} digest_sums;

/// Adds a row: its key, then its values. Returns false, with the error of the statement, without memory.
static bool add_row(sqlite3_context *context, digest_sums *sums, const uint8_t *seed, int count, sqlite3_value **values)
{
    mc_value key;
    if (!read_value(values[0], &key)) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    mc_row_hash hash = mc_row_hash_begin(seed);
    add_value(&hash, &key);
    const uint64_t key_hash = mc_row_hash_end(&hash);
    if (!add_arguments(context, &hash, count - 1, values + 1))
        return false;
    const uint32_t bucket = bucket_of(&key, key_hash);
    sums->count += 1;
    sums->rows[bucket] += mc_row_hash_end(&hash);
    sums->keys[bucket] += key_hash;
    return true;
}

static void step_sums(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (count < 2) {
        sqlite3_result_error(context, MC_ROW_DIGEST_SUMS " needs a seed and a key", -1);
        return;
    }
    const uint8_t *const seed = seed_argument(context, values);
    if (seed == NULL)
        return;
    digest_sums *const sums = sqlite3_aggregate_context(context, sizeof *sums);
    if (sums == NULL)
        sqlite3_result_error_nomem(context);
    else
        (void)add_row(context, sums, seed, count - 1, values + 1);
}

static uint8_t *put(uint8_t *out, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        *out++ = (uint8_t)(word >> 8 * i);
    return out;
}

static void put_sums(uint8_t *blob, const digest_sums *sums)
{
    uint8_t *end = put(blob, sums->count);
    for (size_t i = 0; i < MC_ROW_DIGEST_BUCKETS; i++)
        end = put(end, sums->rows[i]);
    for (size_t i = 0; i < MC_ROW_DIGEST_BUCKETS; i++)
        end = put(end, sums->keys[i]);
}

static void give_sums(sqlite3_context *context)
{
    const digest_sums *const sums = sqlite3_aggregate_context(context, 0);
    if (sums == NULL) {  // no row
        sqlite3_result_zeroblob(context, MC_ROW_DIGEST_SUMS_SIZE);
        return;
    }
    uint8_t *const blob = sqlite3_malloc(MC_ROW_DIGEST_SUMS_SIZE);
    if (blob == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    put_sums(blob, sums);
    sqlite3_result_blob(context, blob, MC_ROW_DIGEST_SUMS_SIZE, sqlite3_free);
}

// MARK: Sums of a query that reads rows for another purpose

struct mc_row_digest_pass {
    uint8_t seed[MC_ROW_DIGEST_SEED_SIZE];
    digest_sums sums;
};

/// The name that SQLite keeps with a pointer, so that a statement cannot pass another one.
static const char pass_type[] = "mc_row_digest_pass";

mc_status mc_row_digest_pass_create(const uint8_t *seed, mc_row_digest_pass **out, mc_error *error)
{
    *out = mc_allocate_zeroed(1, sizeof **out);
    if (*out == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for sums of rows");
    memcpy((*out)->seed, seed, MC_ROW_DIGEST_SEED_SIZE);
    return MC_OK;
}

mc_status mc_row_digest_pass_bind(mc_row_digest_pass *pass, sqlite3_stmt *statement, int index, mc_error *error)
{
    const int code = sqlite3_bind_pointer(statement, index, pass, pass_type, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, sqlite3_db_handle(statement), code, "bind sums of rows as parameter %d", index);
}

void mc_row_digest_pass_read(const mc_row_digest_pass *pass, uint8_t *sums)
{
    put_sums(sums, &pass->sums);
}

void mc_row_digest_pass_free(mc_row_digest_pass *pass)
{
    mc_free(pass);
}

static void pass_key(sqlite3_context *context, int count, sqlite3_value **values)
{
    mc_row_digest_pass *const pass = count > 1 ? sqlite3_value_pointer(values[0], pass_type) : NULL;
    if (pass == NULL)
        sqlite3_result_error(context, MC_ROW_DIGEST_PASS " needs sums and a key", -1);
    else if (add_row(context, &pass->sums, pass->seed, count - 1, values + 1))
        sqlite3_result_value(context, values[1]);
}

// MARK: Single rows

static void give_hash(sqlite3_context *context, int count, sqlite3_value **values)
{
    const uint8_t *const seed = count > 0 ? seed_argument(context, values) : NULL;
    if (seed == NULL) {
        if (count == 0)
            sqlite3_result_error(context, MC_ROW_DIGEST_HASH " needs a seed", -1);
        return;
    }
    mc_row_hash hash = mc_row_hash_begin(seed);
    if (add_arguments(context, &hash, count - 1, values + 1))
        sqlite3_result_int64(context, (sqlite3_int64)mc_row_hash_end(&hash));
}

static void give_has(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const uint8_t *const seed = seed_argument(context, values);
    if (seed == NULL)
        return;
    const uint8_t *const set =
        blob_argument(context, values[1], MC_ROW_DIGEST_SET_SIZE, "the buckets of a row digest are not a blob of 384 bytes");
    if (set == NULL)
        return;
    mc_value key;
    if (!read_value(values[2], &key)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const uint32_t bucket = mc_row_digest_bucket(seed, &key);
    sqlite3_result_int(context, set[bucket / 8] >> bucket % 8 & 1);
}

mc_status mc_row_digest_register(sqlite3 *db, mc_error *error)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    int code = sqlite3_create_function_v2(db, MC_ROW_DIGEST_SUMS, -1, flags, NULL, NULL, step_sums, give_sums, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, MC_ROW_DIGEST_HASH, -1, flags, NULL, give_hash, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, MC_ROW_DIGEST_HAS, 3, flags, NULL, give_has, NULL, NULL, NULL);
    if (code == SQLITE_OK)  // not deterministic: each call counts
        code = sqlite3_create_function_v2(db, MC_ROW_DIGEST_PASS, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, pass_key, NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register sums of rows");
}
