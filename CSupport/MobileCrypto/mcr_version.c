#include "CMobileCrypto.h"
int mcr_version(void) { return 1; }
