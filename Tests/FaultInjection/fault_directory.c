#if !defined(__APPLE__)
#define _XOPEN_SOURCE 700  // access, statvfs
#endif
#include "fault_directory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/// Room for the databases of all tests that run at the same time; containers often have only 64 MB.
enum { ROOM = 512 * 1024 * 1024 };

const char *fault_quick_directory(void)
{
    const char *const temporary = getenv("TMPDIR");
    const bool has_temporary = temporary != NULL && temporary[0] != '\0';
    // make test-on-disk
    if (has_temporary && getenv("TESTS_ON_DISK") != NULL) return temporary;
    static const char memory[] = "/dev/shm";
    struct statvfs space;
    if (access(memory, W_OK) == 0 && statvfs(memory, &space) == 0 && (unsigned long long)space.f_bavail * space.f_frsize >= ROOM)
        return memory;
    return has_temporary ? temporary : "/tmp";
}
