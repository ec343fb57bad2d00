#include "base/mc_fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mc_status_name(mc_status status)
{
    static const char *const names[] = {
        "ok",   "misuse", "no memory", "sqlite",      "constraint", "timeout", "interrupted", "closed",    "not found",   "corrupt",
        "json", "type",   "truncated", "compression", "limit",      "full",    "io",          "read only", "append only", "over length",
    };
    const unsigned index = (unsigned)status;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

/// Cuts `text` at its last whole UTF-8 sequence: a message that was truncated in the middle of a character is not valid text.
static void cut_at_character(char *text)
{
    size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    const unsigned char lead = (unsigned char)text[start - 1];
    const size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (need > 1 && length - (start - 1) < need)
        text[start - 1] = '\0';
}

static void fill(mc_error *error, mc_status code, int sqlite_code, int64_t byte_offset, int64_t row, const char *format, va_list arguments)
{
    error->code = code;
    error->sqlite_code = sqlite_code;
    error->byte_offset = byte_offset;
    error->row = row;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0)
        error->message[0] = '\0';
    cut_at_character(error->message);
}

mc_status mc_fail(mc_error *error, mc_status code, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, code, 0, -1, 0, format, arguments);
        va_end(arguments);
    }
    return code;
}

mc_status mc_fail_at(mc_error *error, mc_status code, int64_t byte_offset, int64_t row, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, code, 0, byte_offset, row, format, arguments);
        va_end(arguments);
    }
    return code;
}

static mc_status status_for_sqlite(int sqlite_code)
{
    if (sqlite_code == SQLITE_IOERR_NOMEM)  // memory for a file operation
        return MC_ERROR_NO_MEMORY;
    if (sqlite_code == SQLITE_CONSTRAINT_COMMITHOOK)
        return MC_ERROR_SQLITE;
    if (sqlite_code == SQLITE_IOERR_SHMSIZE)  // the index of the log cannot grow
        return MC_ERROR_FULL;
    switch (sqlite_code & 0xFF) {
    case SQLITE_NOMEM: return MC_ERROR_NO_MEMORY;
    case SQLITE_CONSTRAINT: return MC_ERROR_CONSTRAINT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return MC_ERROR_TIMEOUT;
    case SQLITE_INTERRUPT: return MC_ERROR_INTERRUPTED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return MC_ERROR_CORRUPT;
    case SQLITE_FULL: return MC_ERROR_FULL;
    case SQLITE_IOERR: return MC_ERROR_IO;
    case SQLITE_READONLY: return MC_ERROR_READ_ONLY;
    default: return MC_ERROR_SQLITE;
    }
}

mc_status mc_fail_sqlite(mc_error *error, sqlite3 *db, int sqlite_code, const char *format, ...)
{
    const mc_status code = status_for_sqlite(sqlite_code);
    if (error == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, sqlite_code, -1, 0, format, arguments);
    va_end(arguments);
    const size_t used = strlen(error->message);
    const char *reason = sqlite_code == SQLITE_CONSTRAINT_COMMITHOOK ? "SQLite has rolled the transaction back"
        : db != NULL                                                 ? sqlite3_errmsg(db)
                                                                     : sqlite3_errstr(sqlite_code);
    (void)snprintf(error->message + used, sizeof error->message - used, ": %s", reason);
    cut_at_character(error->message);
    return code;
}
