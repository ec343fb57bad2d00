#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "CMobileCrypto.h"

struct mcr_sha256 {
    EVP_MD_CTX *context;
};

static mcr_status result(int done)
{
    if (done == 1)
        return MCR_OK;
    ERR_clear_error();
    return MCR_ERROR_LIBRARY;
}

mcr_sha256 *mcr_sha256_create(void)
{
    mcr_sha256 *digest = calloc(1, sizeof *digest);
    if (digest == NULL)
        return NULL;
    digest->context = EVP_MD_CTX_new();
    if (digest->context == NULL || result(EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL)) != MCR_OK) {
        mcr_sha256_free(digest);
        return NULL;
    }
    return digest;
}

mcr_status mcr_sha256_update(mcr_sha256 *digest, const void *bytes, size_t length)
{
    return length == 0 ? MCR_OK : result(EVP_DigestUpdate(digest->context, bytes, length));
}

mcr_status mcr_sha256_finish(mcr_sha256 *digest, uint8_t out[MCR_SHA256_SIZE])
{
    unsigned int length = MCR_SHA256_SIZE;
    const mcr_status status = result(EVP_DigestFinal_ex(digest->context, out, &length));
    return status != MCR_OK ? status : result(EVP_DigestInit_ex(digest->context, NULL, NULL));
}

void mcr_sha256_free(mcr_sha256 *digest)
{
    if (digest == NULL)
        return;
    EVP_MD_CTX_free(digest->context);
    free(digest);
}
