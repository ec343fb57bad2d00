#include "mcr_primitives.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

/// Above what `n`, `r` and `p` of the callers need, so that a damaged verifier cannot take all memory.
static const uint64_t SCRYPT_MEMORY_MAXIMUM = 256U << 20;

int mcr_sha256(const void *bytes, size_t length, uint8_t digest[MCR_SHA256_LENGTH])
{
    static const uint8_t nothing = 0;
    return EVP_Digest(bytes ? bytes : &nothing, length, digest, NULL, EVP_sha256(), NULL) == 1;
}

int mcr_scrypt(const void *password, size_t password_length, const void *salt, size_t salt_length, uint64_t n, uint64_t r, uint64_t p,
               uint8_t *key, size_t key_length)
{
    static const uint8_t nothing = 0;
    return EVP_PBE_scrypt(password ? password : (const void *)&nothing, password_length, salt ? salt : &nothing, salt_length, n, r, p,
                          SCRYPT_MEMORY_MAXIMUM, key, key_length) == 1;
}

int mcr_random(uint8_t *bytes, size_t length)
{
    if (length > INT_MAX)
        return 0;
    return RAND_bytes(bytes, (int)length) == 1;
}

int mcr_equal(const void *left, const void *right, size_t length)
{
    return CRYPTO_memcmp(left, right, length) == 0;
}
