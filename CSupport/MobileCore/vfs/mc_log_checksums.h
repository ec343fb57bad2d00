/// mc_log_checksums.h: completes the checksums of a write-ahead log where SQLite forgets some. Internal to this folder.
///
/// The checksum of a frame continues that of the frame before it; after a crash a reader of the log trusts it up to the first wrong
/// checksum. When SQLite has written a spilled page again, it appends further frames without checksums; at the
/// commit it makes them, from the first frame that was written again. It keeps that place when a savepoint or a statement is rolled back
/// to before it (seen in 3.40.1): the frames from there to the place, and those of a commit that does not reach it, stay without. A
/// crash then loses the transaction and all that follow until the log starts over. A checkpoint in between leaves a damaged database.
///
/// SQLite begins with a read of its own, of the checksum that it continues. At that read this layer completes the missing checksums.
#ifndef MC_LOG_CHECKSUMS_H
#define MC_LOG_CHECKSUMS_H

#include <sqlite3.h>

enum {
    MC_LOG_HEADER_SIZE = 32,
    MC_FRAME_HEADER_SIZE = 24,
    MC_FRAME_CHECKSUM = 16,  ///< place of the checksum in the header of a frame
    MC_FRAME_CHECKSUM_SIZE = 8,
};

/// Reads the checksum of `frame`, or of the commit frame `last` if that comes first. A frame without a checksum gets one before, as do
/// those before it. `frame` and `last` are the places of two headers, `frame_size` is that of header and page; no frame may be held back.
/// Returns an SQLite result code; `checksum`, MC_FRAME_CHECKSUM_SIZE bytes, is filled on SQLITE_OK.
int mc_log_checksums_complete(sqlite3_file *log, sqlite3_int64 frame_size, sqlite3_int64 frame, sqlite3_int64 last,
                              unsigned char *checksum);

#endif
