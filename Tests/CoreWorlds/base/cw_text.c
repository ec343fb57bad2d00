#include "base/cw_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void end_without_memory(void)
{
    (void)fputs("core-worlds: no memory\n", stderr);
    exit(70);
}

void *cw_allocate(size_t count, size_t size)
{
    void *const memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        end_without_memory();
    return memory;
}

void *cw_grow(void *memory, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        end_without_memory();
    void *const grown = realloc(memory, count * size);
    if (grown == NULL)
        end_without_memory();
    return grown;
}

char *cw_copy(const char *bytes, size_t length)
{
    char *const copy = cw_allocate(length + 1, 1);
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

/// Makes room for `more` bytes and a NUL.
static void reserve(cw_text *text, size_t more)
{
    if (more >= SIZE_MAX / 4 || text->length >= SIZE_MAX / 4)
        end_without_memory();
    const size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return;
    text->capacity = needed * 2;
    text->bytes = cw_grow(text->bytes, text->capacity, 1);
}

void cw_add_bytes(cw_text *text, const void *bytes, size_t length)
{
    reserve(text, length);
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void cw_add(cw_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    reserve(text, (size_t)length);
    va_start(arguments, format);
    (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void cw_clear(cw_text *text)
{
    text->length = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void cw_text_free(cw_text *text)
{
    free(text->bytes);
    *text = (cw_text){0};
}

const char *cw_string(const cw_text *text)
{
    return text->bytes != NULL ? text->bytes : "";
}

uint64_t cw_next(cw_random *random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

int cw_below(cw_random *random, int count)
{
    return count <= 0 ? 0 : (int)(cw_next(random) % (uint64_t)count);
}

bool cw_chance(cw_random *random, int percent)
{
    return cw_below(random, 100) < percent;
}

uint64_t cw_digest(uint64_t digest, const void *bytes, size_t length)
{
    const unsigned char *const at = bytes;
    for (size_t index = 0; index < length; index++)
        digest = (digest ^ at[index]) * UINT64_C(0x100000001B3);
    return digest;
}
