/// mc_cores.h: the number of processors for this process. Internal.
#ifndef MC_CORES_H
#define MC_CORES_H

#include <stdbool.h>

/// Whether the calling thread may run on more than one processor. The load by other processes does not count.
bool mc_has_second_core(void);

#endif
