#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "CMobileCrypto.h"

/// By default libcrypto frees the data of all threads when the process exits, also while they run: a thread that ends at that moment frees its data
/// again, and one that still works fails. Only the first initialization can turn this off, so it happens before `main`. The system takes back the memory.
__attribute__((constructor)) static void keep_libcrypto_until_exit(void)
{
    // A failure means that there is no memory; the first use reports it.
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

mcr_status mcr_random(uint8_t *bytes, size_t length)
{
    while (length > 0) {
        const int piece = length > INT_MAX ? INT_MAX : (int)length;
        if (RAND_bytes(bytes, piece) != 1) {
            ERR_clear_error();
            return MCR_ERROR_LIBRARY;
        }
        bytes += piece;
        length -= (size_t)piece;
    }
    return MCR_OK;
}

mcr_status mcr_scrypt(const uint8_t *password, size_t password_length, const uint8_t *salt, size_t salt_length, uint64_t n, uint64_t r,
                      uint64_t p, uint64_t memory_limit, uint8_t *key, size_t length)
{
    // With a NULL password libcrypto only checks the parameters; an empty password must derive a key as well.
    const char *text = password == NULL ? "" : (const char *)password;
    const int done = EVP_PBE_scrypt(text, password_length, salt, salt_length, n, r, p, memory_limit, key, length);
    ERR_clear_error();
    return done == 1 ? MCR_OK : MCR_ERROR_PARAMETER;
}

bool mcr_equal(const uint8_t *left, const uint8_t *right, size_t length)
{
    return length == 0 || CRYPTO_memcmp(left, right, length) == 0;
}
