/// mc_rows_internal.h: the parts of the row scanner with which the import lets it run ahead in a second thread. Internal to the core.
#ifndef MC_ROWS_INTERNAL_H
#define MC_ROWS_INTERNAL_H

#include "base/mc_arena.h"
#include "mc_rows.h"

/// The memory that the rows of a batch point into, apart from the input. A zeroed block is empty.
typedef struct mc_row_block {
    mc_value *cells;
    int64_t *offsets;
    mc_arena arena;
} mc_row_block;

/// Makes a block for batches of this scanner; false without memory. Give it to `mc_row_block_free` in any case.
bool mc_row_block_init(mc_row_block *block, const mc_rows *rows);
void mc_row_block_free(mc_row_block *block);

/// Makes a column of the type MC_COLUMN_ANY refuse numbers beyond the largest double. Before the first push.
void mc_rows_set_finite(mc_rows *rows, size_t member, size_t column);

/// Begins another input after `mc_rows_finish`, with the same columns. Its rows and bytes are counted from its beginning.
void mc_rows_begin_again(mc_rows *rows);

/// Hands batches to another sink from now on.
void mc_rows_set_sink(mc_rows *rows, mc_rows_sink sink, void *context);

/// Exchanges the scanner's block; only in the sink. The scanner continues with the given block, whose content is discarded; `*block`
/// becomes the block that holds the batch. The text of the batch does not move: it is in the chunk, or in the carried bytes.
void mc_rows_exchange(mc_rows *rows, mc_row_block *block);

/// Returns the number of bytes that are kept of a row that the last chunk cut.
size_t mc_rows_carried(const mc_rows *rows);

/// Moves those bytes to the memory before `end`: together with the bytes that follow there they can be pushed as one chunk.
void mc_rows_take_carried(mc_rows *rows, uint8_t *end);

#endif
