#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L  // pthread_sigmask
#endif
#include "import/mc_scan_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mc_memory.h"
#include "import/mc_hand_over.h"

struct mc_scan_ahead {
    mc_inflater *inflater;
    mc_rows *rows;
    mc_rows_sink sink;
    void *context;
    mc_import_thread_begins thread_begins;
    void *thread_context;
    uint8_t *inflater_buffer;  // its own
    mc_inflater_sink inflater_sink;
    void *inflater_context;
    pthread_t thread;
    mc_hand_over hand_over;

    // For the import's thread only.
    mc_piece *filling;
    int64_t text_bytes;

    // For the scanner only.
    mc_piece *input, *text;  // its input, and the piece it inflates into
    bool waits_for_sink;
};

static mc_status fail_stopped(mc_error *error)
{
    return mc_fail(error, MC_ERROR_INTERRUPTED, "import: stopped");
}

// ---- The scanner's thread ---------------------------------------------------------------------------------------------------

/// The sink of the scanner: queues the batch.
static mc_status queue_batch(void *context, const mc_row_batch *batch, mc_error *error)
{
    mc_scan_ahead *const ahead = context;
    mc_piece *const text = ahead->waits_for_sink ? NULL : ahead->text;
    const bool goes_on = mc_hand_over_give_batch(&ahead->hand_over, batch, ahead->rows, text, ahead->inflater->bytes_out);
    return goes_on ? MC_OK : fail_stopped(error);
}

/// Takes a free piece for the inflater to replace the scanned one.
static mc_status next_text(mc_scan_ahead *ahead, mc_error *error)
{
    ahead->text = mc_hand_over_next_text(&ahead->hand_over, ahead->text);
    if (ahead->text == NULL)
        return fail_stopped(error);
    ahead->inflater->buffer = mc_piece_bytes(ahead->text);
    return MC_OK;
}

/// The sink of the inflater.
static mc_status scan_text(void *context, const void *bytes, size_t length, mc_error *error)
{
    mc_scan_ahead *const ahead = context;
    if (length == 0) {
        ahead->waits_for_sink = true;  // the carried bytes stay in place
        return mc_rows_settle(ahead->rows, error);
    }
    const bool plain = ahead->inflater->kind == MC_INFLATER_PLAIN;
    if (plain)
        ahead->text = ahead->input;
    const uint8_t *start = bytes;
    const size_t carried = mc_rows_carried(ahead->rows);
    ahead->waits_for_sink = carried > MC_PIECE_ROOM;
    if (!ahead->waits_for_sink) {
        mc_rows_take_carried(ahead->rows, mc_piece_bytes(ahead->text));
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

static void *run_scanner(void *context)
{
    mc_scan_ahead *const ahead = context;
    mc_error error = {0};
    mc_status status = MC_OK;
    if (ahead->thread_begins != NULL)
        ahead->thread_begins(ahead->thread_context);
    while (status == MC_OK && (ahead->input = mc_hand_over_next_input(&ahead->hand_over)) != NULL) {
        status = mc_inflater_push(ahead->inflater, mc_piece_bytes(ahead->input), ahead->input->length, &error);
        mc_hand_over_release_input(&ahead->hand_over, ahead->input);
    }
    if (status == MC_OK)
        status = mc_inflater_finish(ahead->inflater, &error);
    // The bytes carried to the end stay in place.
    ahead->waits_for_sink = true;
    if (status == MC_OK)
        status = mc_rows_finish(ahead->rows, &error);
    mc_hand_over_finish(&ahead->hand_over, status, &error);
    return NULL;
}

// ---- The import's thread ----------------------------------------------------------------------------------------------------

/// Passes batches to the sink until the scanner is done, or, unless `until_done`, a piece of input is free, which `filling` then is.
static mc_status take_batches(mc_scan_ahead *ahead, bool until_done, mc_error *error)
{
    mc_status status = MC_OK;
    mc_waiting_batch *waiting;
    while ((waiting = mc_hand_over_next_batch(&ahead->hand_over, until_done, &status, error)) != NULL) {
        ahead->text_bytes = waiting->text_bytes;
        status = ahead->sink(ahead->context, &waiting->batch, error);
        mc_hand_over_release_batch(&ahead->hand_over, waiting);
        if (status != MC_OK)
            return status;
    }
    if (status == MC_OK && !until_done)
        ahead->filling = mc_hand_over_take_input(&ahead->hand_over);
    return status;
}

mc_status mc_scan_ahead_push(mc_scan_ahead *ahead, const void *bytes, size_t length, mc_error *error)
{
    const uint8_t *at = bytes;
    while (length > 0) {
        if (ahead->filling == NULL)
            ahead->filling = mc_hand_over_take_input(&ahead->hand_over);
        if (ahead->filling == NULL) {
            const mc_status status = take_batches(ahead, false, error);
            if (status != MC_OK)
                return status;
        }
        mc_piece *const filling = ahead->filling;
        const size_t room = MC_PIECE_BYTES - filling->length, here = length < room ? length : room;
        memcpy(mc_piece_bytes(filling) + filling->length, at, here);
        filling->length += here;
        at += here;
        length -= here;
        if (filling->length == MC_PIECE_BYTES) {
            mc_hand_over_give_input(&ahead->hand_over, filling);
            ahead->filling = NULL;
        }
    }
    return MC_OK;
}

mc_status mc_scan_ahead_finish(mc_scan_ahead *ahead, mc_error *error)
{
    if (ahead->filling != NULL)
        mc_hand_over_give_input(&ahead->hand_over, ahead->filling);
    ahead->filling = NULL;
    mc_hand_over_end_input(&ahead->hand_over);
    return take_batches(ahead, true, error);
}

int64_t mc_scan_ahead_text_bytes(const mc_scan_ahead *ahead)
{
    return ahead->text_bytes;
}

// ---- Beginning and end ------------------------------------------------------------------------------------------------------

/// Replaces the sinks of inflater and scanner.
static void take_over(mc_scan_ahead *ahead)
{
    ahead->inflater->sink = scan_text;
    ahead->inflater->context = ahead;
    mc_rows_set_sink(ahead->rows, queue_batch, ahead);
    if (ahead->inflater->kind != MC_INFLATER_PLAIN)
        (void)next_text(ahead, NULL);  // all of them are free
}

/// Starts the thread with all signals blocked, because they belong to the program.
static bool start_thread(mc_scan_ahead *ahead)
{
    sigset_t all, before;
    sigfillset(&all);
    if (!mc_hand_over_begin(&ahead->hand_over))
        return false;
    take_over(ahead);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(&ahead->thread, NULL, run_scanner, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        mc_hand_over_end(&ahead->hand_over);
    return result == 0;
}

/// Restores inflater and scanner.
static void give_back(mc_scan_ahead *ahead)
{
    ahead->inflater->sink = ahead->inflater_sink;
    ahead->inflater->context = ahead->inflater_context;
    ahead->inflater->buffer = ahead->inflater_buffer;
    mc_rows_set_sink(ahead->rows, ahead->sink, ahead->context);
}

static void free_memory(mc_scan_ahead *ahead)
{
    mc_hand_over_destroy(&ahead->hand_over);
    mc_free(ahead);
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
    if (mc_hand_over_init(&ahead->hand_over, options->rows, options->inflater->kind != MC_INFLATER_PLAIN)) {
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
    mc_hand_over_stop(&ahead->hand_over);
    pthread_join(ahead->thread, NULL);
    mc_hand_over_end(&ahead->hand_over);
    give_back(ahead);
    free_memory(ahead);
}
