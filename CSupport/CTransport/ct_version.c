#include "CTransport.h"
int ct_version(void) { return 1; }
