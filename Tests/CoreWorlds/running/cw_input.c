/// cw_input.c: reads the import of a program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "running/cw_import.h"

/// Reads "name:3,other:4".
static size_t read_assigned(const char *line, const char *key, cw_assigned *assigned)
{
    char list[CW_PATH], element[CW_NAME];
    const char *at = list;
    size_t count = 0;
    (void)cw_setting(line, key, list, sizeof list);
    while (count < CW_ASSIGNED_MOST && cw_next_element(&at, element, sizeof element)) {
        const size_t length = strcspn(element, ":");
        if (element[length] == ':')
            assigned[count].value = strtoll(element + length + 1, NULL, 10);
        element[length] = '\0';
        (void)snprintf(assigned[count++].column, CW_NAME, "%s", element);
    }
    return count;
}

static void read_columns(const char *line, cw_member *member)
{
    char list[CW_PATH], element[CW_NAME];
    const char *at = list;
    (void)cw_setting(line, "cols", list, sizeof list);
    while (member->column_count < CW_COLUMNS_MOST && cw_next_element(&at, element, sizeof element)) {
        const size_t length = strcspn(element, ":");
        (void)snprintf(member->types[member->column_count], CW_NAME, "%s",
                       element[length] == ':' ? element + length + 1 : "any");
        element[length] = '\0';
        (void)snprintf(member->columns[member->column_count++], CW_NAME, "%s", element);
    }
}

static bool read_keys(const char *line, cw_member *member)
{
    char list[CW_PATH];
    const char *at = list;
    (void)cw_setting(line, "keys", list, sizeof list);
    while (member->key_count < CW_KEYS_MOST && cw_next_element(&at, member->keys[member->key_count], CW_NAME)) {
        size_t column = 0;
        while (column < member->column_count && strcmp(member->columns[column], member->keys[member->key_count]) != 0)
            column++;
        if (column == member->column_count)
            return false;
        member->key_columns[member->key_count++] = column;
    }
    return member->key_count > 0;
}

/// Finds the member of a line, and makes it the first time. Returns CW_MEMBERS_MOST if that is impossible.
static size_t take_member(cw_input *input, const char *line)
{
    char name[CW_NAME], table[CW_NAME], list[CW_PATH];
    const char *at = list;
    (void)cw_setting(line, "table", table, sizeof table);
    if (!cw_setting(line, "name", name, sizeof name))
        (void)snprintf(name, sizeof name, "%s", table);
    for (size_t index = 0; index < input->member_count; index++) {
        if (strcmp(input->members[index].name, name) == 0)
            return index;
    }
    if (input->member_count == CW_MEMBERS_MOST)
        return CW_MEMBERS_MOST;
    cw_member *const member = &input->members[input->member_count];
    *member = (cw_member){0};
    (void)snprintf(member->name, CW_NAME, "%s", name);
    (void)snprintf(member->table, CW_NAME, "%s", table);
    (void)cw_setting(line, "mode", member->mode, CW_NAME);
    (void)cw_setting(line, "pending", member->pending, CW_NAME);
    (void)cw_setting(line, "large", list, sizeof list);
    while (member->large_count < CW_KEYS_MOST && cw_next_element(&at, member->large[member->large_count], CW_NAME))
        member->large_count++;
    read_columns(line, member);
    member->on_insert_count = read_assigned(line, "insert", member->on_insert);
    member->assigned_count = read_assigned(line, "assign", member->assigned);
    return read_keys(line, member) ? input->member_count++ : CW_MEMBERS_MOST;
}

static void add_row(cw_input *input, size_t member, const char *text, size_t length)
{
    int64_t number = 1;
    if (input->row_count == input->row_capacity) {
        input->row_capacity = input->row_capacity * 2 + 16;
        input->rows = cw_grow(input->rows, input->row_capacity, sizeof *input->rows);
    }
    for (size_t row = input->row_count; row-- > 0 && input->rows[row].input_text == input->text_count;) {
        if (input->rows[row].member == member) {
            number = input->rows[row].number + 1;
            break;
        }
    }
    input->rows[input->row_count++] = (cw_input_row){
        .text = cw_copy(text, length), .member = member, .number = number, .input_text = input->text_count};
}

/// Adds the rows of `*5000 from=10 [#,"v#"]`, where # is the number.
static void add_rows(cw_input *input, size_t member, const char *line)
{
    const long count = strtol(line + 1, NULL, 10);
    const int64_t from = cw_number(line, "from", 1);
    const char *const pattern = strchr(line, '[');
    cw_text text = {0};
    for (long row = 0; pattern != NULL && row < count && row < 20000; row++) {
        cw_clear(&text);
        for (const char *at = pattern; *at != '\0'; at++) {
            if (*at == '#')
                cw_add(&text, "%lld", (long long)from + row);
            else
                cw_add_bytes(&text, at, 1);
        }
        add_row(input, member, text.bytes, text.length);
    }
    cw_text_free(&text);
}

bool cw_input_read(cw_run *run, size_t line, cw_input *input)
{
    const cw_program *const program = run->program;
    size_t member = CW_MEMBERS_MOST;
    *input = (cw_input){.line = program->lines[line].text};
    for (size_t part = line + 1; part < program->count && cw_is_part(program->lines[part].text); part++) {
        const char *const text = program->lines[part].text;
        if (!program->lines[part].is_kept)
            continue;
        if (cw_is(text, "member"))
            member = take_member(input, text);
        else if (cw_is(text, "text"))
            input->text_count++;
        else if (cw_is(text, "cancel"))
            input->is_cancelled = true;
        else if (member < CW_MEMBERS_MOST && text[1] == '*')
            add_rows(input, member, text + 1);
        else if (member < CW_MEMBERS_MOST)
            add_row(input, member, text + 1, strlen(text + 1));
    }
    input->text_count++;
    return input->member_count > 0;
}

void cw_input_free(cw_input *input)
{
    for (size_t row = 0; row < input->row_count; row++)
        free(input->rows[row].text);
    free(input->rows);
    *input = (cw_input){0};
}

void cw_outcome_note(cw_outcome *outcome, uint8_t change)
{
    if (outcome->change_count == outcome->change_capacity) {
        outcome->change_capacity = outcome->change_capacity * 2 + 64;
        outcome->changes = cw_grow(outcome->changes, outcome->change_capacity, 1);
    }
    outcome->changes[outcome->change_count++] = change;
}
