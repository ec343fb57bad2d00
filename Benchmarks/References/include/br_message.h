/// br_message.h: the references of JSON messages: jansson, which reads a message into a tree and writes a tree.
///
/// Order of calls: open, then any number of parse and write, then close. One thread.
#ifndef BR_MESSAGE_H
#define BR_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "br_data_set.h"

typedef struct br_message br_message;

/// Makes the message `{"header": {...}, "content": {"rows": [...]}}` with the rows of a data set, as text and as a tree.
/// NULL when memory is short. The caller owns the result.
br_message *br_message_open(const br_data_set *data);
void br_message_close(br_message *message);

/// The text. Borrowed.
const char *br_message_text(const br_message *message, size_t *length);

/// Parses `text` into a tree, reads the header's members and every value of every row, and frees the tree. The sum has integers, the
/// length and the first byte of strings, the bits of doubles, and booleans as 1 and 0. False when jansson refuses the text.
bool br_message_parse(const char *text, size_t length, int64_t *rows, uint64_t *sum);

/// Writes the tree as compact text, and frees the text. Returns its length, 0 when memory is short.
size_t br_message_write(const br_message *message);

#endif
