/// mc_version.c: the versions, and the check of options for theirs.
#include "base/mc_fail.h"
#include "base/mc_options.h"

enum { MAJOR = 1000000, MINOR = 1000 };

const char *mc_version(void)
{
    return MC_VERSION;
}

int mc_version_number(void)
{
    return MC_VERSION_NUMBER;
}

const char *mc_sqlite_version(void)
{
    return sqlite3_libversion();
}

int mc_sqlite_version_number(void)
{
    return sqlite3_libversion_number();
}

mc_status mc_options_check(const char *name, size_t size, int version, size_t least, size_t most, mc_error *error)
{
    if (size >= least && size <= most && version / MAJOR == MC_VERSION_NUMBER / MAJOR)
        return MC_OK;
    if (size == 0 || version <= 0)
        return mc_fail(error, MC_ERROR_MISUSE,
                       "%s: its size is %zu and its version %d; begin with its default options, or with MC_OPTIONS(%s)", name, size,
                       version, name);
    if (version / MAJOR != MC_VERSION_NUMBER / MAJOR || version > MC_VERSION_NUMBER)
        return mc_fail(
            error, MC_ERROR_MISUSE,
            "%s: the program was compiled with version %d.%d.%d of the core, the library has version %s; compile and link one version",
            name, version / MAJOR, version / MINOR % MINOR, version % MINOR, MC_VERSION);
    return mc_fail(error, MC_ERROR_MISUSE,
                   "%s: its size is %zu, this version has %zu to %zu bytes; begin with its default options, and change no size", name, size,
                   least, most);
}
