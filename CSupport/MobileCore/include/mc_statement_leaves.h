/// mc_statement_leaves.h: runs a statement for each leaf of a JSON object of objects, in one call.
///
///     {"77": {"title": "Saw", "price": "12.50"}, "80": {"title": "Axe"}}
///     3 leaves: (77, title, Saw), (77, price, 12.50), (80, title, Axe)
///
/// Threads: that of the statement's connection. Keys and texts are not copied: the message must not be freed during the call.
#ifndef MC_STATEMENT_LEAVES_H
#define MC_STATEMENT_LEAVES_H

#include <stdbool.h>

#include "mc_message.h"
#include "mc_statement.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The numbers of the statement's parameters, from 1. Other parameters keep their values.
typedef struct mc_leaf_parameters {
    int outer;  ///< the key of the object
    int inner;  ///< the key of the value
    int value;  ///< the text of the value: a string's, a number's as written, "true", "false", "" for null; 0: not used
    /// Runs all leaves under one inner key before those under the next, in the order in which the keys come first: an index that begins
    /// with the inner key is then written part by part. Takes 24 bytes per leaf. With many different keys, or without memory, the order is
    /// that of the text.
    bool grouped;
} mc_leaf_parameters;

/// Runs the statement once for each leaf of the object `object` (a number among the nodes of the message), in the order of the text
/// unless they are grouped, and clears the parameters. `*count` is the number of objects that had a leaf. Fails with MC_ERROR_TYPE (not an
/// object of objects, or a leaf that is an array or an object; `byte_offset` is its position), MC_ERROR_MISUSE (no such node or parameter),
/// and as `mc_statement_run` does. Before a leaf of a wrong type, leaves have been run; before another value than an object, none.
MC_MUST_USE mc_status mc_statement_run_leaves(mc_statement *statement, const mc_message *message, uint32_t object,
                                              const mc_leaf_parameters *parameters, int64_t *count, mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
