/// mc_options.h: checks the beginning of options, which says with which version of the core their program was compiled. Internal.
#ifndef MC_OPTIONS_H
#define MC_OPTIONS_H

#include "mc_version.h"

/// Refuses options whose `size` is not from `least`, the size of their first version, to `most`, that of the library, and those of another
/// major version. `name` is that of the type. Fails with MC_ERROR_MISUSE.
mc_status mc_options_check(const char *name, size_t size, int version, size_t least, size_t most, mc_error *error);

/// The same for options that have had no other size yet: they are read in place.
#define MC_OPTIONS_CHECK(type, options, error)                                                                                             \
    mc_options_check(#type, (options)->size, (options)->version, sizeof(type), sizeof(type), error)

#endif
