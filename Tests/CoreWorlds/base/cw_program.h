/// cw_program.h: a world as a program: lines of text, which a file holds and the shrinker leaves out one by one.
///
///     table name=t0 has=strict | CREATE TABLE t0(k INTEGER PRIMARY KEY, a TEXT) STRICT
///     import observer=1 chunk=7
///      member table=t0 mode=upsert cols=k:integer,a:text keys=k
///      [1,"x"]
///      [2,"y"]
///     sql | DELETE FROM t0
///
/// A line that begins with a space belongs to the step above it, and is left out with it. A step is a word, settings
/// without spaces, and after " | " any text. `../README.md` lists the words.
#ifndef CW_PROGRAM_H
#define CW_PROGRAM_H

#include "base/cw_text.h"

typedef struct cw_line {
    char *text;
    bool is_kept;
} cw_line;

typedef struct cw_program {
    uint64_t seed;   ///< 0 for a file without one
    char *fault;     ///< the name of the known fault that it shows; NULL
    char *expected;  ///< the kind of the failure; NULL
    cw_line *lines;
    size_t count, capacity;
} cw_program;

/// Adds a line; `format` makes it.
void cw_program_add(cw_program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cw_program_free(cw_program *program);

/// Reads a file. Returns false if it cannot be read or has no step.
bool cw_program_read(cw_program *program, const char *path);
/// Checks the settings of all lines, as people write them into files: false, and a reason, for an unknown one or a number that cannot be
/// read.
bool cw_program_check(const cw_program *program, cw_text *reason);
/// Writes the lines that are kept.
bool cw_program_write(const cw_program *program, const char *path);
/// Appends the lines that are kept, with their numbers.
void cw_program_print(const cw_program *program, cw_text *text);

/// Keeps only the lines of a list such as "1,4-7", or "all"; false if it is not one.
bool cw_program_keep(cw_program *program, const char *list);
/// Appends the list of the lines that are kept.
void cw_program_kept(const cw_program *program, cw_text *text);

/// Whether a line belongs to the step above it.
bool cw_is_part(const char *line);
/// Whether a line's word is this one.
bool cw_is(const char *line, const char *word);
/// The text after " | ", or "".
const char *cw_rest(const char *line);
/// Copies the setting `key` of a line; false, and "", without it. Cut at `size`.
bool cw_setting(const char *line, const char *key, char *value, size_t size);
/// A setting as a number, or `missing`.
int64_t cw_number(const char *line, const char *key, int64_t missing);

/// Cuts the next element of a list with commas, up to `size` bytes; false at its end.
bool cw_next_element(const char **list, char *element, size_t size);

#endif
