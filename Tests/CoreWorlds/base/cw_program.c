#include "base/cw_program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_line(cw_program *program, const char *text, size_t length)
{
    if (program->count == program->capacity) {
        program->capacity = program->capacity * 2 + 32;
        program->lines = cw_grow(program->lines, program->capacity, sizeof *program->lines);
    }
    program->lines[program->count++] = (cw_line){.text = cw_copy(text, length), .is_kept = true};
}

void cw_program_add(cw_program *program, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char *const text = cw_allocate((size_t)length + 1, 1);
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    add_line(program, text, (size_t)length);
    free(text);
}

void cw_program_free(cw_program *program)
{
    for (size_t index = 0; index < program->count; index++)
        free(program->lines[index].text);
    free(program->lines);
    free(program->fault);
    free(program->expected);
    *program = (cw_program){0};
}

/// The text after a prefix, copied; NULL if the line does not begin with it.
static char *after(const char *line, size_t length, const char *prefix)
{
    const size_t start = strlen(prefix);
    return length > start && strncmp(line, prefix, start) == 0 ? cw_copy(line + start, length - start) : NULL;
}

static void take_line(cw_program *program, const char *line, size_t length)
{
    char *value = NULL;
    if ((value = after(line, length, "# fault ")) != NULL) {
        free(program->fault);
        program->fault = value;
    } else if ((value = after(line, length, "# fails ")) != NULL) {
        free(program->expected);
        program->expected = value;
    } else if ((value = after(line, length, "# seed ")) != NULL) {
        program->seed = strtoull(value, NULL, 10);
        free(value);
    } else if (length > 0 && line[0] != '#') {
        add_line(program, line, length);
    }
}

bool cw_program_read(cw_program *program, const char *path)
{
    FILE *const file = fopen(path, "rb");
    cw_text text = {0};
    char buffer[4096];
    size_t length = 0;
    if (file == NULL)
        return false;
    while ((length = fread(buffer, 1, sizeof buffer, file)) > 0)
        cw_add_bytes(&text, buffer, length);
    const bool is_read = ferror(file) == 0;
    (void)fclose(file);
    for (const char *line = cw_string(&text); *line != '\0';) {
        const size_t end = strcspn(line, "\n");
        take_line(program, line, end);
        line += end + (line[end] == '\n');
    }
    cw_text_free(&text);
    return is_read && program->count > 0;
}

bool cw_program_write(const cw_program *program, const char *path)
{
    FILE *const file = fopen(path, "wb");
    if (file == NULL)
        return false;
    if (program->fault != NULL)
        (void)fprintf(file, "# fault %s\n", program->fault);
    if (program->expected != NULL)
        (void)fprintf(file, "# fails %s\n", program->expected);
    if (program->seed != 0)
        (void)fprintf(file, "# seed %" PRIu64 "\n", program->seed);
    for (size_t index = 0; index < program->count; index++) {
        if (program->lines[index].is_kept)
            (void)fprintf(file, "%s\n", program->lines[index].text);
    }
    return fclose(file) == 0;
}

void cw_program_print(const cw_program *program, cw_text *text)
{
    for (size_t index = 0; index < program->count; index++) {
        if (program->lines[index].is_kept)
            cw_add(text, "%4zu %s\n", index + 1, program->lines[index].text);
    }
}

bool cw_program_keep(cw_program *program, const char *list)
{
    if (strcmp(list, "all") == 0)
        return true;
    for (size_t index = 0; index < program->count; index++)
        program->lines[index].is_kept = false;
    for (const char *at = list; *at != '\0';) {
        char *end = NULL;
        const unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        if (end == at)
            return false;
        if (*end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
        }
        if (end == at || (*end != ',' && *end != '\0') || first < 1 || last < first || last > program->count)
            return false;
        for (unsigned long line = first; line <= last; line++)
            program->lines[line - 1].is_kept = true;
        at = end + (*end == ',');
    }
    return true;
}

void cw_program_kept(const cw_program *program, cw_text *text)
{
    const char *separator = "";
    for (size_t index = 0; index < program->count; index++) {
        if (!program->lines[index].is_kept)
            continue;
        size_t last = index;
        while (last + 1 < program->count && program->lines[last + 1].is_kept)
            last++;
        cw_add(text, last > index ? "%s%zu-%zu" : "%s%zu", separator, index + 1, last + 1);
        separator = ",";
        index = last;
    }
}

bool cw_is_part(const char *line)
{
    return line[0] == ' ';
}

bool cw_is(const char *line, const char *word)
{
    const size_t length = strlen(word);
    line += cw_is_part(line);
    return strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\0');
}

const char *cw_rest(const char *line)
{
    const char *const bar = strstr(line, " | ");
    return bar != NULL ? bar + 3 : "";
}

bool cw_setting(const char *line, const char *key, char *value, size_t size)
{
    const char *const end = strstr(line, " | ");
    const size_t length = strlen(key);
    value[0] = '\0';
    for (const char *at = strchr(line, ' '); at != NULL && (end == NULL || at < end); at = strchr(at, ' ')) {
        at++;
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        const char *const from = at + length + 1;
        size_t count = strcspn(from, " ");
        count = count < size ? count : size - 1;
        memcpy(value, from, count);
        value[count] = '\0';
        return true;
    }
    return false;
}

int64_t cw_number(const char *line, const char *key, int64_t missing)
{
    char value[32];
    return cw_setting(line, key, value, sizeof value) ? strtoll(value, NULL, 10) : missing;
}

static const char *const NUMBERS[] = {
    "after", "bytes",        "cache", "checkpoint", "chunk",  "coalesces", "commits", "count",    "deflate",
    "desc",  "foreign_keys", "from",  "loose",      "n",      "object",    "objects", "observer", "page",
    "piece", "rows",         "seek",  "stays",      "thread", "w",         "writer",
};
static const char *const WORDS[] = {
    "assign", "b",  "code",   "cols", "column",  "encoding", "has",     "insert", "keys",   "kind", "large",  "mode", "name",
    "nulls",  "on", "option", "path", "pending", "pool",     "storage", "table",  "tables", "text", "ticket", "unit",
};

static bool is_among(const char *const *names, size_t count, const char *word, size_t length)
{
    for (size_t index = 0; index < count; index++) {
        if (strlen(names[index]) == length && strncmp(names[index], word, length) == 0)
            return true;
    }
    return false;
}

/// Whether a setting is known, and its value a number from 0 to 2^31 - 1 where it has to be one.
static bool is_setting(const char *word, size_t length)
{
    const size_t name = strcspn(word, "=");
    if (name >= length)
        return false;
    if (is_among(WORDS, sizeof WORDS / sizeof *WORDS, word, name))
        return true;
    char *end = NULL;
    const long long value = strtoll(word + name + 1, &end, 10);
    return is_among(NUMBERS, sizeof NUMBERS / sizeof *NUMBERS, word, name) && end == word + length && length > name + 1 && value >= 0
        && value <= INT32_MAX;
}

bool cw_program_check(const cw_program *program, cw_text *reason)
{
    for (size_t index = 0; index < program->count; index++) {
        const char *const line = program->lines[index].text, *const bar = strstr(line, " | ");
        const char *at = line + cw_is_part(line);
        if (*at == '[' || *at == '*')
            continue;
        for (at += strcspn(at, " "); *at == ' ' && (bar == NULL || at < bar); at += strcspn(at, " ")) {
            at++;
            const size_t length = strcspn(at, " ");
            if (!is_setting(at, length)) {
                cw_add(reason, "step %zu has the unknown setting or number \"%.*s\"", index + 1, (int)length, at);
                return false;
            }
        }
    }
    return true;
}

bool cw_next_element(const char **list, char *element, size_t size)
{
    element[0] = '\0';
    if (**list == '\0')
        return false;
    const size_t length = strcspn(*list, ",");
    const size_t copied = length < size ? length : size - 1;
    memcpy(element, *list, copied);
    element[copied] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}
