/// fuzzer.h: the function that libFuzzer offers to a user's mutator.
#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Changes `size` bytes in place, to at most `maximum` bytes, by libFuzzer's own mutations.
/// Returns the new number of bytes.
size_t LLVMFuzzerMutate(uint8_t *_Nonnull bytes, size_t size, size_t maximum);

#endif
