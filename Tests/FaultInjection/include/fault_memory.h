/// fault_memory.h: makes chosen allocations fail, those of SQLite and of the core, which allocates through it.
///
/// A program that is linked with this library allocates through it from its start. Only allocations of the requesting thread
/// fail, so tests can run concurrently.
#ifndef FAULT_MEMORY_H
#define FAULT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/// Makes this thread's allocation after the next `allocations` ones fail, and all later ones if `stays`.
/// A negative number: no further allocation fails.
void fault_memory_fail_after(int64_t allocations, bool stays);
/// Whether an allocation of this thread has failed since its last `fault_memory_fail_after`.
bool fault_memory_has_failed(void);
/// Sets `*has_failed` when an allocation of this thread fails, for a check after the thread has ended. NULL: no flag is set.
void fault_memory_tell(bool *has_failed);
/// The largest number of bytes that this thread has held at once since its last `fault_memory_fail_after`, without earlier allocations.
int64_t fault_memory_peak(void);
/// The number of bytes that this thread has ever allocated, less those that it has freed. Work on one thread without leaks does not
/// change it.
int64_t fault_memory_held(void);

#endif
