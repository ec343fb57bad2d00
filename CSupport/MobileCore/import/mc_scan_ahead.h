/// mc_scan_ahead.h: inflates and scans on a separate thread while the import's thread inserts. Internal.
///
///     push: input pieces (64 KB) -> [thread: inflate -> scan] -> batches -> the sink, on the import's thread
///
/// A small number of pieces and batches is made at the start, so memory is bounded and the faster thread waits. Rows point into the
/// pieces, which stay until the batch has been taken; bytes of a cut row move to the room before the next piece. For a row that is
/// longer than that room the thread does not run ahead: the row's bytes are carried, and the thread waits for each of its batches.
///
/// Order of calls: start; any number of push; finish or not; stop. Between start and stop the inflater and the scanner belong to
///                 the thread. The sink is called during push and finish, on their thread, in the order of the input.
/// Memory:         about 1.8 MB.
#ifndef MC_SCAN_AHEAD_H
#define MC_SCAN_AHEAD_H

#include "import/mc_inflater.h"
#include "mc_import.h"

typedef struct mc_scan_ahead mc_scan_ahead;

typedef struct mc_scan_ahead_options {
    mc_inflater *inflater;  ///< has taken the first bytes; its sink and its buffer are replaced until stop
    mc_rows *rows;          ///< the same of its sink
    mc_rows_sink sink;      ///< takes the batches
    void *context;
    mc_import_thread_begins thread_begins;
    void *thread_context;
} mc_scan_ahead_options;

/// Starts the thread. NULL without memory or without a thread: then inflater and scanner are unchanged.
mc_scan_ahead *mc_scan_ahead_start(const mc_scan_ahead_options *options);

/// Takes the next bytes, which are copied. Fails as inflating, scanning and the sink do; the error may be in bytes taken
/// earlier. After a failure, only stop may follow.
mc_status mc_scan_ahead_push(mc_scan_ahead *ahead, const void *bytes, size_t length, mc_error *error);

/// Ends the input, and waits until all of it has reached the sink. Fails as push does.
mc_status mc_scan_ahead_finish(mc_scan_ahead *ahead, mc_error *error);

/// The number of bytes of JSON text up to the sink's current or last batch.
int64_t mc_scan_ahead_text_bytes(const mc_scan_ahead *ahead);

/// Ends the thread, waits for it, and restores inflater and scanner. NULL is allowed.
void mc_scan_ahead_stop(mc_scan_ahead *ahead);

#endif
