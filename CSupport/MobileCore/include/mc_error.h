/// mc_error.h: status codes and the error record of the core.
///
/// Every function that can fail returns an `mc_status` and takes an `mc_error *` that may be NULL. On MC_OK the record is
/// unchanged; on any other status it is filled completely. Nothing in the core prints, aborts or keeps a last error.
#ifndef MC_ERROR_H
#define MC_ERROR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define MC_NULLABLE _Nullable
#define MC_NONNULL _Nonnull
/// Between these two, a pointer without a mark is never NULL. The marks are an extension; -Wpedantic need not report it.
#define MC_NONNULL_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") _Pragma("clang assume_nonnull begin")
#define MC_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define MC_NULLABLE
#define MC_NONNULL
#define MC_NONNULL_BEGIN
#define MC_NONNULL_END
#endif

/// Marks a function that returns a status, or the only pointer to an object that it has made. Ignoring the result is a warning.
#if defined(__GNUC__)
#define MC_MUST_USE __attribute__((warn_unused_result))
#else
#define MC_MUST_USE
#endif

/// Checks, in every compiler that sees it, a layout that Swift reads as well.
#ifdef __cplusplus
#define MC_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define MC_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/// Bytes as characters, without a warning of old casts in C++.
#ifdef __cplusplus
#define MC_CHARACTERS(bytes) reinterpret_cast<const char *>(bytes)
#else
#define MC_CHARACTERS(bytes) ((const char *)(bytes))
#endif

#ifdef __cplusplus
extern "C" {
#endif

MC_NONNULL_BEGIN

struct sqlite3;

/// The result of a call. The numbers are stable: programs may store them.
typedef enum mc_status {
    MC_OK = 0,
    MC_ERROR_MISUSE = 1,        ///< a call out of order, or an argument out of its range
    MC_ERROR_NO_MEMORY = 2,     ///< an allocation failed
    MC_ERROR_SQLITE = 3,        ///< SQLite failed; `sqlite_code` is its extended result code
    MC_ERROR_CONSTRAINT = 4,    ///< a constraint of the database refused a row
    MC_ERROR_TIMEOUT = 5,       ///< a connection did not become free in time
    MC_ERROR_INTERRUPTED = 6,   ///< the work was interrupted or cancelled by the caller
    MC_ERROR_CLOSED = 7,        ///< the pool or the handle is closed
    MC_ERROR_NOT_FOUND = 8,     ///< the requested object does not exist
    MC_ERROR_CORRUPT = 9,       ///< the database or a stored value contradicts itself
    MC_ERROR_JSON = 10,         ///< the input is not JSON (RFC 8259); `byte_offset` is the position
    MC_ERROR_TYPE = 11,         ///< a value does not fit its column; `byte_offset` is the position
    MC_ERROR_TRUNCATED = 12,    ///< the input ended too early
    MC_ERROR_COMPRESSION = 13,  ///< the deflated input is damaged
    MC_ERROR_LIMIT = 14,        ///< a limit was exceeded: depth, row length, inflated size or ratio
    MC_ERROR_FULL = 15,         ///< the disk or the database is full
    MC_ERROR_IO = 16,           ///< the operating system refused to read or write
    MC_ERROR_READ_ONLY = 17,    ///< a write was tried where only reading is allowed
    MC_ERROR_APPEND_ONLY = 18,  ///< a write before the end of a value that can only grow
    MC_ERROR_OVER_LENGTH = 19   ///< a write beyond the length announced at open
} mc_status;

/// The longest message in bytes, its closing NUL included.
enum { MC_ERROR_MESSAGE_SIZE = 512 };

/// The description of a failure. Plain data: copy it, keep it, no need to free it.
typedef struct mc_error {
    mc_status code;
    int sqlite_code;                      ///< SQLite's extended result code; 0 unless SQLite failed
    int64_t byte_offset;                  ///< bytes from the start of the (inflated) input; -1 without a position
    int64_t row;                          ///< number of the input row from 1; 0 outside of a row
    char message[MC_ERROR_MESSAGE_SIZE];  ///< UTF-8, one line, NUL-terminated
} mc_error;

/// Returns the name of a status, such as "constraint", for logs; "unknown" for a number that is not a status. Static memory.
const char *mc_status_name(mc_status status);

MC_NONNULL_END

#ifdef __cplusplus
}
#endif
#endif
