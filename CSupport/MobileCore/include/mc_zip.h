/// mc_zip.h: reads and writes ZIP archives (APPNOTE 6.3.3), entry by entry, as streams.
///
/// The reader takes archives from outside: it believes no number in them. Entries are stored (0) or deflated (8). Encrypted entries,
/// archives of several parts and ZIP64 are refused. Each entry is checked against its length and its CRC-32 while it is extracted. The
/// writer deflates, and needs no seeking: lengths follow the data, and are repeated in the directory at the end.
///
/// Order of calls: reader: open, entries and extract in any order, free. Writer: open, (begin, push, end) per entry, finish, free.
/// Threads:        one at a time per object. Callbacks run during the call that was given them.
/// Memory:         128 KB, zlib's state, and about 100 bytes per entry.
#ifndef MC_ZIP_H
#define MC_ZIP_H

#include <stdint.h>
#include <string.h>

#include "mc_error.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The largest number of entries, and of bytes of an entry's name.
enum { MC_ZIP_ENTRIES_MAXIMUM = 10000, MC_ZIP_NAME_MAXIMUM = 1024 };

/// Fills `buffer` with `length` bytes of the archive from `offset` on; fewer are an error. The range is within the archive's length.
typedef mc_status (*mc_zip_source)(void *MC_NULLABLE context, uint64_t offset, void *buffer, size_t length, mc_error *MC_NULLABLE error);

/// Takes the next bytes of an entry or of an archive; at least one. A status other than MC_OK ends the call, which returns it.
typedef mc_status (*mc_zip_sink)(void *MC_NULLABLE context, const void *bytes, size_t length, mc_error *MC_NULLABLE error);

typedef struct mc_zip_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    mc_zip_source read;
    void *MC_NULLABLE context;  ///< handed to `read`
    uint64_t length;            ///< of the archive in bytes
    uint64_t entry_maximum;     ///< the longest entry that is extracted, in bytes; 0: 4 GB
    uint32_t ratio_maximum;     ///< the largest growth of an entry, checked after the first MB; 0: 1000
} mc_zip_options;

/// Returns the defaults: no archive yet.
static inline mc_zip_options mc_zip_default_options(void)
{
    mc_zip_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// An entry of the archive's directory. Names are as in the archive: not NUL-terminated, of any encoding.
typedef struct mc_zip_entry {
    const char *name;
    size_t name_length;
    uint32_t size;    ///< bytes after extraction
    uint32_t packed;  ///< bytes in the archive
    uint32_t crc;     ///< CRC-32 of the extracted bytes
} mc_zip_entry;

typedef struct mc_zip mc_zip;

/// Reads the directory of an archive. On success the caller owns `*out` and gives it to `mc_zip_free`; on failure it is NULL.
/// Fails with MC_ERROR_COMPRESSION (no archive, or one that contradicts itself; `byte_offset` is the position), MC_ERROR_LIMIT (too many
/// entries, a name too long, ZIP64, several parts), MC_ERROR_NO_MEMORY, and as `read` does.
MC_MUST_USE mc_status mc_zip_open(const mc_zip_options *options, mc_zip *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// The same for a file, which stays open until `mc_zip_free`, with the limits of the options.
/// Fails as `mc_zip_open` does, and with MC_ERROR_NOT_FOUND, MC_ERROR_IO.
MC_MUST_USE mc_status mc_zip_open_file(const char *path, uint64_t entry_maximum, uint32_t ratio_maximum,
                                       mc_zip *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Returns the number of entries.
size_t mc_zip_entry_count(const mc_zip *zip);

/// Returns an entry; NULL beyond the last one. It belongs to the archive.
const mc_zip_entry *MC_NULLABLE mc_zip_entry_at(const mc_zip *zip, size_t index);

/// Extracts an entry. The sink has taken a part of a damaged one when the call fails.
/// Fails with MC_ERROR_NOT_FOUND (no such entry), MC_ERROR_COMPRESSION (damaged, or not of the announced length or sum), MC_ERROR_LIMIT
/// (longer than the options allow, encrypted, an unknown method), MC_ERROR_NO_MEMORY, and as `read` and the sink do.
MC_MUST_USE mc_status mc_zip_extract(mc_zip *zip, size_t index, mc_zip_sink sink, void *MC_NULLABLE context, mc_error *MC_NULLABLE error);

/// Frees a reader; NULL is allowed.
void mc_zip_free(mc_zip *MC_NULLABLE zip);

typedef struct mc_zip_writer mc_zip_writer;

/// Starts an archive, whose bytes go to the sink. On success the caller owns `*out` and gives it to `mc_zip_writer_free`.
/// Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_zip_writer_open(mc_zip_sink sink, void *MC_NULLABLE context, mc_zip_writer *MC_NULLABLE *MC_NONNULL out,
                                         mc_error *MC_NULLABLE error);

/// Begins an entry. Fails with MC_ERROR_MISUSE (an entry is open, an empty name, after finish or an error), MC_ERROR_LIMIT (too many
/// entries, a name too long), MC_ERROR_NO_MEMORY, and as the sink does.
MC_MUST_USE mc_status mc_zip_writer_begin(mc_zip_writer *writer, const char *name, size_t name_length, mc_error *MC_NULLABLE error);

/// Deflates the next bytes of the entry. Fails with MC_ERROR_MISUSE (no entry is open), MC_ERROR_LIMIT (4 GB or more), and as the sink
/// does.
MC_MUST_USE mc_status mc_zip_writer_push(mc_zip_writer *writer, const void *MC_NULLABLE bytes, size_t length, mc_error *MC_NULLABLE error);

/// Ends the entry. Fails as push does.
MC_MUST_USE mc_status mc_zip_writer_end(mc_zip_writer *writer, mc_error *MC_NULLABLE error);

/// Writes the directory. Fails with MC_ERROR_MISUSE (an entry is open, a second call), and as push does.
MC_MUST_USE mc_status mc_zip_writer_finish(mc_zip_writer *writer, mc_error *MC_NULLABLE error);

/// Frees a writer; NULL is allowed.
void mc_zip_writer_free(mc_zip_writer *MC_NULLABLE writer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
