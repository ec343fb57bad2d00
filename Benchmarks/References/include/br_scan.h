/// br_scan.h: the core's row scanner on R30 without a database, and deflated input for imports. These are helpers in C, not references.
#ifndef BR_SCAN_H
#define BR_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Scans R30 in chunks of 64 KB by the rules of its columns. `sum` is the check sum of the values as in `br_data_set_checksum`;
/// NULL: the rows are validated, converted and dropped. Returns the number of rows, -1 on failure.
int64_t br_scan_rows(const char *json, size_t length, uint64_t *sum);

/// Deflates bytes into reused memory, as one zlib stream.
typedef struct br_deflater br_deflater;

/// `level`: zlib's, 1 to 9; `capacity`: the largest output of one call in bytes. NULL when memory is short. The caller owns the result.
br_deflater *br_deflater_open(int level, size_t capacity);
void br_deflater_free(br_deflater *deflater);
/// Begins another stream.
bool br_deflater_begin(br_deflater *deflater);
/// Returns the output of the stream for the next bytes, valid until the next call; NULL on failure. `last` ends the stream.
const void *br_deflater_take(br_deflater *deflater, const void *bytes, size_t length, bool last, size_t *deflated);

#endif
