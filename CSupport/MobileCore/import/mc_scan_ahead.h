/// mc_scan_ahead.h: inflates and scans in a thread of its own while the import's thread inserts. Internal.
///
///     push: input pieces (64 KB) -> [thread: inflate -> scan] -> batches -> the sink, on the import's thread
///
/// Pieces and batches are few and made at the start, so memory is bounded and whoever is faster waits. Rows point into the pieces,
/// which stay until the batch has been taken; bytes of a cut row move to the room before the next piece. A row that is longer
/// than that room is handed over without running ahead: its bytes are carried, and the thread waits for each of its batches.
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

/// Starts the thread. NULL where there is no memory or no thread to be had: then nothing has changed.
mc_scan_ahead *mc_scan_ahead_start(const mc_scan_ahead_options *options);

/// Takes the next bytes, which are copied. Fails as inflating, scanning and the sink do, maybe with what was wrong in bytes taken
/// earlier; only stop may follow.
mc_status mc_scan_ahead_push(mc_scan_ahead *ahead, const void *bytes, size_t length, mc_error *error);

/// Says that the input is complete, and waits until all of it has gone to the sink. Fails as push does.
mc_status mc_scan_ahead_finish(mc_scan_ahead *ahead, mc_error *error);

/// Bytes of JSON text up to the batch that the sink has or had last.
int64_t mc_scan_ahead_text_bytes(const mc_scan_ahead *ahead);

/// Ends the thread, waits for it, and gives inflater and scanner back. NULL is allowed.
void mc_scan_ahead_stop(mc_scan_ahead *ahead);

#endif
