#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L  // pthread_sigmask
#endif
#include "import/mc_scan_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mc_memory.h"
#include "json/mc_rows_internal.h"

enum {
    ROOM_BYTES = 16 * 1024,  // before a piece, for what was carried over
    PIECE_BYTES = MC_INFLATER_PIECE_BYTES,
    INPUTS = 4,              // pieces of input
    TEXTS = 3,               // pieces that deflated input becomes; plain input is its own text
    BATCHES = 4,
    BATCHES_TO_WAKE = 1,     // a scanner that waits is woken when so few batches are left: not for each of them
};

/// A piece of memory for bytes, with the room before them.
typedef struct piece {
    uint8_t *memory;
    size_t length;
    int users;  // who may still look at it; 0: free
} piece;

/// A batch on its way to the sink.
typedef struct waiting_batch {
    mc_row_block block;
    mc_row_batch batch;
    piece *text;  // the rows lie in it; NULL: elsewhere, and the scanner waits until the batch is taken
    int64_t text_bytes;
} waiting_batch;

struct mc_scan_ahead {
    mc_inflater *inflater;
    mc_rows *rows;
    mc_rows_sink sink;
    void *context;
    mc_import_thread_begins thread_begins;
    void *thread_context;
    uint8_t *inflater_buffer;         // its own
    mc_inflater_sink inflater_sink;
    void *inflater_context;
    pthread_t thread;

    // The import's thread alone.
    piece *filling;
    int64_t text_bytes;

    // The scanner alone.
    piece *input, *text;              // what it reads, and what it inflates into
    bool waits_for_sink;

    pthread_mutex_t lock;             // guards what follows
    pthread_cond_t for_import, for_scanner;
    bool scanner_waits;
    piece pieces[INPUTS + TEXTS];     // inputs first
    piece *inputs[INPUTS];            // a ring
    size_t inputs_given, inputs_taken;
    waiting_batch batches[BATCHES];   // a ring
    size_t batches_given, batches_taken;
    bool input_ended, stopped, done;
    mc_status status;                 // when done
    mc_error error;
};

static uint8_t *payload(const piece *piece)
{
    return piece->memory + ROOM_BYTES;
}

/// A free piece with one user; NULL where all are in use. The lock is held.
static piece *take_piece(piece *first, size_t count)
{
    for (size_t index = 0; index < count; index++) {
        if (first[index].users > 0)
            continue;
        first[index].users = 1;
        first[index].length = 0;
        return &first[index];
    }
    return NULL;
}

/// Lets the scanner sleep until something has changed. The lock is held.
static void scanner_sleeps(mc_scan_ahead *ahead)
{
    ahead->scanner_waits = true;
    pthread_cond_wait(&ahead->for_scanner, &ahead->lock);
}

static void wake_scanner(mc_scan_ahead *ahead)
{
    if (!ahead->scanner_waits)
        return;
    ahead->scanner_waits = false;
    pthread_cond_signal(&ahead->for_scanner);
}

static mc_status fail_stopped(mc_error *error)
{
    return mc_fail(error, MC_ERROR_INTERRUPTED, "import: stopped");
}

/// The sink of the scanner, on its thread: queues the batch.
static mc_status queue_batch(void *context, const mc_row_batch *batch, mc_error *error)
{
    mc_scan_ahead *const ahead = context;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopped && ahead->batches_given - ahead->batches_taken == BATCHES)
        scanner_sleeps(ahead);
    if (!ahead->stopped) {
        waiting_batch *const waiting = &ahead->batches[ahead->batches_given % BATCHES];
        waiting->batch = *batch;
        waiting->text_bytes = ahead->inflater->bytes_out;
        waiting->text = ahead->waits_for_sink ? NULL : ahead->text;
        if (waiting->text != NULL)
            waiting->text->users++;
        mc_rows_exchange(ahead->rows, &waiting->block);
        ahead->batches_given++;
        pthread_cond_signal(&ahead->for_import);
        while (ahead->waits_for_sink && !ahead->stopped && ahead->batches_given != ahead->batches_taken)
            scanner_sleeps(ahead);
    }
    const bool stopped = ahead->stopped;
    pthread_mutex_unlock(&ahead->lock);
    return stopped ? fail_stopped(error) : MC_OK;
}

/// Lets go of the piece that was scanned, and takes a free one for the inflater.
static mc_status next_text(mc_scan_ahead *ahead, mc_error *error)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->text->users--;
    while ((ahead->text = take_piece(ahead->pieces + INPUTS, TEXTS)) == NULL && !ahead->stopped)
        scanner_sleeps(ahead);
    pthread_mutex_unlock(&ahead->lock);
    if (ahead->text == NULL)
        return fail_stopped(error);
    ahead->inflater->buffer = payload(ahead->text);
    return MC_OK;
}

/// The sink of the inflater, on the scanner's thread.
static mc_status scan_text(void *context, const void *bytes, size_t length, mc_error *error)
{
    mc_scan_ahead *const ahead = context;
    const bool plain = ahead->inflater->kind == MC_INFLATER_PLAIN;
    if (plain)
        ahead->text = ahead->input;
    const uint8_t *start = bytes;
    const size_t carried = mc_rows_carried(ahead->rows);
    ahead->waits_for_sink = carried > ROOM_BYTES;
    if (!ahead->waits_for_sink) {
        mc_rows_take_carried(ahead->rows, payload(ahead->text));
        start -= carried;
        length += carried;
    }
    const mc_status status = mc_rows_push(ahead->rows, start, length, error);
    if (plain) {
        ahead->text = NULL;
        return status;
    }
    return status == MC_OK ? next_text(ahead, error) : status;
}

/// The next piece of input; NULL at the end, or when all of it is to stop.
static piece *next_input(mc_scan_ahead *ahead)
{
    piece *input = NULL;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopped && !ahead->input_ended && ahead->inputs_given == ahead->inputs_taken)
        scanner_sleeps(ahead);
    if (!ahead->stopped && ahead->inputs_given != ahead->inputs_taken)
        input = ahead->inputs[ahead->inputs_taken++ % INPUTS];
    pthread_mutex_unlock(&ahead->lock);
    return input;
}

static void release_input(mc_scan_ahead *ahead, piece *input)
{
    pthread_mutex_lock(&ahead->lock);
    input->users--;
    pthread_cond_signal(&ahead->for_import);
    pthread_mutex_unlock(&ahead->lock);
}

static void *run_scanner(void *context)
{
    mc_scan_ahead *const ahead = context;
    mc_error error = {0};
    mc_status status = MC_OK;
    if (ahead->thread_begins != NULL)
        ahead->thread_begins(ahead->thread_context);
    while (status == MC_OK && (ahead->input = next_input(ahead)) != NULL) {
        status = mc_inflater_push(ahead->inflater, payload(ahead->input), ahead->input->length, &error);
        release_input(ahead, ahead->input);
    }
    if (status == MC_OK)
        status = mc_inflater_finish(ahead->inflater, &error);
    // What was carried to the end stays where it is.
    ahead->waits_for_sink = true;
    if (status == MC_OK)
        status = mc_rows_finish(ahead->rows, &error);
    pthread_mutex_lock(&ahead->lock);
    ahead->done = true;
    ahead->status = status;
    ahead->error = error;
    pthread_cond_signal(&ahead->for_import);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/// Hands the oldest batch to the sink. The lock is held, and let go meanwhile.
static mc_status take_batch(mc_scan_ahead *ahead, mc_error *error)
{
    const waiting_batch *const waiting = &ahead->batches[ahead->batches_taken % BATCHES];
    pthread_mutex_unlock(&ahead->lock);
    ahead->text_bytes = waiting->text_bytes;
    const mc_status status = ahead->sink(ahead->context, &waiting->batch, error);
    pthread_mutex_lock(&ahead->lock);
    if (waiting->text != NULL)
        waiting->text->users--;
    ahead->batches_taken++;
    if (ahead->batches_given - ahead->batches_taken <= BATCHES_TO_WAKE)
        wake_scanner(ahead);
    return status;
}

/// Hands over what is there, and waits for more until `may_end` says so. The lock is held.
static mc_status take_batches(mc_scan_ahead *ahead, bool (*may_end)(mc_scan_ahead *ahead), mc_error *error)
{
    for (;;) {
        if (ahead->batches_given != ahead->batches_taken) {
            const mc_status status = take_batch(ahead, error);
            if (status != MC_OK)
                return status;
        } else if (ahead->done) {
            if (ahead->status != MC_OK && error != NULL)
                *error = ahead->error;
            return ahead->status;
        } else if (may_end(ahead)) {
            return MC_OK;
        } else {
            wake_scanner(ahead);
            pthread_cond_wait(&ahead->for_import, &ahead->lock);
        }
    }
}

static bool at_once(mc_scan_ahead *ahead)
{
    (void)ahead;
    return true;
}

static bool when_done(mc_scan_ahead *ahead)
{
    return ahead->done;
}

/// With a piece to fill.
static bool with_input(mc_scan_ahead *ahead)
{
    ahead->filling = take_piece(ahead->pieces, INPUTS);
    return ahead->filling != NULL;
}

/// Gives the piece that is being filled to the scanner. The lock is held.
static void give_input(mc_scan_ahead *ahead)
{
    ahead->inputs[ahead->inputs_given++ % INPUTS] = ahead->filling;
    ahead->filling = NULL;
    wake_scanner(ahead);
}

mc_status mc_scan_ahead_push(mc_scan_ahead *ahead, const void *bytes, size_t length, mc_error *error)
{
    const uint8_t *at = bytes;
    mc_status status = MC_OK;
    while (length > 0 && status == MC_OK) {
        if (ahead->filling == NULL) {
            pthread_mutex_lock(&ahead->lock);
            if (!with_input(ahead))
                status = take_batches(ahead, with_input, error);
            pthread_mutex_unlock(&ahead->lock);
            if (status != MC_OK)
                break;
        }
        piece *const filling = ahead->filling;
        const size_t room = PIECE_BYTES - filling->length, here = length < room ? length : room;
        memcpy(payload(filling) + filling->length, at, here);
        filling->length += here;
        at += here;
        length -= here;
        pthread_mutex_lock(&ahead->lock);
        if (filling->length == PIECE_BYTES)
            give_input(ahead);
        status = take_batches(ahead, at_once, error);
        pthread_mutex_unlock(&ahead->lock);
    }
    return status;
}

mc_status mc_scan_ahead_finish(mc_scan_ahead *ahead, mc_error *error)
{
    pthread_mutex_lock(&ahead->lock);
    if (ahead->filling != NULL)
        give_input(ahead);
    ahead->input_ended = true;
    wake_scanner(ahead);
    const mc_status status = take_batches(ahead, when_done, error);
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

int64_t mc_scan_ahead_text_bytes(const mc_scan_ahead *ahead)
{
    return ahead->text_bytes;
}

static void free_memory(mc_scan_ahead *ahead)
{
    for (size_t index = 0; index < INPUTS + TEXTS; index++)
        mc_free(ahead->pieces[index].memory);
    for (size_t index = 0; index < BATCHES; index++)
        mc_row_block_free(&ahead->batches[index].block);
    mc_free(ahead);
}

/// Runs the thread with all signals blocked: they are the program's.
static bool start_thread(mc_scan_ahead *ahead)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_mutex_init(&ahead->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&ahead->for_import, NULL) != 0)
        goto without_import;
    if (pthread_cond_init(&ahead->for_scanner, NULL) != 0)
        goto without_scanner;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(&ahead->thread, NULL, run_scanner, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0)
        return true;
    pthread_cond_destroy(&ahead->for_scanner);
without_scanner:
    pthread_cond_destroy(&ahead->for_import);
without_import:
    pthread_mutex_destroy(&ahead->lock);
    return false;
}

/// Puts inflater and scanner back as they were.
static void give_back(mc_scan_ahead *ahead)
{
    ahead->inflater->sink = ahead->inflater_sink;
    ahead->inflater->context = ahead->inflater_context;
    ahead->inflater->buffer = ahead->inflater_buffer;
    mc_rows_set_sink(ahead->rows, ahead->sink, ahead->context);
}

mc_scan_ahead *mc_scan_ahead_start(const mc_scan_ahead_options *options)
{
    mc_scan_ahead *const ahead = mc_allocate_zeroed(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->inflater = options->inflater;
    ahead->rows = options->rows;
    ahead->sink = options->sink;
    ahead->context = options->context;
    ahead->thread_begins = options->thread_begins;
    ahead->thread_context = options->thread_context;
    ahead->inflater_buffer = options->inflater->buffer;
    ahead->inflater_sink = options->inflater->sink;
    ahead->inflater_context = options->inflater->context;
    const bool plain = options->inflater->kind == MC_INFLATER_PLAIN;
    bool complete = true;
    for (size_t index = 0; index < (plain ? INPUTS : INPUTS + TEXTS) && complete; index++)
        complete = (ahead->pieces[index].memory = mc_allocate(ROOM_BYTES + PIECE_BYTES)) != NULL;
    for (size_t index = 0; index < BATCHES && complete; index++)
        complete = mc_row_block_init(&ahead->batches[index].block, options->rows);
    if (complete) {
        if (!plain) {
            ahead->text = take_piece(ahead->pieces + INPUTS, TEXTS);
            ahead->inflater->buffer = payload(ahead->text);
        }
        ahead->inflater->sink = scan_text;
        ahead->inflater->context = ahead;
        mc_rows_set_sink(ahead->rows, queue_batch, ahead);
        if (start_thread(ahead))
            return ahead;
        give_back(ahead);
    }
    free_memory(ahead);
    return NULL;
}

void mc_scan_ahead_stop(mc_scan_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopped = true;
    wake_scanner(ahead);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->for_scanner);
    pthread_cond_destroy(&ahead->for_import);
    pthread_mutex_destroy(&ahead->lock);
    give_back(ahead);
    free_memory(ahead);
}
