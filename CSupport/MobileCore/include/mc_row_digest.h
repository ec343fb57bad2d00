/// mc_row_digest.h: sums of the rows of a query, which show later which rows have changed.
///
/// A row belongs to a bucket by its key. The aggregate adds up, for each bucket, a keyed 64-bit hash of every row, and one of every key.
/// Where a row was changed, added or removed, the sums of its bucket differ from those of an earlier time; where a key came or went, so do
/// the sums of the keys. A change remains unseen with a probability of 2^-64. Every connection of a pool has these functions, without a
/// call:
///
///     mc_row_digest_sums(seed, key, value, ...)      the sums of all rows (an aggregate): a blob, see below
///     mc_row_digest_hash(seed, value, ...)           the hash of these values, an integer: it stands for columns beyond the limit of
///                                                    arguments
///     mc_row_digest_has(seed, buckets, key)          1 if the bucket of the key is in a set, otherwise 0
///
/// seed      A blob of MC_ROW_DIGEST_SEED_SIZE random bytes. Sums with different seeds have nothing in common.
/// buckets   A blob of MC_ROW_DIGEST_SET_SIZE bytes: bucket b is in the set if bit b % 8 of byte b / 8 is set.
/// The sums  8 bytes for the number of rows, then 8 for each bucket's sum of rows, then 8 for each bucket's sum of keys; little-endian, and
///           modulo 2^64. MC_ROW_DIGEST_SUMS_SIZE bytes in all.
///
/// Storage class, length and content of a value are hashed: `('ab', 'c')` differs from `('a', 'bc')`, NULL from '', and 1 from 1.0 and '1'.
/// Neighbouring integer keys share a bucket, 64 at a time, because neighbours are often changed together. An argument of another kind is an
/// error of the statement, and so is a lack of memory. Only statements of the program may call these functions, no view and no trigger.
#ifndef MC_ROW_DIGEST_H
#define MC_ROW_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "mc_error.h"
#include "mc_value.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct sqlite3_value;

#define MC_ROW_DIGEST_SUMS "mc_row_digest_sums"
#define MC_ROW_DIGEST_HASH "mc_row_digest_hash"
#define MC_ROW_DIGEST_HAS "mc_row_digest_has"

enum {
    MC_ROW_DIGEST_BUCKETS = 3072,
    MC_ROW_DIGEST_SEED_SIZE = 16,
    MC_ROW_DIGEST_SET_SIZE = MC_ROW_DIGEST_BUCKETS / 8,
    MC_ROW_DIGEST_SUMS_SIZE = 8 + 16 * MC_ROW_DIGEST_BUCKETS
};

/// Returns the bucket of a key, as the functions in SQL find it. `seed`: MC_ROW_DIGEST_SEED_SIZE bytes.
uint32_t mc_row_digest_bucket(const uint8_t *seed, const mc_value *key);

/// Sums that a program adds up while it reads the rows of a query for another purpose. One thread at a time uses them.
typedef struct mc_row_digest_pass mc_row_digest_pass;

/// Creates sums of no rows. `seed`: MC_ROW_DIGEST_SEED_SIZE bytes, which are copied. On success the caller owns `*out` and gives it to
/// `mc_row_digest_pass_free`; on failure it is NULL. Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_row_digest_pass_create(const uint8_t *seed, mc_row_digest_pass *MC_NULLABLE *MC_NONNULL out,
                                                mc_error *MC_NULLABLE error);

/// Adds a row: the sums are those of the aggregate with these values of SQLite as its arguments. A value is hashed as it is stored, so it must
/// not have been read as text or bytes before, which changes it in place. Texts are UTF-8 afterwards. Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_row_digest_pass_add(mc_row_digest_pass *pass, struct sqlite3_value *key,
                                             struct sqlite3_value *MC_NONNULL const *MC_NONNULL values, size_t count,
                                             mc_error *MC_NULLABLE error);

/// Writes the sums to MC_ROW_DIGEST_SUMS_SIZE bytes, in the form of the aggregate's blob.
void mc_row_digest_pass_read(const mc_row_digest_pass *pass, uint8_t *sums);

/// Frees sums; NULL is allowed.
void mc_row_digest_pass_free(mc_row_digest_pass *MC_NULLABLE pass);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
