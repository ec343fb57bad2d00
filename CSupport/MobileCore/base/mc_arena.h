/// mc_arena.h: bytes that live until all of them go at once, in blocks that never move. Internal.
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

/// Room for `length` bytes without any alignment; NULL where there is no memory. What is not needed of the last piece goes
/// back by `mc_arena_trim`.
uint8_t *mc_arena_take(mc_arena *arena, size_t length);

/// Gives `length` bytes at the end of the last piece back.
static inline void mc_arena_trim(mc_arena *arena, size_t length)
{
    arena->used -= length;
}

/// Forgets all pieces; keeps one block for those to come.
void mc_arena_reset(mc_arena *arena);

/// Frees everything.
void mc_arena_free(mc_arena *arena);

#endif
