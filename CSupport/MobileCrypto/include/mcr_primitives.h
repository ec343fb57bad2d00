/// mcr_primitives.h: digests, password derivation, random bytes and comparison, all of them libcrypto's.
///
/// Every function is pure: no handles, no state, any thread. Each returns 1 when it has done its work, and 0 when libcrypto could
/// not (no memory, parameters that it refuses); the output is then undefined.
#ifndef MCR_PRIMITIVES_H
#define MCR_PRIMITIVES_H

#include <stddef.h>
#include <stdint.h>

/// Bytes of a SHA-256 digest.
#define MCR_SHA256_LENGTH 32

/// The SHA-256 of `length` bytes. `bytes` may be NULL when `length` is 0.
int mcr_sha256(const void *_Nullable bytes, size_t length, uint8_t digest[_Nonnull MCR_SHA256_LENGTH]);

/// Derives `key_length` bytes from a password by scrypt (RFC 7914) with cost `n` (a power of two above 1), block size `r` and
/// parallelism `p`. Takes about 128 * n * r bytes of memory, at most 256 MB.
int mcr_scrypt(const void *_Nullable password, size_t password_length, const void *_Nullable salt, size_t salt_length, uint64_t n,
               uint64_t r, uint64_t p, uint8_t *_Nonnull key, size_t key_length);

/// Fills `bytes` from libcrypto's random generator, which the operating system seeds.
int mcr_random(uint8_t *_Nonnull bytes, size_t length);

/// Returns 1 when both hold the same bytes, in a time that depends on `length` alone.
int mcr_equal(const void *_Nonnull left, const void *_Nonnull right, size_t length);

#endif
