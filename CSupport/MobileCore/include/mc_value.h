/// mc_value.h: one value, as SQLite will store it: a cell of a row that was read, a parameter of a query.
#ifndef MC_VALUE_H
#define MC_VALUE_H

#include <stdint.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef enum mc_value_kind {
    MC_VALUE_NULL = 0,
    MC_VALUE_INTEGER = 1,
    MC_VALUE_REAL = 2,
    MC_VALUE_TEXT = 3,
    MC_VALUE_BLOB = 4,
    MC_VALUE_LARGE = 5  ///< in a row that was read: a large value that has already come in parts (mc_rows.h); without content
} mc_value_kind;

typedef struct mc_value {
    union {
        int64_t integer;
        double real;
        const char *MC_NULLABLE bytes;  ///< texts (UTF-8) and blobs; never NULL for them; not NUL-terminated
    } value;
    uint32_t length;  ///< of `bytes`
    uint8_t kind;     ///< a `mc_value_kind`
} mc_value;

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
