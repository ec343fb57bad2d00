#include "br_data_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "br_checksum.h"
#include "br_random.h"

static const char *const PLACES[] = {"Zürich", "München", "Kraków", "São Paulo", "東京", "Łódź", "Reykjavík"};

/// More than the longest row takes, as JSON and as values: the longest string has 8 words of 7 letters.
enum { ROW_BYTES_MAX = 512 };

struct br_data_set {
    size_t count;
    br_row *rows;
    size_t *key_offsets;  // the offset of each row's key in `json`
    char *texts;
    size_t texts_length;
    char *json;
    size_t json_length;
};

static br_text keep_text(br_data_set *data, size_t length)
{
    const br_text text = {data->texts + data->texts_length, length};
    data->texts_length += length;
    return text;
}

static void make_row(br_data_set *data, br_row *row, uint64_t *state)
{
    row->number = 1 + (int64_t)br_below(state, UINT64_C(1) << 31);
    row->small = (int64_t)br_below(state, 101);
    row->price = (int64_t)br_below(state, 1000000);
    row->rate = (int64_t)br_below(state, 1000000);

    char *end = data->texts + data->texts_length;
    row->moment = keep_text(
        data, (size_t)snprintf(end, ROW_BYTES_MAX, "2026-%02d-%02dT10:00:00", 1 + (int)br_below(state, 12), 1 + (int)br_below(state, 28)));
    row->flag = br_below(state, 2) == 1;
    row->texts[0] = keep_text(data, br_put_words(data->texts + data->texts_length, state, 3));
    row->texts[1] = keep_text(data, br_put_words(data->texts + data->texts_length, state, 8));

    end = data->texts + data->texts_length;
    size_t length = (size_t)snprintf(end, ROW_BYTES_MAX, "say \"%s\"\n", BR_WORDS[br_below(state, BR_WORD_COUNT)]);
    row->texts[2] = keep_text(data, length + br_put_words(end + length, state, 3));

    end = data->texts + data->texts_length;
    length = (size_t)snprintf(end, ROW_BYTES_MAX, "%s ", PLACES[br_below(state, sizeof PLACES / sizeof *PLACES)]);
    row->texts[3] = keep_text(data, length + br_put_words(end + length, state, 2));

    end = data->texts + data->texts_length;
    const uint64_t high = br_random(state);
    row->texts[4] = keep_text(data, (size_t)snprintf(end, ROW_BYTES_MAX, "%016" PRIx64 "%016" PRIx64, high, br_random(state)));
}

static size_t put_json_string(char *out, br_text text)
{
    size_t length = 0;
    out[length++] = '"';
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == '"' || text.bytes[i] == '\n')
            out[length++] = '\\';
        out[length++] = text.bytes[i] == '\n' ? 'n' : text.bytes[i];
    }
    out[length++] = '"';
    return length;
}

static void put_json_row(br_data_set *data, size_t index)
{
    const br_row *row = &data->rows[index];
    char *out = data->json + data->json_length;
    size_t length = index > 0 ? (size_t)sprintf(out, ",\n[") : (size_t)sprintf(out, "[[");
    data->key_offsets[index] = data->json_length + length;
    length += (size_t)sprintf(out + length, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ".%02" PRId64 ",0.%06" PRId64 ",", row->key,
                              row->number, row->small, row->price / 100, row->price % 100, row->rate);
    length += put_json_string(out + length, row->moment);
    length += (size_t)sprintf(out + length, row->flag ? ",true" : ",false");
    for (int i = 0; i < 5; i++) {
        out[length++] = ',';
        length += put_json_string(out + length, row->texts[i]);
    }
    out[length++] = ']';
    data->json_length += length;
}

br_data_set *br_data_set_make(uint64_t seed, size_t count, int64_t first_key)
{
    br_data_set *data = calloc(1, sizeof *data);
    if (data == NULL || count > SIZE_MAX / ROW_BYTES_MAX / 2)
        goto failed;
    data->count = count;
    data->rows = calloc(count, sizeof *data->rows);
    data->key_offsets = calloc(count, sizeof *data->key_offsets);
    data->texts = malloc(count * ROW_BYTES_MAX);
    data->json = malloc(count * ROW_BYTES_MAX + 4);
    if (data->rows == NULL || data->key_offsets == NULL || data->texts == NULL || data->json == NULL)
        goto failed;

    uint64_t state = seed * 2 + 1;  // never 0, which xorshift cannot leave
    for (size_t i = 0; i < count; i++) {
        data->rows[i].key = first_key + (int64_t)i;
        make_row(data, &data->rows[i], &state);
        put_json_row(data, i);
    }
    data->json[data->json_length++] = ']';
    return data;

failed:
    br_data_set_free(data);
    return NULL;
}

void br_data_set_free(br_data_set *data)
{
    if (data == NULL)
        return;
    free(data->rows);
    free(data->key_offsets);
    free(data->texts);
    free(data->json);
    free(data);
}

size_t br_data_set_count(const br_data_set *data)
{
    return data->count;
}

const br_row *br_data_set_rows(const br_data_set *data)
{
    return data->rows;
}

const char *br_data_set_json(const br_data_set *data, size_t *length)
{
    *length = data->json_length;
    return data->json;
}

static int digits(int64_t key)
{
    return snprintf(NULL, 0, "%" PRId64, key);
}

bool br_data_set_rekey(br_data_set *data, int64_t first_key)
{
    const int64_t last_key = first_key + (int64_t)data->count - 1;
    const int width = digits(first_key);
    if (data->count == 0 || digits(last_key) != width || digits(data->rows[0].key) != width
        || digits(data->rows[data->count - 1].key) != width)
        return false;
    for (size_t i = 0; i < data->count; i++) {
        char text[24];
        data->rows[i].key = first_key + (int64_t)i;
        snprintf(text, sizeof text, "%" PRId64, data->rows[i].key);
        memcpy(data->json + data->key_offsets[i], text, (size_t)width);
    }
    return true;
}

uint64_t br_data_set_checksum(const br_data_set *data, uint64_t sum)
{
    for (size_t i = 0; i < data->count; i++) {
        const br_row *row = &data->rows[i];
        const int64_t numbers[] = {row->key, row->number, row->small, row->price, row->rate};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            sum = br_checksum_number(sum, numbers[n]);
        sum = br_checksum_bytes(sum, row->moment.bytes, row->moment.length);
        sum = br_checksum_number(sum, row->flag);
        for (int n = 0; n < 5; n++)
            sum = br_checksum_bytes(sum, row->texts[n].bytes, row->texts[n].length);
    }
    return sum;
}
