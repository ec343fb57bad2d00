/// cw_shrink.c: makes a failing program shorter.
#include <stdlib.h>
#include <string.h>

#include "running/cw_child.h"

typedef struct shrinker {
    cw_program *program;
    const char *kind;
    int attempts;
} shrinker;

/// Whether the program still fails in the same way.
static bool fails(shrinker *shrinker)
{
    cw_result result;
    if (shrinker->attempts-- <= 0)
        return false;
    cw_try(shrinker->program, &result);
    return result.has_failed && strcmp(result.kind, shrinker->kind) == 0;
}

/// Leaves out the lines from `first` to before `end` that are kept, unless the failure needs them.
static bool leave_out(shrinker *shrinker, size_t first, size_t end)
{
    cw_program *const program = shrinker->program;
    bool *const were = cw_allocate(end - first, sizeof *were);
    bool has_any = false;
    for (size_t line = first; line < end; line++) {
        were[line - first] = program->lines[line].is_kept;
        has_any = has_any || program->lines[line].is_kept;
        program->lines[line].is_kept = false;
    }
    const bool is_shorter = has_any && fails(shrinker);
    for (size_t line = first; line < end && !is_shorter; line++)
        program->lines[line].is_kept = were[line - first];
    free(were);
    return is_shorter;
}

/// The end of the step at a line: its parts belong to it.
static size_t step_end(const cw_program *program, size_t line)
{
    size_t end = line + 1;
    while (end < program->count && !cw_is_part(program->lines[line].text) && cw_is_part(program->lines[end].text))
        end++;
    return end;
}

static void leave_out_lines(shrinker *shrinker)
{
    cw_program *const program = shrinker->program;
    for (size_t size = program->count / 2; size > 1; size /= 2) {
        for (size_t first = 0; first < program->count; first += size)
            (void)leave_out(shrinker, first, first + size < program->count ? first + size : program->count);
    }
    // From the end on, because later steps need earlier ones.
    for (bool is_shorter = true; is_shorter && shrinker->attempts > 0;) {
        is_shorter = false;
        for (size_t line = program->count; line-- > 0;) {
            if (program->lines[line].is_kept)
                is_shorter = leave_out(shrinker, line, step_end(program, line)) || is_shorter;
        }
    }
}

/// Leaves out one setting of a line, unless the failure needs it. Returns whether it was left out.
static bool leave_out_setting(shrinker *shrinker, cw_line *line, size_t at)
{
    char *const text = line->text;
    const size_t length = strcspn(text + at + 1, " ") + 1;
    cw_text shorter = {0};
    cw_add_bytes(&shorter, text, at);
    cw_add(&shorter, "%s", text + at + length);
    line->text = cw_copy(shorter.bytes, shorter.length);
    cw_text_free(&shorter);
    const bool is_shorter = fails(shrinker);
    if (is_shorter) {
        free(text);
    } else {
        free(line->text);
        line->text = text;
    }
    return is_shorter;
}

/// Leaves out settings that say how something is done, such as the size of chunks.
static void leave_out_settings(shrinker *shrinker)
{
    static const char *const settings[] = {" chunk=",    " deflate=", " objects=", " thread=",  " commits=", " object=",
                                           " observer=", " has=",     " insert=",  " pending=", " on=",      " unit="};
    for (size_t index = 0; index < shrinker->program->count; index++) {
        cw_line *const line = &shrinker->program->lines[index];
        for (size_t setting = 0; line->is_kept && setting < sizeof settings / sizeof settings[0]; setting++) {
            const char *const found = strstr(line->text, settings[setting]), *const bar = strstr(line->text, " | ");
            if (found != NULL && (bar == NULL || found < bar) && line->text[1] != '[')
                (void)leave_out_setting(shrinker, line, (size_t)(found - line->text));
        }
    }
}

void cw_shrink(cw_program *program, const cw_result *failure, int attempts, cw_text *kept)
{
    shrinker shrinker = {.program = program, .kind = failure->kind, .attempts = attempts};
    leave_out_lines(&shrinker);
    cw_program_kept(program, kept);
    leave_out_settings(&shrinker);
}
