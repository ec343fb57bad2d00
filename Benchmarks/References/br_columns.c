#include "br_columns.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "br_checksum.h"
#include "br_random.h"

/// More than any value takes, as JSON and as a value: the longest string has 6 words of 7 letters.
enum { VALUE_BYTES_MAX = 64 };

struct br_columns {
    size_t rows;
    int integer_count, real_count, text_count;
    int64_t *integers;
    double *reals;
    br_text *texts;
    char *bytes;
    size_t bytes_length;
    char *json;
    size_t json_length;
};

static char *put_number(char *out, br_columns *data, size_t row, int column, uint64_t *state)
{
    if (column < data->integer_count) {
        const int64_t value =
            column == 0 ? (int64_t)row + 1 : (int64_t)br_below(state, UINT64_C(1) << (8 + 4 * (unsigned)column % 32)) - 100;
        data->integers[row * (size_t)data->integer_count + (size_t)column] = value;
        return out + sprintf(out, "%" PRId64, value);
    }
    // The value is the double nearest to its digits in the text.
    char text[VALUE_BYTES_MAX];
    (void)snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64, br_below(state, 100000), br_below(state, 1000));
    data->reals[row * (size_t)data->real_count + (size_t)(column - data->integer_count)] = strtod(text, NULL);
    return out + sprintf(out, "%s", text);
}

static char *put_text(char *out, br_columns *data, size_t row, int column, uint64_t *state)
{
    char *const text = data->bytes + data->bytes_length;
    const size_t length = br_put_words(text, state, 1 + (int)br_below(state, 6));
    data->texts[row * (size_t)data->text_count + (size_t)column] = (br_text){text, length};
    data->bytes_length += length;
    return out + sprintf(out, "\"%.*s\"", (int)length, text);
}

br_columns *br_columns_make(uint64_t seed, size_t rows, int integers, int reals, int texts)
{
    br_columns *data = calloc(1, sizeof *data);
    const size_t columns = (size_t)(integers + reals + texts);
    if (data == NULL || integers < 1)
        goto failed;
    *data = (br_columns){.rows = rows, .integer_count = integers, .real_count = reals, .text_count = texts};
    data->integers = calloc(rows * (size_t)integers, sizeof *data->integers);
    data->reals = calloc(rows * (size_t)reals + 1, sizeof *data->reals);
    data->texts = calloc(rows * (size_t)texts + 1, sizeof *data->texts);
    data->bytes = malloc(rows * (size_t)texts * VALUE_BYTES_MAX + 1);
    data->json = malloc(rows * (columns * VALUE_BYTES_MAX + 4) + 4);
    if (data->integers == NULL || data->reals == NULL || data->texts == NULL || data->bytes == NULL || data->json == NULL)
        goto failed;

    uint64_t state = seed * 2 + 1;
    char *out = data->json;
    for (size_t row = 0; row < rows; row++) {
        out += sprintf(out, row == 0 ? "[" : ",\n");
        for (int column = 0; column < (int)columns; column++) {
            *out++ = column == 0 ? '[' : ',';
            const int text = column - integers - reals;
            out = text < 0 ? put_number(out, data, row, column, &state) : put_text(out, data, row, text, &state);
        }
        *out++ = ']';
    }
    *out++ = ']';
    data->json_length = (size_t)(out - data->json);
    return data;

failed:
    br_columns_free(data);
    return NULL;
}

void br_columns_free(br_columns *data)
{
    if (data == NULL)
        return;
    free(data->integers);
    free(data->reals);
    free(data->texts);
    free(data->bytes);
    free(data->json);
    free(data);
}

const char *br_columns_json(const br_columns *data, size_t *length)
{
    *length = data->json_length;
    return data->json;
}

uint64_t br_columns_checksum(const br_columns *data)
{
    uint64_t sum = 0;
    for (size_t row = 0; row < data->rows; row++) {
        for (int i = 0; i < data->integer_count; i++)
            sum = br_checksum_number(sum, data->integers[row * (size_t)data->integer_count + (size_t)i]);
        for (int i = 0; i < data->real_count; i++) {
            int64_t bits;
            memcpy(&bits, &data->reals[row * (size_t)data->real_count + (size_t)i], sizeof bits);
            sum = br_checksum_number(sum, bits);
        }
        for (int i = 0; i < data->text_count; i++) {
            const br_text text = data->texts[row * (size_t)data->text_count + (size_t)i];
            sum = br_checksum_bytes(sum, text.bytes, text.length);
        }
    }
    return sum;
}

bool br_insert_columns(br_insert *insert, const br_columns *data)
{
    sqlite3_stmt *const statement = br_insert_statement(insert);
    const int64_t *integer = data->integers;
    const double *real = data->reals;
    const br_text *text = data->texts;
    for (size_t row = 0; row < data->rows; row++) {
        int parameter = 1;
        for (int i = 0; i < data->integer_count; i++)
            sqlite3_bind_int64(statement, parameter++, *integer++);
        for (int i = 0; i < data->real_count; i++)
            sqlite3_bind_double(statement, parameter++, *real++);
        for (int i = 0; i < data->text_count; i++, text++)
            sqlite3_bind_text(statement, parameter++, text->bytes, (int)text->length, SQLITE_STATIC);
        if (!br_insert_step(insert))
            return false;
    }
    return true;
}
