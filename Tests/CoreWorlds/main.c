/// main.c: random worlds of the core. `README.md` has the settings, which are in the environment; arguments are files
/// to run again.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "draw/cw_draw.h"
#include "running/cw_child.h"

typedef struct settings {
    uint64_t seed;
    int64_t worlds, steps, shown, attempts;
    cw_faults avoided;
    const char *keep, *folder, *known;
    bool stops;
} settings;

typedef struct series {
    const settings *settings;
    int64_t worlds, failed, shown;
    uint8_t met[CW_FEATURES][CW_FEATURES];
    int64_t met_alone[CW_FEATURES];
} series;

/// Reads a number; false, and a message, for anything else.
static bool read_number(const char *name, int64_t least, int64_t most, int64_t *number)
{
    const char *const text = getenv(name);
    char *end = NULL;
    if (text == NULL || *text == '\0')
        return true;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno == 0 && *end == '\0' && *number >= least && *number <= most)
        return true;
    (void)fprintf(stderr, "%s=%s: use a number from %" PRId64 " to %" PRId64 "\n", name, text, least, most);
    return false;
}

static bool read_settings(settings *settings)
{
    cw_faults included = 0;
    int64_t seed = 0, stops = 0;
    const char *const known = getenv("KNOWN");
    settings->keep = getenv("KEEP");
    settings->folder = getenv("FAILED");
    const bool is_one = getenv("SEED") != NULL && *getenv("SEED") != '\0';
    settings->worlds = is_one ? 1 : 1000;
    settings->steps = 16;
    settings->shown = 5;
    settings->attempts = 500;
    if (!read_number("SEED", 0, INT64_MAX, &seed) || !read_number("WORLDS", 1, INT64_MAX / 2, &settings->worlds)
        || !read_number("STEPS", 1, 10000, &settings->steps) || !read_number("SHOWN", 0, INT32_MAX, &settings->shown)
        || !read_number("SHRINK", 0, INT32_MAX, &settings->attempts) || !read_number("STOP", 0, 1, &stops))
        return false;
    if (known != NULL && *known != '\0' && !cw_faults_named(known, &included)) {
        (void)fprintf(stderr, "KNOWN=%s: use 1 or names with commas:\n", known);
        for (int fault = 0; fault < CW_FAULTS; fault++)
            (void)fprintf(stderr, "  %-20s %s\n", cw_known_fault_at((cw_fault)fault)->name,
                          cw_known_fault_at((cw_fault)fault)->what);
        return false;
    }
    settings->seed = (uint64_t)seed;
    settings->known = known != NULL && *known != '\0' ? known : NULL;
    settings->stops = stops != 0;
    settings->avoided = ((1u << CW_FAULTS) - 1) & ~included;
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/// Shrinks a failing program, prints it, and keeps it as a file.
static void show(const settings *settings, cw_program *program, const cw_result *failure, const char *name,
                 bool is_file)
{
    cw_text kept = {0}, text = {0}, path = {0};
    cw_result shortest = *failure;
    const double began = seconds_now();
    cw_shrink(program, failure, (int)settings->attempts, &kept);
    cw_try(program, &shortest);
    program->expected = program->expected != NULL ? program->expected : cw_copy(failure->kind, strlen(failure->kind));
    cw_program_print(program, &text);
    (void)printf("%s%s: %s\n", text.bytes, failure->kind, shortest.has_failed ? shortest.text : failure->text);
    (void)printf("shrunk in %.1f s", seconds_now() - began);
    if (settings->known != NULL)
        (void)printf("; again: KNOWN=%s SEED=%" PRIu64 " KEEP=%s", settings->known, program->seed, cw_string(&kept));
    else if (!is_file)
        (void)printf("; again: SEED=%" PRIu64 " KEEP=%s", program->seed, cw_string(&kept));
    if (settings->folder != NULL && *settings->folder != '\0') {
        (void)mkdir(settings->folder, 0700);
        cw_add(&path, "%s/%s.world", settings->folder, name);
        if (cw_program_write(program, path.bytes))
            (void)printf("; or ARGS=%s", path.bytes);
    }
    (void)printf("\n\n");
    cw_text_free(&kept);
    cw_text_free(&text);
    cw_text_free(&path);
}

static void take_result(void *context, const cw_result *result)
{
    series *const series = context;
    char name[32];
    series->worlds++;
    for (int one = 0; one < CW_FEATURES; one++) {
        if ((result->met >> one & 1) == 0)
            continue;
        series->met_alone[one]++;
        for (int other = one + 1; other < CW_FEATURES; other++)
            series->met[one][other] |= (uint8_t)(result->met >> other & 1);
    }
    if (!result->has_failed)
        return;
    series->failed++;
    (void)printf("seed %" PRIu64 ": %s: %s\n", result->seed, result->kind, result->text);
    (void)fflush(stdout);
    if (series->shown++ >= series->settings->shown)
        return;
    cw_program program = {0};
    cw_draw(&program, result->seed, (int)series->settings->steps, series->settings->avoided);
    (void)snprintf(name, sizeof name, "%" PRIu64, result->seed);
    show(series->settings, &program, result, name, false);
    cw_program_free(&program);
}

/// Prints the features and pairs that never met.
static void print_missing(const series *series)
{
    int met = 0, listed = 0;
    (void)printf("never at work:");
    for (int feature = 0; feature < CW_FEATURES; feature++) {
        if (series->met_alone[feature] == 0)
            (void)printf(" %s", cw_feature_name((cw_feature)feature));
    }
    (void)printf("\nnever met:");
    for (int one = 0; one < CW_FEATURES; one++) {
        for (int other = one + 1; other < CW_FEATURES; other++) {
            met += series->met[one][other];
            if (series->met[one][other] == 0 && series->met_alone[one] > 0 && series->met_alone[other] > 0
                && listed++ < 400)
                (void)printf(" %s+%s", cw_feature_name((cw_feature)one), cw_feature_name((cw_feature)other));
        }
    }
    (void)printf("\n%d of %d pairs of features met\n", met, cw_pair_count());
}

static int run_series(const settings *settings)
{
    enum { BATCH = 50 };
    series *const series = cw_allocate(1, sizeof *series);
    const double began = seconds_now();
    series->settings = settings;
    for (int64_t done = 0; done < settings->worlds && !(settings->stops && series->failed > 0);) {
        const int64_t left = settings->worlds - done;
        const cw_seeds seeds = {.first = settings->seed + (uint64_t)done,
                                .count = left < BATCH ? left : BATCH,
                                .steps = (int)settings->steps,
                                .avoided = settings->avoided};
        done += cw_run_seeds(&seeds, take_result, series);
    }
    if (settings->worlds >= 100)
        print_missing(series);
    const double took = seconds_now() - began;
    (void)printf("%" PRId64 " worlds, %" PRId64 " failed, %.1f s, %.0f worlds/s\n", series->worlds, series->failed,
                 took, took > 0 ? (double)series->worlds / took : 0);
    const bool has_failed = series->failed > 0;
    free(series);
    return has_failed ? 1 : 0;
}

/// Runs lines of a drawn world.
static int run_kept(const settings *settings)
{
    cw_program program = {0};
    cw_result result;
    cw_text text = {0};
    cw_draw(&program, settings->seed, (int)settings->steps, settings->avoided);
    if (!cw_program_keep(&program, settings->keep)) {
        (void)fprintf(stderr, "KEEP=%s: use numbers of lines from 1 to %zu, such as 1,4-7\n", settings->keep,
                      program.count);
        cw_program_free(&program);
        return 64;
    }
    cw_try(&program, &result);
    cw_program_print(&program, &text);
    (void)printf("%s%s%s%s\n", text.bytes, result.has_failed ? result.kind : "passed", result.has_failed ? ": " : "",
                 result.text);
    cw_text_free(&text);
    cw_program_free(&program);
    return result.has_failed ? 1 : 0;
}

/// Runs a file. A line says whether it passed, failed, or failed as it is known to do.
static int run_file(const settings *settings, const char *path)
{
    cw_program program = {0};
    cw_result result;
    if (!cw_program_read(&program, path)) {
        (void)fprintf(stderr, "%s: it is not a world, or cannot be read\n", path);
        cw_program_free(&program);
        return 65;
    }
    cw_text reason = {0};
    if (!cw_program_check(&program, &reason)) {
        (void)fprintf(stderr, "%s: it is not a world: %s\n", path, cw_string(&reason));
        cw_text_free(&reason);
        cw_program_free(&program);
        return 65;
    }
    cw_text_free(&reason);
    cw_try(&program, &result);
    const bool is_expected =
        result.has_failed && program.expected != NULL && strcmp(program.expected, result.kind) == 0;
    if (!result.has_failed)
        (void)printf("%s: passed\n", path);
    else
        (void)printf("%s: %s: %s: %s\n", path, is_expected && program.fault != NULL ? "known" : "failed", result.kind,
                     result.text);
    if (result.has_failed && !is_expected && settings->shown > 0 && settings->attempts > 0)
        show(settings, &program, &result, "file", true);
    cw_program_free(&program);
    return result.has_failed ? 1 : 0;
}

int main(int argument_count, char **arguments)
{
    settings settings = {0};
    int status = 0;
    if (!read_settings(&settings))
        return 64;
    if (argument_count > 1) {
        for (int index = 1; index < argument_count; index++) {
            const int one = run_file(&settings, arguments[index]);
            status = one > status ? one : status;
        }
        return status;
    }
    return settings.keep != NULL && *settings.keep != '\0' ? run_kept(&settings) : run_series(&settings);
}
