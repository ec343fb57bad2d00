#define _GNU_SOURCE  // posix_spawn_file_actions_addclosefrom_np
#include "CTestSupport.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

static int prepare(posix_spawn_file_actions_t *actions, const char *folder, const int streams[3])
{
    int code = 0;
    for (int stream = 0; stream < 3 && code == 0; stream++)
        code = streams[stream] < 0 ? posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0)
                                   : posix_spawn_file_actions_adddup2(actions, streams[stream], stream);
    // Also what another thread has opened a moment ago, and has not marked yet.
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (code == 0 && folder != NULL)
        code = posix_spawn_file_actions_addchdir_np(actions, folder);
    return code;
}

int cts_spawn(const char *program, char *const *arguments, char *const *environment, const char *folder, const int streams[3], pid_t *process)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    posix_spawnattr_t attributes;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        // Threads of tests block signals, and a child would inherit that.
        sigset_t none;
        sigemptyset(&none);
        code = posix_spawnattr_setsigmask(&attributes, &none);
        if (code == 0)
            code = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        if (code == 0)
            code = prepare(&actions, folder, streams);
        if (code == 0)
            code = posix_spawn(process, program, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}
