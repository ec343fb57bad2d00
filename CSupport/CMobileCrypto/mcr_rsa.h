// mcr_rsa.h: keys as the other files of this folder use them.
#ifndef MCR_RSA_H
#define MCR_RSA_H

#include <openssl/evp.h>

#include "CMobileCrypto.h"

struct mcr_rsa {
    EVP_PKEY *MCR_NONNULL key;
    bool is_private;
};

/// Takes a key over, also when it fails: MCR_ERROR_MALFORMED for NULL, another algorithm, or a size out of range.
mcr_status mcr_rsa_take(EVP_PKEY *MCR_NULLABLE key, bool is_private, mcr_rsa *MCR_NULLABLE *MCR_NONNULL out);

/// Allocates bytes; MCR_ERROR_NO_MEMORY.
mcr_status mcr_bytes_make(mcr_bytes *MCR_NONNULL bytes, size_t length);

#endif
