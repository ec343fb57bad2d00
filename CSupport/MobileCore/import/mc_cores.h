/// mc_cores.h: how many processors there are for this process. Internal.
#ifndef MC_CORES_H
#define MC_CORES_H

#include <stdbool.h>

/// Whether the calling thread may run on more than one processor. Says nothing of whether another process keeps them busy.
bool mc_has_second_core(void);

#endif
