/// mc_pool_open.c: opens a pool with the hooks of all folders of the core.
#include "blobs/mc_blob_pool.h"
#include "pages/mc_page_fill.h"
#include "pool/mc_pool_hooks.h"

/// The hooks from the ground up, in the order of the folders.
static const mc_pool_hooks *const hooks[] = {&mc_page_hooks, &mc_blob_hooks};

_Static_assert(sizeof hooks / sizeof hooks[0] <= MC_POOL_HOOKS_MAXIMUM, "a pool has room for the states of all");

mc_status mc_pool_open(const char *path, const mc_pool_options *options, mc_pool **out, mc_error *error)
{
    return mc_pool_open_with_hooks(path, options, hooks, sizeof hooks / sizeof hooks[0], out, error);
}
