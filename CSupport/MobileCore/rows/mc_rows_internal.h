/// mc_rows_internal.h: what the import needs of the row scanner to let it run ahead in a thread of its own. Internal to the core.
#ifndef MC_ROWS_INTERNAL_H
#define MC_ROWS_INTERNAL_H

#include "base/mc_arena.h"
#include "mc_rows.h"

/// What the rows of a batch lie in, beside the input. Zeroed memory is an empty one.
typedef struct mc_row_block {
    mc_value *cells;
    int64_t *offsets;
    mc_arena arena;
} mc_row_block;

/// Makes a block for batches of this scanner; false without memory. Ends with `mc_row_block_free` in any case.
bool mc_row_block_init(mc_row_block *block, const mc_rows *rows);
void mc_row_block_free(mc_row_block *block);

/// Makes a column of the type MC_COLUMN_ANY refuse numbers beyond the largest double. Before the first push.
void mc_rows_set_finite(mc_rows *rows, size_t member, size_t column);

/// Hands batches to another sink from here on.
void mc_rows_set_sink(mc_rows *rows, mc_rows_sink sink, void *context);

/// Only in the sink: the scanner goes on with `block`, whose content is forgotten, and the batch keeps lying in what becomes of
/// it. The text of the batch stays where it is: in the chunk, or in the bytes carried over.
void mc_rows_exchange(mc_rows *rows, mc_row_block *block);

/// Bytes of a row that the last chunk cut, which are kept.
size_t mc_rows_carried(const mc_rows *rows);

/// Moves those bytes to the memory before `end`: pushed together with what follows there they make one chunk.
void mc_rows_take_carried(mc_rows *rows, uint8_t *end);

#endif
