#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "CMobileCrypto.h"

struct mcr_hmac {
    EVP_MAC_CTX *keyed;
};

static mcr_status result(int done)
{
    if (done == 1)
        return MCR_OK;
    ERR_clear_error();
    return MCR_ERROR_LIBRARY;
}

mcr_hmac *mcr_hmac_create(const uint8_t *key, size_t key_length)
{
    mcr_hmac *hmac = calloc(1, sizeof *hmac);
    if (hmac == NULL)
        return NULL;
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    hmac->keyed = algorithm == NULL ? NULL : EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);  // the context keeps its own reference
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    if (hmac->keyed == NULL || result(EVP_MAC_init(hmac->keyed, key, key_length, parameters)) != MCR_OK) {
        mcr_hmac_free(hmac);
        return NULL;
    }
    return hmac;
}

mcr_status mcr_hmac_code(const mcr_hmac *hmac, const void *bytes, size_t length, uint8_t out[MCR_SHA256_SIZE])
{
    EVP_MAC_CTX *context = EVP_MAC_CTX_dup(hmac->keyed);
    if (context == NULL) {
        ERR_clear_error();
        return MCR_ERROR_NO_MEMORY;
    }
    size_t size = 0;
    mcr_status status = length == 0 ? MCR_OK : result(EVP_MAC_update(context, bytes, length));
    if (status == MCR_OK)
        status = result(EVP_MAC_final(context, out, &size, MCR_SHA256_SIZE));
    EVP_MAC_CTX_free(context);
    return status;
}

void mcr_hmac_free(mcr_hmac *hmac)
{
    if (hmac == NULL)
        return;
    EVP_MAC_CTX_free(hmac->keyed);
    free(hmac);
}
