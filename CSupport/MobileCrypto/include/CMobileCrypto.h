/// CMobileCrypto.h: everything of this library.
#ifndef CMOBILE_CRYPTO_H
#define CMOBILE_CRYPTO_H

#include "mcr_primitives.h"

#endif
