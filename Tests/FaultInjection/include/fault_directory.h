/// fault_directory.h: the directory for databases of tests that sync often and do not simulate power cuts.
#ifndef FAULT_DIRECTORY_H
#define FAULT_DIRECTORY_H

/// A directory in memory, where a sync costs nothing, if the machine has one with enough room; otherwise the one for temporary files. With TESTS_ON_DISK
/// in the environment it is always TMPDIR.
/// SQLite and the core make the same calls in both. The path is valid until the process ends, and has no slash at its end.
const char *fault_quick_directory(void);

#endif
