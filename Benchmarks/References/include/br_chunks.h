/// br_chunks.h: the reference of large values: chunks in a separate table, inserted and read in plain C loops.
///
/// The code of a good C programmer with SQLite alone: one connection without a mutex, WAL, `synchronous=NORMAL`; a prepared INSERT, in
/// one transaction, that binds chunks in place; one sqlite3_blob that moves from chunk to chunk and is read in pieces of 64 KB.
/// Order of calls: open, then any number of write and read, then close. One thread.
#ifndef BR_CHUNKS_H
#define BR_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Content of any length in the memory of one block, which is repeated.
typedef struct br_content br_content;

/// Random bytes, or text with characters of one to four bytes, by seed. NULL when memory is short. The caller owns it.
br_content *br_content_make(uint64_t seed, bool is_text);
void br_content_free(br_content *content);

/// The content at byte `at`; BR_PIECE_MOST bytes may be read from there. Borrowed.
const uint8_t *br_content_at(const br_content *content, int64_t at);
enum { BR_PIECE_MOST = 1 << 20 };

/// The length of the longest beginning of a text, up to `length` bytes, that ends with a whole character.
int64_t br_content_whole_characters(const br_content *content, int64_t length);

/// The check sum that `br_table_checksum` gives for a SELECT of the chunks of the first `length` bytes.
uint64_t br_content_checksum(const br_content *content, int64_t length, size_t chunk);

/// Whether `bytes` are the content from byte `at` on.
bool br_content_equals(const br_content *content, int64_t at, const uint8_t *bytes, size_t length);

typedef struct br_chunks br_chunks;

/// Opens a database file with the given page size and cache, both in bytes, and creates the table `chunk(id, start, content)` if it is
/// missing. NULL on any failure; `message` then has the reason. The caller owns the result.
br_chunks *br_chunks_open(const char *path, int page_size, int64_t cache_bytes, char *message, size_t message_size);

/// Inserts the first `length` bytes of the content as chunks from `first_id` on, in one transaction. `counts`: whether each chunk has the
/// number of characters before it. False on any failure.
bool br_chunks_write(br_chunks *chunks, const br_content *content, int64_t first_id, int64_t length, size_t chunk, bool counts);

/// Reads the chunks of a value of `length` bytes; `*characters` (may be NULL) receives the number of characters that begin in it. Each
/// piece must equal `compared` (may be NULL). False on any failure.
bool br_chunks_read(br_chunks *chunks, int64_t first_id, int64_t length, size_t chunk, int64_t *characters, const br_content *compared);

void br_chunks_close(br_chunks *chunks);

#endif
