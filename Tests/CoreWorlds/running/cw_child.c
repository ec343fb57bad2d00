#include "running/cw_child.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "draw/cw_draw.h"
#include "running/cw_run.h"

/// No world takes as long: after these seconds its process ends, and the world counts as one that hangs.
enum { SECONDS_MOST = 60 };

static void remove_folder(const char *folder)
{
    DIR *const files = opendir(folder);
    for (struct dirent *entry = NULL; files != NULL && (entry = readdir(files)) != NULL;) {
        cw_text path = {0};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        cw_add(&path, "%s/%s", folder, entry->d_name);
        if (unlink(path.bytes) != 0)
            remove_folder(path.bytes);
        cw_text_free(&path);
    }
    if (files != NULL)
        (void)closedir(files);
    (void)rmdir(folder);
}

/// The folder for the files of a process; memory is faster than a disk.
static char *folder_of(pid_t process)
{
    const char *const given = getenv("TMPDIR");
    cw_text path = {0};
    cw_add(&path, "%s/core-world-%d",
           given != NULL && *given != '\0'     ? given
               : access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                               : "/tmp",
           (int)process);
    return path.bytes;
}

/// Runs a program in this process.
static void run_here(const cw_program *program, const char *folder, cw_result *result)
{
    cw_run *const run = cw_allocate(1, sizeof *run);
    (void)alarm(SECONDS_MOST);
    cw_run_program(run, program, folder);
    (void)alarm(0);
    *result = (cw_result){.seed = program->seed, .met = run->met, .has_failed = run->kind != NULL};
    (void)snprintf(result->kind, sizeof result->kind, "%s", run->kind != NULL ? run->kind : "");
    (void)snprintf(result->text, sizeof result->text, "%s", cw_string(&run->failure));
    cw_run_free(run);
    free(run);
    if (chdir("/") == 0)
        remove_folder(folder);
}

static void send(int pipe, const cw_result *result)
{
    const char *bytes = (const char *)result;
    for (size_t length = sizeof *result; length > 0;) {
        const ssize_t written = write(pipe, bytes, length);
        if (written <= 0)
            _exit(71);
        bytes += written;
        length -= (size_t)written;
    }
}

static bool receive(int pipe, cw_result *result)
{
    char *bytes = (char *)result;
    for (size_t length = sizeof *result; length > 0;) {
        const ssize_t count = read(pipe, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

/// The line of a sanitizer's report that names the fault.
static void read_report(FILE *report, cw_result *result)
{
    char line[512];
    rewind(report);
    while (fgets(line, sizeof line, report) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const bool names = strstr(line, "SUMMARY: ") != NULL || strstr(line, "runtime error: ") != NULL;
        if (names || result->text[0] == '\0')
            (void)snprintf(result->text, sizeof result->text, "%s", line);
        if (names)
            return;
    }
}

typedef void (*work)(void *context, int pipe, const char *folder);

/// Runs work in a child process, and gives its results to `take`. Returns their number. `*crash` is the result of a
/// process that did not end well.
static int64_t in_child(work work, void *context, void (*take)(void *, const cw_result *), void *taker,
                        cw_result *crash)
{
    int pipes[2];
    int64_t count = 0;
    int status = 0;
    cw_result result;
    FILE *const report = tmpfile();
    *crash = (cw_result){.has_failed = true, .kind = "crash"};
    if (report == NULL || pipe(pipes) != 0)
        return 0;
    (void)fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        char *const folder = folder_of(getpid());
        (void)close(pipes[0]);
        (void)dup2(fileno(report), STDERR_FILENO);
        work(context, pipes[1], folder);
        free(folder);
        exit(0);  // the check for leaks is part of it
    }
    (void)close(pipes[1]);
    while (process > 0 && receive(pipes[0], &result)) {
        take(taker, &result);
        count++;
    }
    (void)close(pipes[0]);
    if (process > 0)
        (void)waitpid(process, &status, 0);
    crash->has_failed = process < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        (void)snprintf(crash->kind, sizeof crash->kind, "hang");
    if (crash->has_failed) {
        read_report(report, crash);
        char *const folder = folder_of(process);
        remove_folder(folder);
        free(folder);
    }
    (void)fclose(report);
    return count;
}

// ---- Seeds
// ------------------------------------------------------------------------------------------------------------

static void run_batch(void *context, int pipe, const char *folder)
{
    const cw_seeds *const seeds = context;
    bool has_failed = false;
    for (int64_t number = 0; number < seeds->count && !has_failed; number++) {
        cw_program program = {0};
        cw_result result;
        cw_draw(&program, seeds->first + (uint64_t)number, seeds->steps, seeds->avoided);
        run_here(&program, folder, &result);
        has_failed = result.has_failed;
        cw_program_free(&program);
        send(pipe, &result);
    }
}

typedef struct last {
    void (*take)(void *context, const cw_result *result);
    void *context;
    bool has_failed;
} last;

static void note_last(void *context, const cw_result *result)
{
    last *const taken = context;
    taken->has_failed = result->has_failed;
    taken->take(taken->context, result);
}

int64_t cw_run_seeds(const cw_seeds *seeds, void (*take)(void *context, const cw_result *result), void *context)
{
    cw_seeds batch = *seeds;
    last taken = {.take = take, .context = context};
    cw_result crash;
    const int64_t count = in_child(run_batch, &batch, note_last, &taken, &crash);
    if (!crash.has_failed || taken.has_failed)
        return count;
    // After the last world there is a leak, of any of them.
    if (count == seeds->count && count > 1) {
        for (int64_t number = 0; number < count; number++) {
            batch = (cw_seeds){
                .first = seeds->first + (uint64_t)number, .count = 1, .steps = seeds->steps, .avoided = seeds->avoided};
            cw_program program = {0};
            cw_result result;
            cw_draw(&program, batch.first, batch.steps, batch.avoided);
            cw_try(&program, &result);
            cw_program_free(&program);
            if (result.has_failed)
                take(context, &result);
        }
        return count;
    }
    crash.seed = seeds->first + (uint64_t)(count < seeds->count ? count : count - 1);
    take(context, &crash);
    return count + 1;
}

// ---- One program
// ------------------------------------------------------------------------------------------------------

static void run_one(void *context, int pipe, const char *folder)
{
    cw_result result;
    run_here(context, folder, &result);
    send(pipe, &result);
}

static void take_one(void *context, const cw_result *result)
{
    *(cw_result *)context = *result;
}

void cw_try(const cw_program *program, cw_result *result)
{
    cw_program copy = *program;
    cw_result crash;
    *result = (cw_result){.seed = program->seed};
    (void)in_child(run_one, &copy, take_one, result, &crash);
    if (crash.has_failed && !result->has_failed) {
        *result = crash;
        result->seed = program->seed;
    }
}
