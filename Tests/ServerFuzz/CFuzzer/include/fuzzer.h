/// fuzzer.h: what libFuzzer offers to a mutator of its user.
#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Changes `size` bytes in place, to at most `maximum`, by libFuzzer's own means.
/// Returns how many bytes there are then.
size_t LLVMFuzzerMutate(uint8_t *_Nonnull bytes, size_t size, size_t maximum);

#endif
