/// br_random.h: random numbers and words that are the same on every machine.
#ifndef BR_RANDOM_H
#define BR_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char *const BR_WORDS[] = {"alpha",  "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
                                       "lambda", "mu",   "nu",    "xi",    "omicron", "pi",   "rho", "sigma", "tau",  "upsilon"};
enum { BR_WORD_COUNT = sizeof BR_WORDS / sizeof *BR_WORDS };

/// xorshift64*, whose state is never 0.
static inline uint64_t br_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static inline uint64_t br_below(uint64_t *state, uint64_t limit)
{
    return (br_random(state) >> 11) % limit;
}

/// Writes `count` words with blanks between them. Returns their length.
static inline size_t br_put_words(char *out, uint64_t *state, int count)
{
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        const char *word = BR_WORDS[br_below(state, BR_WORD_COUNT)];
        if (i > 0)
            out[length++] = ' ';
        memcpy(out + length, word, strlen(word));
        length += strlen(word);
    }
    return length;
}

#endif
