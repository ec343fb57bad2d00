#include <limits.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "mcr_rsa.h"

struct mcr_certificate {
    X509 *x509;
};

static mcr_status ended(mcr_status status)
{
    ERR_clear_error();
    return status;
}

/// Takes a certificate over, also when it fails.
static mcr_status take(X509 *x509, mcr_certificate **out)
{
    mcr_certificate *certificate = calloc(1, sizeof *certificate);
    if (certificate == NULL) {
        X509_free(x509);
        return MCR_ERROR_NO_MEMORY;
    }
    certificate->x509 = x509;
    *out = certificate;
    return ended(MCR_OK);
}

mcr_status mcr_certificate_read(const uint8_t *der, size_t length, mcr_certificate **certificate)
{
    *certificate = NULL;
    if (length == 0 || length > LONG_MAX)
        return MCR_ERROR_MALFORMED;
    const unsigned char *place = der;
    X509 *x509 = d2i_X509(NULL, &place, (long)length);
    mcr_rsa *key = NULL;
    mcr_status status = MCR_ERROR_MALFORMED;
    // Its key is read here, so that later calls cannot meet one that is not usable.
    if (x509 != NULL && place == der + length)
        status = mcr_rsa_take(X509_get_pubkey(x509), false, &key);
    mcr_rsa_free(key);
    if (status == MCR_OK)
        return take(x509, certificate);
    X509_free(x509);
    return ended(status);
}

static bool add_name(X509_NAME *name, int kind, const char *text)
{
    const size_t length = strlen(text);
    if (length > INT_MAX)
        return false;
    return length == 0 || X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8, (const unsigned char *)text, (int)length, -1, 0) == 1;
}

/// A random serial number of 127 bits.
static bool set_serial(X509 *x509)
{
    BIGNUM *number = BN_new();
    const bool done = number != NULL && BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
        && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != NULL;
    BN_free(number);
    return done;
}

/// Says whether the key may sign certificates, and what else it is for.
static bool add_uses(X509 *x509, X509 *issuer, bool is_authority)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, x509, NULL, NULL, 0);
    X509_EXTENSION *constraints =
        X509V3_EXT_conf_nid(NULL, &context, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    X509_EXTENSION *uses =
        X509V3_EXT_conf_nid(NULL, &context, NID_key_usage, is_authority ? "critical,keyCertSign" : "critical,digitalSignature");
    const bool done = constraints != NULL && uses != NULL && X509_add_ext(x509, constraints, -1) == 1 && X509_add_ext(x509, uses, -1) == 1;
    X509_EXTENSION_free(constraints);
    X509_EXTENSION_free(uses);
    return done;
}

mcr_status mcr_certificate_issue(const mcr_rsa *subject, const char *common_name, const char *organization, const mcr_certificate *issuer,
                                 const mcr_rsa *issuer_key, int64_t not_before, int64_t not_after, mcr_certificate **certificate)
{
    *certificate = NULL;
    if (common_name[0] == '\0' || not_before > not_after || !issuer_key->is_private)
        return MCR_ERROR_PARAMETER;
    if (issuer != NULL && X509_check_private_key(issuer->x509, issuer_key->key) != 1)
        return ended(MCR_ERROR_PARAMETER);
    X509 *x509 = X509_new();
    if (x509 == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    X509_NAME *name = X509_get_subject_name(x509);
    const bool is_named = add_name(name, NID_commonName, common_name) && add_name(name, NID_organizationName, organization)
        && ASN1_TIME_set(X509_getm_notBefore(x509), (time_t)not_before) != NULL
        && ASN1_TIME_set(X509_getm_notAfter(x509), (time_t)not_after) != NULL;
    mcr_status status = is_named ? MCR_ERROR_LIBRARY : MCR_ERROR_PARAMETER;
    if (is_named && X509_set_version(x509, X509_VERSION_3) == 1 && set_serial(x509) && X509_set_pubkey(x509, subject->key) == 1
        && X509_set_issuer_name(x509, issuer == NULL ? name : X509_get_subject_name(issuer->x509)) == 1
        && add_uses(x509, issuer == NULL ? x509 : issuer->x509, issuer == NULL) && X509_sign(x509, issuer_key->key, EVP_sha256()) > 0)
        return take(x509, certificate);
    X509_free(x509);
    return ended(status);
}

mcr_status mcr_certificate_verify(const mcr_certificate *certificate, const mcr_certificate *issuer, int64_t time)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    mcr_status status = MCR_ERROR_NO_MEMORY;
    if (store != NULL && context != NULL && X509_STORE_add_cert(store, issuer->x509) == 1
        && X509_STORE_CTX_init(context, store, certificate->x509, NULL) == 1) {
        X509_VERIFY_PARAM *rules = X509_STORE_CTX_get0_param(context);
        X509_VERIFY_PARAM_set_time(rules, (time_t)time);
        // The issuer may be the authority of a part of an organization, without the certificates above it.
        X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
        // A trusted certificate would count as its own proof: one of an authority is that of no device.
        const bool is_issued = X509_cmp(certificate->x509, issuer->x509) != 0 && X509_verify_cert(context) == 1;
        status = is_issued ? MCR_OK : MCR_ERROR_AUTHENTICATION;
    }
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return ended(status);
}

mcr_status mcr_certificate_write(const mcr_certificate *certificate, mcr_bytes *der)
{
    *der = (mcr_bytes){NULL, 0};
    const int size = i2d_X509(certificate->x509, NULL);
    if (size <= 0)
        return ended(MCR_ERROR_LIBRARY);
    if (mcr_bytes_make(der, (size_t)size) != MCR_OK)
        return MCR_ERROR_NO_MEMORY;
    unsigned char *place = der->start;
    if (i2d_X509(certificate->x509, &place) == size)
        return MCR_OK;
    mcr_bytes_free(der);
    return ended(MCR_ERROR_LIBRARY);
}

static mcr_status copy_name(X509_NAME *name, int kind, mcr_bytes *out)
{
    const int place = X509_NAME_get_index_by_NID(name, kind, -1);
    if (place < 0)
        return mcr_bytes_make(out, 0);
    unsigned char *text = NULL;
    const int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, place)));
    if (length < 0)
        return ended(MCR_ERROR_MALFORMED);
    mcr_status status = mcr_bytes_make(out, (size_t)length);
    if (status == MCR_OK && length > 0)
        memcpy(out->start, text, (size_t)length);
    OPENSSL_free(text);
    return status;
}

mcr_status mcr_certificate_names(const mcr_certificate *certificate, mcr_bytes *common_name, mcr_bytes *organization)
{
    *common_name = *organization = (mcr_bytes){NULL, 0};
    X509_NAME *name = X509_get_subject_name(certificate->x509);
    mcr_status status = copy_name(name, NID_commonName, common_name);
    if (status == MCR_OK)
        status = copy_name(name, NID_organizationName, organization);
    if (status != MCR_OK)
        mcr_bytes_free(common_name);
    return status;
}

mcr_status mcr_certificate_begin(const mcr_certificate *certificate, int64_t *not_before)
{
    *not_before = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    if (epoch == NULL)
        return ended(MCR_ERROR_NO_MEMORY);
    int days = 0;
    int seconds = 0;
    const bool is_time = ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notBefore(certificate->x509)) == 1;
    ASN1_TIME_free(epoch);
    if (!is_time)
        return ended(MCR_ERROR_MALFORMED);
    *not_before = (int64_t)days * 86400 + seconds;
    return MCR_OK;
}

mcr_status mcr_certificate_key(const mcr_certificate *certificate, mcr_rsa **key)
{
    return mcr_rsa_take(X509_get_pubkey(certificate->x509), false, key);
}

void mcr_certificate_free(mcr_certificate *certificate)
{
    if (certificate == NULL)
        return;
    X509_free(certificate->x509);
    free(certificate);
}
