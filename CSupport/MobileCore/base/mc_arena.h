/// mc_arena.h: bytes that live until all of them are freed at once, in blocks that never move. Internal.
#ifndef MC_ARENA_H
#define MC_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct mc_arena_block {
    struct mc_arena_block *next;
    size_t capacity;
    uint8_t bytes[];
} mc_arena_block;

/// Starts as a zeroed struct and ends with `mc_arena_free`.
typedef struct mc_arena {
    mc_arena_block *block;  // the one being filled; older ones follow
    size_t used;            // of `block`
} mc_arena;

/// Returns room for `length` bytes without any alignment; NULL without memory. `mc_arena_trim` gives the unused end of the last piece
/// back.
uint8_t *mc_arena_take(mc_arena *arena, size_t length);

/// Gives `length` bytes at the end of the last piece back.
static inline void mc_arena_trim(mc_arena *arena, size_t length)
{
    arena->used -= length;
}

/// Discards all pieces; keeps one block for later ones.
void mc_arena_reset(mc_arena *arena);

/// Frees everything.
void mc_arena_free(mc_arena *arena);

#endif
