#include "import/mc_hand_over.h"

#include "base/mc_memory.h"

enum {
    INPUTS_TO_WAKE = MC_PIECE_INPUTS / 2,
    BATCHES_TO_WAKE = 2,  // the number of batches whose rows are inserted while a thread wakes
};

bool mc_hand_over_init(mc_hand_over *hand_over, const mc_rows *rows, bool inflates)
{
    const size_t pieces = inflates ? MC_PIECE_INPUTS + MC_PIECE_TEXTS : MC_PIECE_INPUTS;
    bool complete = true;
    for (size_t index = 0; index < pieces && complete; index++)
        complete = (hand_over->pieces[index].memory = mc_allocate(MC_PIECE_ROOM + MC_PIECE_BYTES)) != NULL;
    for (size_t index = 0; index < MC_HAND_OVER_BATCHES && complete; index++)
        complete = mc_row_block_init(&hand_over->batches[index].block, rows);
    return complete;
}

void mc_hand_over_destroy(mc_hand_over *hand_over)
{
    for (size_t index = 0; index < MC_PIECE_INPUTS + MC_PIECE_TEXTS; index++)
        mc_free(hand_over->pieces[index].memory);
    for (size_t index = 0; index < MC_HAND_OVER_BATCHES; index++)
        mc_row_block_free(&hand_over->batches[index].block);
}

bool mc_hand_over_begin(mc_hand_over *hand_over)
{
    if (pthread_mutex_init(&hand_over->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&hand_over->for_import, NULL) != 0)
        goto without_import;
    if (pthread_cond_init(&hand_over->for_scanner, NULL) == 0)
        return true;
    pthread_cond_destroy(&hand_over->for_import);
without_import:
    pthread_mutex_destroy(&hand_over->lock);
    return false;
}

void mc_hand_over_end(mc_hand_over *hand_over)
{
    pthread_cond_destroy(&hand_over->for_scanner);
    pthread_cond_destroy(&hand_over->for_import);
    pthread_mutex_destroy(&hand_over->lock);
}

/// Locked: takes a free piece, which then has one user; NULL if all are in use.
static mc_piece *take_piece(mc_piece *first, size_t count)
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

static bool has_free_text(const mc_hand_over *hand_over)
{
    const mc_piece *const texts = hand_over->pieces + MC_PIECE_INPUTS;
    size_t index = 0;
    while (index < MC_PIECE_TEXTS && texts[index].users > 0)
        index++;
    return index < MC_PIECE_TEXTS;
}

/// Locked: whether the event for which the scanner sleeps has occurred.
static bool scanner_can_go(const mc_hand_over *hand_over)
{
    const size_t batches = hand_over->batches_given - hand_over->batches_taken;
    switch (hand_over->scanner_waits) {
    case MC_SCANNER_RUNS: return false;
    case MC_SCANNER_WAITS_FOR_INPUT: return hand_over->inputs_given != hand_over->inputs_taken || hand_over->input_ended;
    case MC_SCANNER_WAITS_FOR_TEXT: return has_free_text(hand_over);
    case MC_SCANNER_WAITS_FOR_PLACE: return batches < MC_HAND_OVER_BATCHES;
    case MC_SCANNER_WAITS_FOR_SINK: return batches == 0;
    }
    return false;
}

/// Locked: whether the scanner should be woken. If so, the caller signals it, without the lock.
static bool is_to_be_woken(mc_hand_over *hand_over)
{
    const bool is_due = hand_over->input_ended || hand_over->batches_given - hand_over->batches_taken <= BATCHES_TO_WAKE
        || hand_over->inputs_given - hand_over->inputs_taken >= INPUTS_TO_WAKE;
    if (!hand_over->stopped && !(is_due && scanner_can_go(hand_over)))
        return false;
    hand_over->scanner_waits = MC_SCANNER_RUNS;
    return true;
}

static void unlock_and_wake_scanner(mc_hand_over *hand_over)
{
    const bool wakes = is_to_be_woken(hand_over);
    pthread_mutex_unlock(&hand_over->lock);
    if (wakes)
        pthread_cond_signal(&hand_over->for_scanner);
}

static void unlock_and_wake_import(mc_hand_over *hand_over)
{
    pthread_mutex_unlock(&hand_over->lock);
    pthread_cond_signal(&hand_over->for_import);
}

// ---- The scanner's thread ---------------------------------------------------------------------------------------------------

/// Locked.
static void sleep_for(mc_hand_over *hand_over, mc_scanner_waits reason)
{
    hand_over->scanner_waits = reason;
    while (hand_over->scanner_waits != MC_SCANNER_RUNS)
        pthread_cond_wait(&hand_over->for_scanner, &hand_over->lock);
}

mc_piece *mc_hand_over_next_input(mc_hand_over *hand_over)
{
    mc_piece *input = NULL;
    pthread_mutex_lock(&hand_over->lock);
    while (!hand_over->stopped && !hand_over->input_ended && hand_over->inputs_given == hand_over->inputs_taken)
        sleep_for(hand_over, MC_SCANNER_WAITS_FOR_INPUT);
    if (!hand_over->stopped && hand_over->inputs_given != hand_over->inputs_taken)
        input = hand_over->inputs[hand_over->inputs_taken++ % MC_PIECE_INPUTS];
    pthread_mutex_unlock(&hand_over->lock);
    return input;
}

void mc_hand_over_release_input(mc_hand_over *hand_over, mc_piece *input)
{
    pthread_mutex_lock(&hand_over->lock);
    input->users--;
    unlock_and_wake_import(hand_over);
}

mc_piece *mc_hand_over_next_text(mc_hand_over *hand_over, mc_piece *text)
{
    pthread_mutex_lock(&hand_over->lock);
    if (text != NULL)
        text->users--;
    mc_piece *next;
    while ((next = take_piece(hand_over->pieces + MC_PIECE_INPUTS, MC_PIECE_TEXTS)) == NULL && !hand_over->stopped)
        sleep_for(hand_over, MC_SCANNER_WAITS_FOR_TEXT);
    pthread_mutex_unlock(&hand_over->lock);
    return next;
}

bool mc_hand_over_give_batch(mc_hand_over *hand_over, const mc_row_batch *batch, mc_rows *rows, mc_piece *text, int64_t text_bytes)
{
    pthread_mutex_lock(&hand_over->lock);
    while (!hand_over->stopped && hand_over->batches_given - hand_over->batches_taken == MC_HAND_OVER_BATCHES)
        sleep_for(hand_over, MC_SCANNER_WAITS_FOR_PLACE);
    if (!hand_over->stopped) {
        mc_waiting_batch *const waiting = &hand_over->batches[hand_over->batches_given % MC_HAND_OVER_BATCHES];
        waiting->batch = *batch;
        waiting->text_bytes = text_bytes;
        waiting->text = text;
        if (text != NULL)
            text->users++;
        mc_rows_exchange(rows, &waiting->block);
        hand_over->batches_given++;
        pthread_cond_signal(&hand_over->for_import);
        while (text == NULL && !hand_over->stopped && hand_over->batches_given != hand_over->batches_taken)
            sleep_for(hand_over, MC_SCANNER_WAITS_FOR_SINK);
    }
    const bool stopped = hand_over->stopped;
    pthread_mutex_unlock(&hand_over->lock);
    return !stopped;
}

void mc_hand_over_finish(mc_hand_over *hand_over, mc_status status, const mc_error *error)
{
    pthread_mutex_lock(&hand_over->lock);
    hand_over->done = true;
    hand_over->status = status;
    hand_over->error = *error;
    unlock_and_wake_import(hand_over);
}

// ---- The import's thread ----------------------------------------------------------------------------------------------------

mc_piece *mc_hand_over_take_input(mc_hand_over *hand_over)
{
    pthread_mutex_lock(&hand_over->lock);
    mc_piece *const input = take_piece(hand_over->pieces, MC_PIECE_INPUTS);
    pthread_mutex_unlock(&hand_over->lock);
    return input;
}

void mc_hand_over_give_input(mc_hand_over *hand_over, mc_piece *input)
{
    pthread_mutex_lock(&hand_over->lock);
    hand_over->inputs[hand_over->inputs_given++ % MC_PIECE_INPUTS] = input;
    unlock_and_wake_scanner(hand_over);
}

void mc_hand_over_end_input(mc_hand_over *hand_over)
{
    pthread_mutex_lock(&hand_over->lock);
    hand_over->input_ended = true;
    unlock_and_wake_scanner(hand_over);
}

static bool has_free_input(const mc_hand_over *hand_over)
{
    size_t index = 0;
    while (index < MC_PIECE_INPUTS && hand_over->pieces[index].users > 0)
        index++;
    return index < MC_PIECE_INPUTS;
}

mc_waiting_batch *mc_hand_over_next_batch(mc_hand_over *hand_over, bool until_done, mc_status *status, mc_error *error)
{
    mc_waiting_batch *waiting = NULL;
    pthread_mutex_lock(&hand_over->lock);
    for (;;) {
        if (hand_over->batches_given != hand_over->batches_taken) {
            waiting = &hand_over->batches[hand_over->batches_taken % MC_HAND_OVER_BATCHES];
            break;
        }
        if (hand_over->done) {
            *status = hand_over->status;
            if (hand_over->status != MC_OK && error != NULL)
                *error = hand_over->error;
            break;
        }
        if (!until_done && has_free_input(hand_over))
            break;
        // The scanner runs: it was woken when BATCHES_TO_WAKE batches were left, or earlier.
        pthread_cond_wait(&hand_over->for_import, &hand_over->lock);
    }
    pthread_mutex_unlock(&hand_over->lock);
    return waiting;
}

void mc_hand_over_release_batch(mc_hand_over *hand_over, const mc_waiting_batch *waiting)
{
    pthread_mutex_lock(&hand_over->lock);
    if (waiting->text != NULL)
        waiting->text->users--;
    hand_over->batches_taken++;
    unlock_and_wake_scanner(hand_over);
}

void mc_hand_over_stop(mc_hand_over *hand_over)
{
    pthread_mutex_lock(&hand_over->lock);
    hand_over->stopped = true;
    unlock_and_wake_scanner(hand_over);
}
