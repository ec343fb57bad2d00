#include "running/cw_cell.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Appends a Unicode scalar as UTF-8.
static void add_scalar(cw_text *text, unsigned long scalar)
{
    char bytes[4];
    size_t length = 0;
    if (scalar < 0x80) {
        bytes[length++] = (char)scalar;
    } else if (scalar < 0x800) {
        bytes[length++] = (char)(0xC0 | (scalar >> 6));
        bytes[length++] = (char)(0x80 | (scalar & 0x3F));
    } else if (scalar < 0x10000) {
        bytes[length++] = (char)(0xE0 | (scalar >> 12));
        bytes[length++] = (char)(0x80 | ((scalar >> 6) & 0x3F));
        bytes[length++] = (char)(0x80 | (scalar & 0x3F));
    } else {
        bytes[length++] = (char)(0xF0 | (scalar >> 18));
        bytes[length++] = (char)(0x80 | ((scalar >> 12) & 0x3F));
        bytes[length++] = (char)(0x80 | ((scalar >> 6) & 0x3F));
        bytes[length++] = (char)(0x80 | (scalar & 0x3F));
    }
    cw_add_bytes(text, bytes, length);
}

static unsigned long hex(const char *digits)
{
    char text[5] = {0};
    memcpy(text, digits, strnlen(digits, 4));
    return strtoul(text, NULL, 16);
}

/// Reads an escape after its backslash, and returns the number of its characters.
static size_t add_escape(cw_text *text, const char *at)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    if (*at == 'u' && strnlen(at, 5) == 5) {
        const unsigned long unit = hex(at + 1);
        if (unit >= 0xD800 && unit < 0xDC00 && strnlen(at, 11) == 11) {
            add_scalar(text, 0x10000 + ((unit - 0xD800) << 10) + (hex(at + 7) - 0xDC00));
            return 11;
        }
        add_scalar(text, unit);
        return 5;
    }
    const char *const name = strchr(names, *at);
    cw_add_bytes(text, name != NULL && *at != '\0' ? &values[name - names] : at, 1);
    return 1;
}

static const char *parse_string(const char *at, cw_token *token)
{
    cw_text text = {0};
    token->kind = CW_TOKEN_STRING;
    for (at++; *at != '"' && *at != '\0';) {
        if (*at == '\\' && at[1] != '\0') {
            at += 1 + add_escape(&text, at + 1);
        } else {
            cw_add_bytes(&text, at, 1);
            at++;
        }
    }
    token->bytes = text.bytes != NULL ? text.bytes : cw_copy("", 0);
    token->length = text.length;
    return *at == '"' ? at + 1 : NULL;
}

static const char *parse_token(const char *at, cw_token *token)
{
    const char *end = NULL;
    token->raw = at;
    if (*at == '"') {
        end = parse_string(at, token);
    } else {
        end = at + strcspn(at, ",]");
        token->kind = *at == 'n' ? CW_TOKEN_NULL : *at == 't' || *at == 'f' ? CW_TOKEN_BOOLEAN : CW_TOKEN_NUMBER;
    }
    token->raw_length = end != NULL ? (size_t)(end - at) : 0;
    return token->raw_length > 0 ? end : NULL;
}

bool cw_row_parse(const char *text, cw_row *row)
{
    const char *at = text;
    if (*at != '[')
        return false;
    do {
        at++;
        row->tokens = cw_grow(row->tokens, row->count + 1, sizeof *row->tokens);
        row->tokens[row->count] = (cw_token){0};
        at = parse_token(at, &row->tokens[row->count++]);
    } while (at != NULL && *at == ',');
    return at != NULL && at[0] == ']' && at[1] == '\0';
}

void cw_row_free(cw_row *row)
{
    for (size_t index = 0; index < row->count; index++)
        free(row->tokens[index].bytes);
    free(row->tokens);
    *row = (cw_row){0};
}

/// Reads base64 with padding; false if it is not valid.
static bool decode(const cw_token *token, cw_cell *cell)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (token->length % 4 != 0)
        return false;
    cell->type = SQLITE_BLOB;
    cell->bytes = cw_allocate(token->length + 1, 1);
    for (size_t at = 0; at < token->length; at += 4) {
        unsigned long bits = 0;
        size_t count = 3;
        for (size_t index = 0; index < 4; index++) {
            const char digit = token->bytes[at + index];
            const char *const found = digit != '\0' ? strchr(digits, digit) : NULL;
            if (found == NULL && (digit != '=' || index < 2 || at + 4 != token->length))
                return false;
            count -= digit == '=';
            bits = bits << 6 | (found != NULL ? (unsigned long)(found - digits) : 0);
        }
        for (size_t index = 0; index < count; index++)
            cell->bytes[cell->length++] = (char)(bits >> (16 - 8 * index) & 0xFF);
    }
    return true;
}

static void take_text(const char *bytes, size_t length, cw_cell *cell)
{
    cell->type = SQLITE_TEXT;
    cell->bytes = cw_copy(bytes, length);
    cell->length = length;
}

/// A number: an integer of 64 bits if it is written as one, digits of a longer one as a text, otherwise a double.
static bool make_number(const cw_token *token, const char *type, cw_cell *cell)
{
    char text[400] = {0};
    const bool is_whole = memchr(token->raw, '.', token->raw_length) == NULL
        && memchr(token->raw, 'e', token->raw_length) == NULL && memchr(token->raw, 'E', token->raw_length) == NULL;
    if (token->raw_length >= sizeof text)
        return false;
    memcpy(text, token->raw, token->raw_length);
    errno = 0;
    cell->integer = strtoll(text, NULL, 10);
    const bool fits = is_whole && errno == 0;
    if (strcmp(type, "integer") == 0 || (fits && strcmp(type, "any") == 0)) {
        cell->type = SQLITE_INTEGER;
        return fits;
    }
    cell->real = strtod(text, NULL);
    cell->type = SQLITE_FLOAT;
    if (strcmp(type, "real") == 0)
        return isfinite(cell->real);
    if (is_whole || !isfinite(cell->real))
        take_text(text, token->raw_length, cell);
    return strcmp(type, "any") == 0;
}

bool cw_cell_make(const cw_token *token, const char *type, cw_cell *cell)
{
    *cell = (cw_cell){.type = SQLITE_NULL};
    switch (token->kind) {
    case CW_TOKEN_NULL: return true;
    case CW_TOKEN_BOOLEAN:
        cell->type = SQLITE_INTEGER;
        cell->integer = token->raw[0] == 't';
        return strcmp(type, "boolean") == 0 || strcmp(type, "any") == 0;
    case CW_TOKEN_NUMBER: return make_number(token, type, cell);
    default: break;
    }
    if (strcmp(type, "blob") == 0 || strcmp(type, "largeblob") == 0)
        return decode(token, cell);
    if (strcmp(type, "text") != 0 && strcmp(type, "largetext") != 0 && strcmp(type, "any") != 0)
        return false;
    take_text(token->bytes, token->length, cell);
    return true;
}

int cw_cell_bind(sqlite3_stmt *statement, int index, const cw_cell *cell)
{
    switch (cell->type) {
    case SQLITE_INTEGER: return sqlite3_bind_int64(statement, index, cell->integer);
    case SQLITE_FLOAT: return sqlite3_bind_double(statement, index, cell->real);
    case SQLITE_TEXT: return sqlite3_bind_text(statement, index, cell->bytes, (int)cell->length, SQLITE_TRANSIENT);
    case SQLITE_BLOB: return sqlite3_bind_blob(statement, index, cell->bytes, (int)cell->length, SQLITE_TRANSIENT);
    default: return sqlite3_bind_null(statement, index);
    }
}

void cw_cell_free(cw_cell *cell)
{
    free(cell->bytes);
    *cell = (cw_cell){0};
}
