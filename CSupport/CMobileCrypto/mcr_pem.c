#include <limits.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

#include "mcr_rsa.h"

static mcr_status ended(mcr_status status)
{
    ERR_clear_error();
    return status;
}

static mcr_status copy(const void *bytes, long length, mcr_bytes *out)
{
    if (length < 0)
        return MCR_ERROR_LIBRARY;
    const mcr_status status = mcr_bytes_make(out, (size_t)length);
    if (status == MCR_OK && length > 0)
        memcpy(out->start, bytes, (size_t)length);
    return status;
}

mcr_status mcr_pem_read(const uint8_t *text, size_t length, mcr_bytes *der)
{
    *der = (mcr_bytes){NULL, 0};
    if (length == 0 || length > INT_MAX)
        return MCR_ERROR_MALFORMED;
    BIO *input = BIO_new_mem_buf(text, (int)length);
    if (input == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    char *label = NULL, *header = NULL;
    unsigned char *content = NULL;
    long size = 0;
    mcr_status status = MCR_ERROR_MALFORMED;
    // A header names the cipher of a protected block.
    if (PEM_read_bio(input, &label, &header, &content, &size) == 1 && (header == NULL || header[0] == '\0'))
        status = copy(content, size, der);
    OPENSSL_free(label);
    OPENSSL_free(header);
    if (size > 0)
        OPENSSL_clear_free(content, (size_t)size);
    else
        OPENSSL_free(content);
    BIO_free(input);
    return ended(status);
}

mcr_status mcr_pem_write(const char *label, const uint8_t *der, size_t length, mcr_bytes *text)
{
    *text = (mcr_bytes){NULL, 0};
    if (length > LONG_MAX)
        return MCR_ERROR_PARAMETER;
    BIO *output = BIO_new(BIO_s_secmem());
    if (output == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    mcr_status status = MCR_ERROR_LIBRARY;
    char *written = NULL;
    if (PEM_write_bio(output, label, "", der, (long)length) > 0) {
        const long size = BIO_get_mem_data(output, &written);
        status = copy(written, size, text);
    }
    BIO_free(output);
    return ended(status);
}
