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

/// Whether a text has one of the characters that the text format of COPY writes with a backslash. Most texts have none, and four searches are much
/// faster than a look at each byte.
static inline bool mpq_needs_backslash(const void *text, size_t length)
{
    return memchr(text, '\\', length) != NULL || memchr(text, '\t', length) != NULL || memchr(text, '\n', length) != NULL ||
           memchr(text, '\r', length) != NULL;
}

#endif
