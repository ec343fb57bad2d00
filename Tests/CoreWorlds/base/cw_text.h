/// cw_text.h: bytes that grow, and random numbers that are the same on every machine.
///
/// Memory that is missing ends the program with a message: a test has nothing else to do then.
#ifndef CW_TEXT_H
#define CW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes with a NUL after them, which `length` does not count. Zeroed it is the empty text, with `bytes` NULL.
typedef struct cw_text {
    char *bytes;
    size_t length, capacity;
} cw_text;

/// Appends formatted text.
void cw_add(cw_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cw_add_bytes(cw_text *text, const void *bytes, size_t length);
/// Makes the text empty, and keeps its memory.
void cw_clear(cw_text *text);
void cw_text_free(cw_text *text);
/// The text as a string; "" for an empty one.
const char *cw_string(const cw_text *text);

/// Memory for `count` elements, zeroed, and a copy of `length` bytes with a NUL after them. Both are freed with `free`.
void *cw_allocate(size_t count, size_t size);
void *cw_grow(void *memory, size_t count, size_t size);
char *cw_copy(const char *bytes, size_t length);

/// A generator of random numbers (splitmix64).
typedef struct cw_random {
    uint64_t state;
} cw_random;

uint64_t cw_next(cw_random *random);
/// A number from 0 to `count` - 1; 0 if `count` is 0.
int cw_below(cw_random *random, int count);
/// True in `percent` of 100 cases.
bool cw_chance(cw_random *random, int percent);

/// FNV-1a, continued from `digest`. Begin with `CW_DIGEST`.
uint64_t cw_digest(uint64_t digest, const void *bytes, size_t length);
#define CW_DIGEST UINT64_C(0xCBF29CE484222325)

#endif
