#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "CMobileCrypto.h"

/// GCM's own limit for one message (NIST SP 800-38D, 5.2.1.1): 2^39 - 256 bits.
static const uint64_t longest_message = (UINT64_C(1) << 36) - 32;

/// libcrypto takes lengths as `int`.
static const size_t longest_piece = (size_t)1 << 30;

typedef struct gcm {
    EVP_CIPHER_CTX *context;
    int encrypts;
} gcm;

/// Feeds `length` bytes in pieces; without `out` they are associated data.
static mcr_status feed(const gcm *gcm, const uint8_t *bytes, size_t length, uint8_t *out)
{
    while (length > 0) {
        const int piece = (int)(length < longest_piece ? length : longest_piece);
        int written = 0;
        if (EVP_CipherUpdate(gcm->context, out, &written, bytes, piece) != 1 || written != piece)
            return MCR_ERROR_LIBRARY;
        bytes += piece;
        length -= (size_t)piece;
        if (out != NULL)
            out += piece;
    }
    return MCR_OK;
}

/// Runs all steps before the tag; encrypting and decrypting share them.
static mcr_status begin(gcm *gcm, const uint8_t *key, const uint8_t *nonce, const uint8_t *data, size_t data_length, const uint8_t *bytes,
                        size_t length, uint8_t *out)
{
    if ((uint64_t)length > longest_message)
        return MCR_ERROR_PARAMETER;
    gcm->context = EVP_CIPHER_CTX_new();
    if (gcm->context == NULL)
        return MCR_ERROR_NO_MEMORY;
    if (EVP_CipherInit_ex(gcm->context, EVP_aes_128_gcm(), NULL, NULL, NULL, gcm->encrypts) != 1
        || EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_AEAD_SET_IVLEN, MCR_GCM_NONCE_SIZE, NULL) != 1
        || EVP_CipherInit_ex(gcm->context, NULL, NULL, key, nonce, gcm->encrypts) != 1)
        return MCR_ERROR_LIBRARY;
    const mcr_status status = feed(gcm, data, data_length, NULL);
    return status != MCR_OK ? status : feed(gcm, bytes, length, out);
}

static mcr_status end(gcm *gcm, mcr_status status)
{
    EVP_CIPHER_CTX_free(gcm->context);
    ERR_clear_error();
    return status;
}

mcr_status mcr_aes128_gcm_seal(const uint8_t key[MCR_AES128_KEY_SIZE], const uint8_t nonce[MCR_GCM_NONCE_SIZE], const uint8_t *data,
                               size_t data_length, const uint8_t *text, size_t length, uint8_t *sealed, uint8_t tag[MCR_GCM_TAG_SIZE])
{
    gcm gcm = {.context = NULL, .encrypts = 1};
    uint8_t rest[MCR_GCM_TAG_SIZE];
    int written = 0;
    mcr_status status = begin(&gcm, key, nonce, data, data_length, text, length, sealed);
    if (status == MCR_OK
        && (EVP_CipherFinal_ex(gcm.context, rest, &written) != 1 || written != 0
            || EVP_CIPHER_CTX_ctrl(gcm.context, EVP_CTRL_AEAD_GET_TAG, MCR_GCM_TAG_SIZE, tag) != 1))
        status = MCR_ERROR_LIBRARY;
    return end(&gcm, status);
}

mcr_status mcr_aes128_gcm_open(const uint8_t key[MCR_AES128_KEY_SIZE], const uint8_t nonce[MCR_GCM_NONCE_SIZE], const uint8_t *data,
                               size_t data_length, const uint8_t *sealed, size_t length, const uint8_t tag[MCR_GCM_TAG_SIZE], uint8_t *text)
{
    gcm gcm = {.context = NULL, .encrypts = 0};
    uint8_t rest[MCR_GCM_TAG_SIZE], expected[MCR_GCM_TAG_SIZE];
    int written = 0;
    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = tag[i];  // libcrypto takes the tag through a pointer to non-const
    mcr_status status = begin(&gcm, key, nonce, data, data_length, sealed, length, text);
    if (status == MCR_OK && EVP_CIPHER_CTX_ctrl(gcm.context, EVP_CTRL_AEAD_SET_TAG, MCR_GCM_TAG_SIZE, expected) != 1)
        status = MCR_ERROR_LIBRARY;
    if (status == MCR_OK && (EVP_CipherFinal_ex(gcm.context, rest, &written) != 1 || written != 0))
        status = MCR_ERROR_AUTHENTICATION;
    // Bytes that were decrypted before the tag proved wrong must not reach the caller.
    if (status != MCR_OK && (uint64_t)length <= longest_message)
        mcr_cleanse(text, length);
    return end(&gcm, status);
}

void mcr_cleanse(void *bytes, size_t length)
{
    if (length > 0)
        OPENSSL_cleanse(bytes, length);
}
