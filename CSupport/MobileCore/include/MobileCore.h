/// MobileCore.h: the whole C interface of the core.
#ifndef MOBILE_CORE_H
#define MOBILE_CORE_H

#include "mc_error.h"
#include "mc_message.h"

#endif
