/// fault_directory.h: where tests put databases that are synced over and over and never lose their power.
#ifndef FAULT_DIRECTORY_H
#define FAULT_DIRECTORY_H

/// A directory in memory, where a sync costs nothing, if the machine has one with some room; otherwise the one for temporary files. SQLite
/// and the core make the same calls in either. Valid until the process ends, without a slash behind it.
const char *fault_quick_directory(void);

#endif
