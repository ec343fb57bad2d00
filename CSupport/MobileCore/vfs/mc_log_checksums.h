/// mc_log_checksums.h: completes the checksums of a write-ahead log where SQLite forgets some. Internal to this folder.
///
/// The checksum of a frame goes on from that of the frame before it, and who reads the log after a crash believes it up to the first one
/// that is wrong. When SQLite has written a spilled page over again, it gives the frames that it appends no checksums any more; at the
/// commit it makes them, from the first frame that was written over. It keeps that place when a savepoint or a statement is rolled back
/// to before it (seen in 3.40.1): the frames from there to the place, and those of a commit that does not reach it, stay without, and a
/// crash takes the transaction and all that follow until the log starts over. A checkpoint in between leaves a damaged database.
///
/// SQLite begins with a read of its own, the checksum to go on from. That is where this layer comes in.
#ifndef MC_LOG_CHECKSUMS_H
#define MC_LOG_CHECKSUMS_H

#include <sqlite3.h>

enum {
    MC_LOG_HEADER_SIZE = 32,
    MC_FRAME_HEADER_SIZE = 24,
    MC_FRAME_CHECKSUM = 16,  ///< place of the checksum in the header of a frame
    MC_FRAME_CHECKSUM_SIZE = 8,
};

/// Reads the checksum of `frame`, or of the commit frame `last` where it comes first. A frame without one gets it before, as do those in
/// front of it. `frame` and `last` are the places of two headers, `frame_size` is that of header and page; nothing is held back.
/// Returns an SQLite result code; `checksum`, MC_FRAME_CHECKSUM_SIZE bytes, is filled on SQLITE_OK.
int mc_log_checksums_complete(sqlite3_file *log, sqlite3_int64 frame_size, sqlite3_int64 frame, sqlite3_int64 last,
                              unsigned char *checksum);

#endif
