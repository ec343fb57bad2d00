/// mc_hand_over.h: the exchange between the import's thread and the thread that scans ahead of it: pieces of input in one direction,
/// batches of rows in the other. Internal to mc_scan_ahead.c.
///
/// Both directions are short rings, and a thread that finds its end empty or full sleeps. Waking a thread takes as long as inserting
/// some dozens of rows. So the scanner is not woken for each piece and each batch, but when half of the input waits for it, or when the
/// import's thread is about to run out of batches. No thread is woken by a holder of the lock, which it needs next.
///
/// Rows point into the pieces, which stay until the batch has been taken.
#ifndef MC_HAND_OVER_H
#define MC_HAND_OVER_H

#include <pthread.h>

#include "import/mc_inflater.h"
#include "rows/mc_rows_internal.h"

enum {
    MC_PIECE_ROOM = 16 * 1024,  // before a piece, for the bytes carried over
    MC_PIECE_BYTES = MC_INFLATER_PIECE_BYTES,
    MC_PIECE_INPUTS = 8,  // pieces of input
    MC_PIECE_TEXTS = 6,   // pieces of inflated text; plain input is its own text
    MC_HAND_OVER_BATCHES = 8,
};

/// A piece of memory for bytes, with the room before them.
typedef struct mc_piece {
    uint8_t *memory;
    size_t length;
    int users;  // the number of users; 0: free
} mc_piece;

static inline uint8_t *mc_piece_bytes(const mc_piece *piece)
{
    return piece->memory + MC_PIECE_ROOM;
}

/// A batch on its way to the sink.
typedef struct mc_waiting_batch {
    mc_row_block block;
    mc_row_batch batch;
    mc_piece *text;  // has the rows' bytes; NULL: they are elsewhere, and the scanner waits until the batch is taken
    int64_t text_bytes;
} mc_waiting_batch;

/// The event for which the scanner sleeps.
typedef enum mc_scanner_waits {
    MC_SCANNER_RUNS,
    MC_SCANNER_WAITS_FOR_INPUT,
    MC_SCANNER_WAITS_FOR_TEXT,   // a free piece to inflate into
    MC_SCANNER_WAITS_FOR_PLACE,  // a free place for a batch
    MC_SCANNER_WAITS_FOR_SINK    // all batches are taken
} mc_scanner_waits;

typedef struct mc_hand_over {
    pthread_mutex_t lock;  // guards the fields below
    pthread_cond_t for_import, for_scanner;
    mc_scanner_waits scanner_waits;
    mc_piece pieces[MC_PIECE_INPUTS + MC_PIECE_TEXTS];  // inputs first
    mc_piece *inputs[MC_PIECE_INPUTS];                  // a ring
    size_t inputs_given, inputs_taken;
    mc_waiting_batch batches[MC_HAND_OVER_BATCHES];  // a ring
    size_t batches_given, batches_taken;
    bool input_ended, stopped, done;
    mc_status status;  // when done
    mc_error error;
} mc_hand_over;

/// Makes the pieces, without those for texts if not `inflates`, and the batches. `hand_over` is zeroed. False without memory;
/// `mc_hand_over_destroy` must be called in any case. `mc_hand_over_begin` makes lock and conditions.
bool mc_hand_over_init(mc_hand_over *hand_over, const mc_rows *rows, bool inflates);
void mc_hand_over_destroy(mc_hand_over *hand_over);

/// Makes lock and conditions; false if the system cannot make them. `mc_hand_over_end` destroys them.
bool mc_hand_over_begin(mc_hand_over *hand_over);
void mc_hand_over_end(mc_hand_over *hand_over);

// ---- For the scanner's thread -----------------------------------------------------------------------------------------------

/// Returns the next piece of input; NULL at the end, or when the scanner must stop.
mc_piece *mc_hand_over_next_input(mc_hand_over *hand_over);
void mc_hand_over_release_input(mc_hand_over *hand_over, mc_piece *input);

/// Releases a piece of text, if not NULL, and returns a free one; NULL when the scanner must stop.
mc_piece *mc_hand_over_next_text(mc_hand_over *hand_over, mc_piece *text);

/// Queues a batch with its memory: the scanner continues with another block. Returns false when the scanner must stop.
bool mc_hand_over_give_batch(mc_hand_over *hand_over, const mc_row_batch *batch, mc_rows *rows, mc_piece *text, int64_t text_bytes);

/// Reports the end of the batches, and its status.
void mc_hand_over_finish(mc_hand_over *hand_over, mc_status status, const mc_error *error);

// ---- For the import's thread ------------------------------------------------------------------------------------------------

/// Returns a free piece of input; NULL while all are in use.
mc_piece *mc_hand_over_take_input(mc_hand_over *hand_over);

/// Passes a filled piece of input to the scanner.
void mc_hand_over_give_input(mc_hand_over *hand_over, mc_piece *input);
void mc_hand_over_end_input(mc_hand_over *hand_over);

/// Waits for the oldest batch. Returns NULL when the scanner is done, with its result in `*status` and `*error`, and, unless
/// `until_done`, when a piece of input is free.
mc_waiting_batch *mc_hand_over_next_batch(mc_hand_over *hand_over, bool until_done, mc_status *status, mc_error *error);
void mc_hand_over_release_batch(mc_hand_over *hand_over, const mc_waiting_batch *waiting);

/// Makes the scanner stop.
void mc_hand_over_stop(mc_hand_over *hand_over);

#endif
