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

/// Adds values to a hash. Returns false without memory.
static bool add_values(mc_row_hash *hash, size_t count, sqlite3_value *const *values)
{
    mc_value value;
    for (size_t i = 0; i < count; i++) {
        if (!read_value(values[i], &value))
            return false;
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

/// A row whose values are added to its hash after its key.
typedef struct row_hashes {
    mc_row_hash row;
    uint64_t key;
    uint32_t bucket;
} row_hashes;

/// Begins with the key of a row. Returns false without memory.
static bool begin_row(row_hashes *hashes, const uint8_t *seed, sqlite3_value *key)
{
    mc_value value;
    if (!read_value(key, &value))
        return false;
    hashes->row = mc_row_hash_begin(seed);
    add_value(&hashes->row, &value);
    hashes->key = mc_row_hash_end(&hashes->row);
    hashes->bucket = bucket_of(&value, hashes->key);
    return true;
}

static void add_row(digest_sums *sums, const row_hashes *hashes)
{
    sums->count += 1;
    sums->rows[hashes->bucket] += mc_row_hash_end(&hashes->row);
    sums->keys[hashes->bucket] += hashes->key;
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
    row_hashes hashes;
    if (sums != NULL && begin_row(&hashes, seed, values[1]) && add_values(&hashes.row, (size_t)count - 2, values + 2))
        add_row(sums, &hashes);
    else
        sqlite3_result_error_nomem(context);
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

mc_status mc_row_digest_pass_create(const uint8_t *seed, mc_row_digest_pass **out, mc_error *error)
{
    *out = mc_allocate_zeroed(1, sizeof **out);
    if (*out == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for sums of rows");
    memcpy((*out)->seed, seed, MC_ROW_DIGEST_SEED_SIZE);
    return MC_OK;
}

mc_status mc_row_digest_pass_add(mc_row_digest_pass *pass, sqlite3_value *key, sqlite3_value *const *values, size_t count, mc_error *error)
{
    row_hashes hashes;
    if (!begin_row(&hashes, pass->seed, key) || !add_values(&hashes.row, count, values))
        return mc_fail(error, MC_ERROR_NO_MEMORY, "sums of rows: no memory for a value");
    add_row(&pass->sums, &hashes);
    return MC_OK;
}

void mc_row_digest_pass_read(const mc_row_digest_pass *pass, uint8_t *sums)
{
    put_sums(sums, &pass->sums);
}

void mc_row_digest_pass_free(mc_row_digest_pass *pass)
{
    mc_free(pass);
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
    if (add_values(&hash, (size_t)count - 1, values + 1))
        sqlite3_result_int64(context, (sqlite3_int64)mc_row_hash_end(&hash));
    else
        sqlite3_result_error_nomem(context);
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
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register sums of rows");
}
