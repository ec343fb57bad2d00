/// mc_version.h: the versions of the core and of SQLite, and the beginning of every struct of options.
///
/// A struct of options begins with two fields that say how the program was compiled: `size`, its size there, and `version`, the
/// MC_VERSION_NUMBER there. So a program that was compiled with an older version of the core works with a newer library: fields are added
/// at the end, and the library takes those that the program does not have from its defaults. `mc_..._default_options` fill both; in C,
/// `{MC_OPTIONS(mc_checkout), .writer = true}` does as well. Options with another size, such as zeroed ones, are MC_ERROR_MISUSE, as
/// are those of another major version, or of a program that is newer than the library.
#ifndef MC_VERSION_H
#define MC_VERSION_H

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif

MC_NONNULL_BEGIN

/// The version of the core that a program is compiled with: as text, and as 1,000,000 times the major, 1000 times the minor and the patch
/// number. The major number changes when a program has to be changed for the new version.
#define MC_VERSION "1.0.0"
#define MC_VERSION_NUMBER 1000000

/// Begins an initializer of options in C, by names of fields. In C++ and Swift: `mc_..._default_options`.
#define MC_OPTIONS(type) .size = sizeof(type), .version = MC_VERSION_NUMBER

/// Returns MC_VERSION and MC_VERSION_NUMBER of the library that the program runs with. Static memory.
const char *mc_version(void);
int mc_version_number(void);

/// Returns the version of the SQLite library that the core runs with, such as "3.40.1", and as a number, such as 3040001. It may be another
/// one than that of the <sqlite3.h> that the core was compiled with. Static memory.
const char *mc_sqlite_version(void);
int mc_sqlite_version_number(void);

MC_NONNULL_END

#ifdef __cplusplus
}
#endif
#endif
