/// cw_draw.h: draws a world from a seed. The same seed gives the same program.
#ifndef CW_DRAW_H
#define CW_DRAW_H

#include "base/cw_feature.h"
#include "base/cw_program.h"

/// Draws a program of about `steps` steps. It leaves out what leads to the faults of `avoided`.
void cw_draw(cw_program *program, uint64_t seed, int steps, cw_faults avoided);

/// The number of pairs of features. The world of a seed has the features of pair `seed % cw_pair_count()`, as far as
/// they go together.
int cw_pair_count(void);
void cw_pair(int number, cw_feature *first, cw_feature *second);

#endif
