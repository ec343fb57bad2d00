#include "base/mc_arena.h"

#include "base/mc_memory.h"

enum { BLOCK_SIZE = 64 * 1024 };

uint8_t *mc_arena_take(mc_arena *arena, size_t length)
{
    if (arena->block == NULL || arena->block->capacity - arena->used < length) {
        const size_t capacity = length > BLOCK_SIZE ? length : BLOCK_SIZE;
        mc_arena_block *const block = mc_allocate(sizeof *block + capacity);
        if (block == NULL)
            return NULL;
        block->next = arena->block;
        block->capacity = capacity;
        arena->block = block;
        arena->used = 0;
    }
    uint8_t *const piece = arena->block->bytes + arena->used;
    arena->used += length;
    return piece;
}

/// Frees a block and all older ones.
static void free_blocks(mc_arena_block *block)
{
    while (block != NULL) {
        mc_arena_block *const next = block->next;
        mc_free(block);
        block = next;
    }
}

void mc_arena_reset(mc_arena *arena)
{
    if (arena->block == NULL)
        return;
    free_blocks(arena->block->next);
    arena->block->next = NULL;
    arena->used = 0;
    if (arena->block->capacity > BLOCK_SIZE)
        mc_arena_free(arena);  // one huge string must not stay for the rest of the import
}

void mc_arena_free(mc_arena *arena)
{
    free_blocks(arena->block);
    arena->block = NULL;
    arena->used = 0;
}
