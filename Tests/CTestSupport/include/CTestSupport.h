#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#include <sys/types.h>

/// Starts a program with three streams and no other descriptor of this process, in a process group of its own, with no signal blocked.
/// - environment, arguments: end with NULL; the caller keeps them.
/// - folder: where it runs; NULL for the folder of this process.
/// - streams: the descriptors that become 0, 1 and 2; -1 for /dev/null. They stay open here.
/// Returns 0 and sets the process, or a number of errno.
int cts_spawn(const char *_Nonnull program, char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment,
              const char *_Nullable folder, const int streams[_Nonnull 3], pid_t *_Nonnull process);

/// Lets SQLite count no memory in this process: the counts have one lock, for which threads with databases of their own wait. To be called before SQLite
/// is used for the first time.
/// Returns 0, or SQLite's code.
int cts_sqlite_without_counts(void);

#endif
