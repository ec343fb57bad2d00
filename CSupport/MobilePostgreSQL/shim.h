/// shim.h: libpq for Swift.
#ifndef MOBILE_POSTGRESQL_H
#define MOBILE_POSTGRESQL_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <string.h>

/// The SQLSTATE with which the server ended a session between two statements; empty before.
struct mpq_end {
    char state[6];
};

static inline void mpq_receive_notice(void *context, const PGresult *notice)
{
    struct mpq_end *end = (struct mpq_end *)context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *state = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
    if (severity != NULL && state != NULL && strlen(state) == 5 && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        memcpy(end->state, state, 6);
}

/// Drops the notices of a connection, which libpq prints on standard error otherwise. The end of a session that waits for a statement
/// arrives as a notice: its SQLSTATE is kept in `end`, which must outlive the connection.
static inline void mpq_watch_notices(PGconn *connection, struct mpq_end *end)
{
    memset(end, 0, sizeof *end);
    (void)PQsetNoticeReceiver(connection, mpq_receive_notice, end);
}

/// The number of bytes before the first character that the text format of COPY writes with a backslash; `length` if there is none.
static inline size_t mpq_plain_length(const void *text, size_t length)
{
    const unsigned char *bytes = text;
    size_t place = 0;
    while (place < length && bytes[place] != '\\' && bytes[place] != '\t' && bytes[place] != '\n' && bytes[place] != '\r')
        place++;
    return place;
}

/// Whether a text has U+0000.
static inline bool mpq_has_nul(const void *text, size_t length)
{
    return length > 0 && memchr(text, 0, length) != NULL;
}

#endif
