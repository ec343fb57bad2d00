#include "pool/mc_preupdate.h"

// Where the library was built without the hook, the symbol is missing and its address is NULL.
#if defined(__APPLE__)
#define MC_WEAK __attribute__((weak_import))
#else
#define MC_WEAK __attribute__((weak))
#endif

// SQLite's header declares it only for programs that define SQLITE_ENABLE_PREUPDATE_HOOK.
extern void *sqlite3_preupdate_hook(sqlite3 *db, mc_preupdate hook, void *context) MC_WEAK;

bool mc_preupdate_set(sqlite3 *db, mc_preupdate hook, void *context)
{
    if (sqlite3_preupdate_hook == NULL)
        return false;
    (void)sqlite3_preupdate_hook(db, hook, context);
    return true;
}
