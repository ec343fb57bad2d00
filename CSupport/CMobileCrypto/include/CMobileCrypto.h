/// CMobileCrypto.h: the few primitives of OpenSSL's libcrypto that the platform uses. No algorithm is implemented here.
///
/// Threads: every function may be called from any thread; a digest may be used by one thread at a time.
/// Errors:  MCR_OK or a reason; no function prints or aborts, and libcrypto's error queue is left empty.
#ifndef CMOBILE_CRYPTO_H
#define CMOBILE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define MCR_NULLABLE _Nullable
#define MCR_NONNULL _Nonnull
#else
#define MCR_NULLABLE
#define MCR_NONNULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call.
typedef enum mcr_status {
    MCR_OK = 0,
    MCR_ERROR_NO_MEMORY = 1,       ///< an allocation failed
    MCR_ERROR_PARAMETER = 2,       ///< scrypt: invalid parameters, or too much memory needed; GCM: the message is too long
    MCR_ERROR_LIBRARY = 3,         ///< libcrypto refused, for example without a source of randomness
    MCR_ERROR_AUTHENTICATION = 4,  ///< another key, nonce or associated data, or the sealed bytes, the tag or the signature were changed
    MCR_ERROR_MALFORMED = 5        ///< damaged bytes of a key or a certificate
} mcr_status;

enum { MCR_SHA256_SIZE = 32, MCR_AES128_KEY_SIZE = 16, MCR_GCM_NONCE_SIZE = 12, MCR_GCM_TAG_SIZE = 16 };

/// Fills `bytes` with `length` random bytes from the system's generator for secrets.
/// Fails with MCR_ERROR_LIBRARY; the content of `bytes` is then undefined and must not be used.
mcr_status mcr_random(uint8_t *MCR_NULLABLE bytes, size_t length);

/// Derives `length` bytes of key from a password (RFC 7914). `n` is a power of two above 1. About 128 * r * (n + p) bytes of memory are
/// needed; a need above `memory_limit` fails with MCR_ERROR_PARAMETER.
mcr_status mcr_scrypt(const uint8_t *MCR_NULLABLE password, size_t password_length, const uint8_t *MCR_NULLABLE salt, size_t salt_length,
                      uint64_t n, uint64_t r, uint64_t p, uint64_t memory_limit, uint8_t *MCR_NONNULL key, size_t length);

/// Returns whether two secrets of equal length are the same. The time does not depend on where they differ.
bool mcr_equal(const uint8_t *MCR_NULLABLE left, const uint8_t *MCR_NULLABLE right, size_t length);

/// Encrypts and authenticates `length` bytes of `text` with AES-128-GCM (NIST SP 800-38D); authenticates `data` without encrypting it.
/// `sealed` gets `length` bytes and may be `text` itself; `tag` gets the proof. A nonce must never be used twice with one key.
/// Fails with MCR_ERROR_PARAMETER (more than 2^36 - 32 bytes), MCR_ERROR_NO_MEMORY, MCR_ERROR_LIBRARY; `sealed` and `tag` are then
/// undefined.
mcr_status mcr_aes128_gcm_seal(const uint8_t key[MCR_NONNULL MCR_AES128_KEY_SIZE], const uint8_t nonce[MCR_NONNULL MCR_GCM_NONCE_SIZE],
                               const uint8_t *MCR_NULLABLE data, size_t data_length, const uint8_t *MCR_NULLABLE text, size_t length,
                               uint8_t *MCR_NULLABLE sealed, uint8_t tag[MCR_NONNULL MCR_GCM_TAG_SIZE]);

/// Decrypts and verifies bytes of `mcr_aes128_gcm_seal`: `text` gets the `length` original bytes, and may be `sealed` itself. On failure
/// `text` is overwritten with zeros. Fails with MCR_ERROR_AUTHENTICATION unless key, nonce, data, sealed bytes and tag are all those of
/// one call of `mcr_aes128_gcm_seal`; otherwise like that function. A `length` above the limit fails without any write to `text`.
mcr_status mcr_aes128_gcm_open(const uint8_t key[MCR_NONNULL MCR_AES128_KEY_SIZE], const uint8_t nonce[MCR_NONNULL MCR_GCM_NONCE_SIZE],
                               const uint8_t *MCR_NULLABLE data, size_t data_length, const uint8_t *MCR_NULLABLE sealed, size_t length,
                               const uint8_t tag[MCR_NONNULL MCR_GCM_TAG_SIZE], uint8_t *MCR_NULLABLE text);

/// Overwrites a secret that is no longer needed; a compiler cannot leave this out.
void mcr_cleanse(void *MCR_NULLABLE bytes, size_t length);

/// A running SHA-256.
typedef struct mcr_sha256 mcr_sha256;

/// Begins a digest. The caller frees it with `mcr_sha256_free`. Returns NULL if there is no memory or libcrypto fails.
mcr_sha256 *MCR_NULLABLE mcr_sha256_create(void);

/// Adds bytes.
mcr_status mcr_sha256_update(mcr_sha256 *MCR_NONNULL digest, const void *MCR_NULLABLE bytes, size_t length);

/// Writes the digest of all bytes added and begins the next digest.
mcr_status mcr_sha256_finish(mcr_sha256 *MCR_NONNULL digest, uint8_t out[MCR_NONNULL MCR_SHA256_SIZE]);

/// Frees a digest. NULL is allowed.
void mcr_sha256_free(mcr_sha256 *MCR_NULLABLE digest);

/// A key of HMAC-SHA-256 (RFC 2104), prepared for many codes.
typedef struct mcr_hmac mcr_hmac;

/// Prepares a key. The caller frees it with `mcr_hmac_free`. Returns NULL if there is no memory or libcrypto fails.
mcr_hmac *MCR_NULLABLE mcr_hmac_create(const uint8_t *MCR_NONNULL key, size_t key_length);

/// Writes the code of `length` bytes. Any number of threads may use one key at a time. Fails with MCR_ERROR_NO_MEMORY, MCR_ERROR_LIBRARY.
mcr_status mcr_hmac_code(const mcr_hmac *MCR_NONNULL hmac, const void *MCR_NULLABLE bytes, size_t length,
                         uint8_t out[MCR_NONNULL MCR_SHA256_SIZE]);

/// Frees a key, and overwrites it. NULL is allowed.
void mcr_hmac_free(mcr_hmac *MCR_NULLABLE hmac);

/// An RSA key, with or without its private part. Any number of threads may use one at a time.
typedef struct mcr_rsa mcr_rsa;

/// The sizes of RSA keys that are made and accepted, in bits.
enum { MCR_RSA_MINIMUM_BITS = 2048, MCR_RSA_MAXIMUM_BITS = 8192 };

/// Makes a key pair. The caller frees it with `mcr_rsa_free`, also those of the next functions. Fails with MCR_ERROR_PARAMETER (a size out
/// of range), MCR_ERROR_LIBRARY.
mcr_status mcr_rsa_generate(unsigned bits, mcr_rsa *MCR_NULLABLE *MCR_NONNULL key);

/// Reads a private key in DER (PKCS#1 or PKCS#8). Fails with MCR_ERROR_MALFORMED, also for another algorithm, a size out of range and
/// further bytes.
mcr_status mcr_rsa_read_private(const uint8_t *MCR_NULLABLE der, size_t length, mcr_rsa *MCR_NULLABLE *MCR_NONNULL key);

/// Makes a public key of its two numbers, most significant byte first. Fails with MCR_ERROR_MALFORMED, also for a size out of range.
mcr_status mcr_rsa_public(const uint8_t *MCR_NULLABLE modulus, size_t modulus_length, const uint8_t *MCR_NULLABLE exponent,
                          size_t exponent_length, mcr_rsa *MCR_NULLABLE *MCR_NONNULL key);

/// Bytes that a function allocated; the caller frees them with `mcr_bytes_free`, which overwrites them.
typedef struct mcr_bytes {
    uint8_t *MCR_NULLABLE start;
    size_t length;
} mcr_bytes;

/// Frees bytes. Empty ones are allowed.
void mcr_bytes_free(mcr_bytes *MCR_NONNULL bytes);

/// Writes the private key as PKCS#1 DER. Fails with MCR_ERROR_PARAMETER for a public key.
mcr_status mcr_rsa_write_private(const mcr_rsa *MCR_NONNULL key, mcr_bytes *MCR_NONNULL der);

/// Writes the two numbers of the public key, most significant byte first, without leading zeros.
mcr_status mcr_rsa_numbers(const mcr_rsa *MCR_NONNULL key, mcr_bytes *MCR_NONNULL modulus, mcr_bytes *MCR_NONNULL exponent);

/// Signs bytes with RSASSA-PKCS1-v1_5 and SHA-256 (RS256 of RFC 7518). Fails with MCR_ERROR_PARAMETER for a public key.
mcr_status mcr_rsa_sign(const mcr_rsa *MCR_NONNULL key, const uint8_t *MCR_NULLABLE bytes, size_t length, mcr_bytes *MCR_NONNULL signature);

/// Checks a signature of `mcr_rsa_sign`. Fails with MCR_ERROR_AUTHENTICATION.
mcr_status mcr_rsa_verify(const mcr_rsa *MCR_NONNULL key, const uint8_t *MCR_NULLABLE bytes, size_t length,
                          const uint8_t *MCR_NULLABLE signature, size_t signature_length);

/// Frees a key, and overwrites its private part. NULL is allowed.
void mcr_rsa_free(mcr_rsa *MCR_NULLABLE key);

/// An X.509 certificate of an RSA key.
typedef struct mcr_certificate mcr_certificate;

/// Reads a certificate in DER. The caller frees it with `mcr_certificate_free`. Fails with MCR_ERROR_MALFORMED, also for another kind of
/// key, an RSA key whose size is out of range, and further bytes.
mcr_status mcr_certificate_read(const uint8_t *MCR_NULLABLE der, size_t length, mcr_certificate *MCR_NULLABLE *MCR_NONNULL certificate);

/// Issues a certificate. The names are UTF-8, at most 64 characters each.
/// - issuer: NULL makes a certificate of an authority, signed by its own key; otherwise the authority, whose key `issuer_key` is.
/// - not_before, not_after: seconds since 1970.
/// Fails with MCR_ERROR_PARAMETER (a name, a time, or a key that is not that of the issuer), MCR_ERROR_LIBRARY.
mcr_status mcr_certificate_issue(const mcr_rsa *MCR_NONNULL subject, const char *MCR_NONNULL common_name,
                                 const char *MCR_NONNULL organization, const mcr_certificate *MCR_NULLABLE issuer,
                                 const mcr_rsa *MCR_NONNULL issuer_key, int64_t not_before, int64_t not_after,
                                 mcr_certificate *MCR_NULLABLE *MCR_NONNULL certificate);

/// Checks that `issuer` signed the certificate, and that both are valid at a time, in seconds since 1970. Fails with
/// MCR_ERROR_AUTHENTICATION.
mcr_status mcr_certificate_verify(const mcr_certificate *MCR_NONNULL certificate, const mcr_certificate *MCR_NONNULL issuer, int64_t time);

/// Writes the certificate as DER.
mcr_status mcr_certificate_write(const mcr_certificate *MCR_NONNULL certificate, mcr_bytes *MCR_NONNULL der);

/// Writes the first common name and the first organization of the subject, as UTF-8; empty for none.
mcr_status mcr_certificate_names(const mcr_certificate *MCR_NONNULL certificate, mcr_bytes *MCR_NONNULL common_name,
                                 mcr_bytes *MCR_NONNULL organization);

/// Returns the time from which the certificate is valid, in seconds since 1970.
mcr_status mcr_certificate_begin(const mcr_certificate *MCR_NONNULL certificate, int64_t *MCR_NONNULL not_before);

/// Returns the public key. The caller frees it with `mcr_rsa_free`.
mcr_status mcr_certificate_key(const mcr_certificate *MCR_NONNULL certificate, mcr_rsa *MCR_NULLABLE *MCR_NONNULL key);

/// Frees a certificate. NULL is allowed.
void mcr_certificate_free(mcr_certificate *MCR_NULLABLE certificate);

/// Reads the first block of PEM text (RFC 7468). Fails with MCR_ERROR_MALFORMED, also for a block that a password protects.
mcr_status mcr_pem_read(const uint8_t *MCR_NULLABLE text, size_t length, mcr_bytes *MCR_NONNULL der);

/// Writes bytes as a block of PEM text under a label, such as `CERTIFICATE`.
mcr_status mcr_pem_write(const char *MCR_NONNULL label, const uint8_t *MCR_NULLABLE der, size_t length, mcr_bytes *MCR_NONNULL text);

#ifdef __cplusplus
}
#endif
#endif
