/// FaultInjection.h: storage and memory that fail when a test requests it.
#include "fault_directory.h"
#include "fault_memory.h"
#include "fault_storage.h"
