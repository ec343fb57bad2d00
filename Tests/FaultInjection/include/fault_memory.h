/// fault_memory.h: lets chosen allocations of SQLite, and of the core that allocates through it, fail.
///
/// A program that is linked with this library allocates through it from its start; other threads than the one that asks for a
/// failure never see one, so tests go on side by side.
#ifndef FAULT_MEMORY_H
#define FAULT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/// Lets the allocation of this thread after the next `allocations` ones fail, and all after it if `stays`.
/// A negative number: none fails any more.
void fault_memory_fail_after(int64_t allocations, bool stays);
/// Whether an allocation of this thread has failed since its last `fault_memory_fail_after`.
bool fault_memory_has_failed(void);
/// Sets `*has_failed` when an allocation of this thread fails: for whoever asks when the thread has ended. NULL: nobody does.
void fault_memory_tell(bool *has_failed);
/// The allocations of this thread since its last `fault_memory_fail_after`, failed ones included.
int64_t fault_memory_allocations(void);
/// The most bytes that this thread has held at once of those that it has allocated since its last `fault_memory_fail_after`.
int64_t fault_memory_peak(void);
/// The bytes that this thread has ever allocated, less those that it has given back. Work that stays on one thread and leaks nothing leaves
/// it as it was.
int64_t fault_memory_held(void);

#endif
