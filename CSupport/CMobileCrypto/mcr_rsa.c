#include "mcr_rsa.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdlib.h>

mcr_status mcr_bytes_make(mcr_bytes *bytes, size_t length)
{
    bytes->start = malloc(length > 0 ? length : 1);
    bytes->length = bytes->start == NULL ? 0 : length;
    return bytes->start == NULL ? MCR_ERROR_NO_MEMORY : MCR_OK;
}

void mcr_bytes_free(mcr_bytes *bytes)
{
    if (bytes->start != NULL)
        OPENSSL_cleanse(bytes->start, bytes->length);
    free(bytes->start);
    *bytes = (mcr_bytes){NULL, 0};
}

/// Empties the queue of errors.
static mcr_status ended(mcr_status status)
{
    ERR_clear_error();
    return status;
}

mcr_status mcr_rsa_take(EVP_PKEY *key, bool is_private, mcr_rsa **out)
{
    *out = NULL;
    if (key == NULL)
        return ended(MCR_ERROR_MALFORMED);
    const int bits = EVP_PKEY_get_bits(key);
    if (EVP_PKEY_is_a(key, "RSA") != 1 || bits < MCR_RSA_MINIMUM_BITS || bits > MCR_RSA_MAXIMUM_BITS) {
        EVP_PKEY_free(key);
        return ended(MCR_ERROR_MALFORMED);
    }
    mcr_rsa *rsa = calloc(1, sizeof *rsa);
    if (rsa == NULL) {
        EVP_PKEY_free(key);
        return MCR_ERROR_NO_MEMORY;
    }
    *rsa = (mcr_rsa){key, is_private};
    *out = rsa;
    return MCR_OK;
}

mcr_status mcr_rsa_generate(unsigned bits, mcr_rsa **key)
{
    *key = NULL;
    if (bits < MCR_RSA_MINIMUM_BITS || bits > MCR_RSA_MAXIMUM_BITS)
        return MCR_ERROR_PARAMETER;
    EVP_PKEY *made = EVP_RSA_gen(bits);
    if (made == NULL)
        return ended(MCR_ERROR_LIBRARY);
    return mcr_rsa_take(made, true, key);
}

mcr_status mcr_rsa_read_private(const uint8_t *der, size_t length, mcr_rsa **key)
{
    *key = NULL;
    if (length == 0 || length > LONG_MAX)
        return MCR_ERROR_MALFORMED;
    const unsigned char *place = der;
    EVP_PKEY *read = d2i_AutoPrivateKey(NULL, &place, (long)length);
    if (read != NULL && place != der + length) {
        EVP_PKEY_free(read);
        read = NULL;
    }
    return mcr_rsa_take(read, true, key);
}

mcr_status mcr_rsa_public(const uint8_t *modulus, size_t modulus_length, const uint8_t *exponent, size_t exponent_length, mcr_rsa **key)
{
    *key = NULL;
    if (modulus_length == 0 || modulus_length > MCR_RSA_MAXIMUM_BITS / 8 + 1 || exponent_length == 0 || exponent_length > 8)
        return MCR_ERROR_MALFORMED;
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL), *e = BN_bin2bn(exponent, (int)exponent_length, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (n != NULL && e != NULL && builder != NULL && BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = parameters == NULL ? NULL : EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *made = NULL;
    if (context != NULL
        && (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &made, EVP_PKEY_PUBLIC_KEY, parameters) != 1)) {
        EVP_PKEY_free(made);
        made = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return mcr_rsa_take(made, false, key);
}

mcr_status mcr_rsa_write_private(const mcr_rsa *key, mcr_bytes *der)
{
    *der = (mcr_bytes){NULL, 0};
    if (!key->is_private)
        return MCR_ERROR_PARAMETER;
    const int size = i2d_PrivateKey(key->key, NULL);
    if (size <= 0)
        return ended(MCR_ERROR_LIBRARY);
    if (mcr_bytes_make(der, (size_t)size) != MCR_OK)
        return MCR_ERROR_NO_MEMORY;
    unsigned char *place = der->start;
    if (i2d_PrivateKey(key->key, &place) == size)
        return MCR_OK;
    mcr_bytes_free(der);
    return ended(MCR_ERROR_LIBRARY);
}

static mcr_status number(const mcr_rsa *key, const char *name, mcr_bytes *out)
{
    BIGNUM *value = NULL;
    if (EVP_PKEY_get_bn_param(key->key, name, &value) != 1)
        return ended(MCR_ERROR_LIBRARY);
    mcr_status status = mcr_bytes_make(out, (size_t)BN_num_bytes(value));
    if (status == MCR_OK)
        BN_bn2bin(value, out->start);
    BN_free(value);
    return status;
}

mcr_status mcr_rsa_numbers(const mcr_rsa *key, mcr_bytes *modulus, mcr_bytes *exponent)
{
    *modulus = *exponent = (mcr_bytes){NULL, 0};
    mcr_status status = number(key, OSSL_PKEY_PARAM_RSA_N, modulus);
    if (status == MCR_OK)
        status = number(key, OSSL_PKEY_PARAM_RSA_E, exponent);
    if (status != MCR_OK)
        mcr_bytes_free(modulus);
    return status;
}

mcr_status mcr_rsa_sign(const mcr_rsa *key, const uint8_t *bytes, size_t length, mcr_bytes *signature)
{
    *signature = (mcr_bytes){NULL, 0};
    if (!key->is_private)
        return MCR_ERROR_PARAMETER;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    mcr_status status = MCR_ERROR_LIBRARY;
    size_t size = 0;
    // PKCS #1 v1.5 is the padding that libcrypto takes for RSA without a further setting.
    if (EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key->key, NULL) == 1
        && EVP_DigestSign(context, NULL, &size, bytes, length) == 1) {
        status = mcr_bytes_make(signature, size);
        if (status == MCR_OK && EVP_DigestSign(context, signature->start, &size, bytes, length) != 1)
            status = MCR_ERROR_LIBRARY;
        signature->length = status == MCR_OK ? size : signature->length;
    }
    EVP_MD_CTX_free(context);
    if (status != MCR_OK)
        mcr_bytes_free(signature);
    return ended(status);
}

mcr_status mcr_rsa_verify(const mcr_rsa *key, const uint8_t *bytes, size_t length, const uint8_t *signature, size_t signature_length)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    mcr_status status = MCR_ERROR_LIBRARY;
    if (EVP_DigestVerifyInit_ex(context, NULL, "SHA256", NULL, NULL, key->key, NULL) == 1)
        status = EVP_DigestVerify(context, signature, signature_length, bytes, length) == 1 ? MCR_OK : MCR_ERROR_AUTHENTICATION;
    EVP_MD_CTX_free(context);
    return ended(status);
}

void mcr_rsa_free(mcr_rsa *key)
{
    if (key == NULL)
        return;
    EVP_PKEY_free(key->key);
    free(key);
}
