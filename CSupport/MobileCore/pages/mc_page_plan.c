/// mc_page_plan.c: proves from a statement's program that it may fill pages by itself.
///
/// The program is the output of EXPLAIN. The proof holds for one shape only, regardless of the rest of the statement:
///
///     ...                                  loops and all other conditions
///     Function  0 a r  mc_fill_page(-1)    once in the program
///     IfNot     r     next                 directly after it
///     Column, Rowid, Copy...               makes the values of the result; no jump out of this part
///     ResultRow                            once in the program
///
/// So a row that reaches the function would become a row of the result at once if the function returned true: no condition follows
/// it. A row that reaches the result without the function would be returned by the step. And no instruction of the program keeps
/// rows to return them later or in another order. An unknown instruction refutes the proof: EXPLAIN's output may change with SQLite,
/// results may not.
#include <limits.h>
#include <string.h>

#include "pages/mc_page_fill.h"

enum { COLUMN_ADDRESS = 0, COLUMN_OPCODE = 1, COLUMN_P1 = 2, COLUMN_P2 = 3, COLUMN_P3 = 4, COLUMN_P4 = 5 };

/// The state of the search.
typedef struct proof {
    enum { BEFORE_FUNCTION, AT_JUMP, BEFORE_RESULT, BEHIND_RESULT, REFUTED } state;
    int result_register;
    int farthest_jump;  // after the function: the farthest target other than the next instruction
} proof;

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}
#define IS_AMONG(name, names) is_among(name, names, sizeof(names) / sizeof(names)[0])

/// Instructions that keep rows, count them, or run parts of the program more than once or out of line.
static bool keeps_or_counts_rows(const char *opcode)
{
    static const char *const names[] = {
        "OpenEphemeral", "OpenAutoindex", "OpenPseudo",  "OpenDup",    "SorterOpen", "SorterInsert", "SorterSort",
        "SorterData",    "Sort",          "SorterNext",  "Gosub",      "Return",     "BeginSubrtn",  "Yield",
        "InitCoroutine", "EndCoroutine",  "RowSetAdd",   "RowSetTest", "RowSetRead", "AggStep",      "AggStep1",
        "AggInverse",    "AggValue",      "AggFinal",    "Program",    "Filter",     "FilterAdd",    "DecrJumpZero",
        "IfPos",         "IfNotZero",     "OffsetLimit", "Insert",     "IdxInsert",  "Delete",       "VUpdate",
    };
    return IS_AMONG(opcode, names);
}

/// Instructions that make a value and continue with the next instruction.
static bool makes_value(const char *opcode)
{
    static const char *const names[] = {
        "Column",    "Rowid",      "IdxRowid",   "Copy",      "SCopy",      "Integer", "Int64",    "Real",     "RealAffinity", "String8",
        "String",    "Blob",       "Null",       "Variable",  "Cast",       "Concat",  "Add",      "Subtract", "Multiply",     "Divide",
        "Remainder", "BitAnd",     "BitOr",      "ShiftLeft", "ShiftRight", "BitNot",  "Function", "PureFunc", "Affinity",     "CollSeq",
        "Noop",      "FinishSeek", "ReleaseReg", "Not",       "And",        "Or",      "IsTrue",   "SoftNull", "Move",
    };
    return IS_AMONG(opcode, names);
}

static bool is_fill(const char *opcode, const char *p4)
{
    return strcmp(opcode, "Function") == 0 && p4 != NULL && strncmp(p4, MC_PAGE_FUNCTION "(", sizeof MC_PAGE_FUNCTION) == 0;
}

/// Examines one instruction.
static void look_at(proof *proof, sqlite3_stmt *program)
{
    const char *const opcode = (const char *)sqlite3_column_text(program, COLUMN_OPCODE);
    const char *const p4 = (const char *)sqlite3_column_text(program, COLUMN_P4);
    const int address = sqlite3_column_int(program, COLUMN_ADDRESS), p2 = sqlite3_column_int(program, COLUMN_P2);
    if (opcode == NULL || keeps_or_counts_rows(opcode)) {
        proof->state = REFUTED;
        return;
    }
    const bool fills = is_fill(opcode, p4), is_result = strcmp(opcode, "ResultRow") == 0;
    switch (proof->state) {
    case BEFORE_FUNCTION:
        proof->result_register = sqlite3_column_int(program, COLUMN_P3);
        if (fills || is_result)
            proof->state = fills ? AT_JUMP : REFUTED;
        break;
    case AT_JUMP:
        proof->farthest_jump = address + 1;
        proof->state =
            strcmp(opcode, "IfNot") == 0 && sqlite3_column_int(program, COLUMN_P1) == proof->result_register ? BEFORE_RESULT : REFUTED;
        break;
    case BEFORE_RESULT:
        if (is_result)
            proof->state = proof->farthest_jump <= address ? BEHIND_RESULT : REFUTED;
        else if (fills || (!makes_value(opcode) && p2 <= address))
            proof->state = REFUTED;
        else if (!makes_value(opcode) && p2 > proof->farthest_jump)
            proof->farthest_jump = p2;  // a jump, such as in CASE: forward, and not beyond the result
        break;
    default:
        if (fills || is_result)
            proof->state = REFUTED;
        break;
    }
}

static bool prove(const mc_statement *statement)
{
    char *const sql = sqlite3_mprintf("EXPLAIN %s", statement->sql);
    sqlite3_stmt *program = NULL;
    proof proof = {.state = BEFORE_FUNCTION};
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(statement->connection->db, sql, -1, &program, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(program)) == SQLITE_ROW && proof.state != REFUTED)
            look_at(&proof, program);
    }
    (void)sqlite3_finalize(program);
    sqlite3_free(sql);
    return code == SQLITE_DONE && proof.state == BEHIND_RESULT;
}

/// Prepares the statement again from its text, without values. When SQLite itself prepares a statement again, the plan depends on
/// the bound values, which EXPLAIN does not see.
static bool prepare_afresh(mc_statement *statement)
{
    sqlite3_stmt *fresh = NULL;
    if (statement->length > INT_MAX
        || sqlite3_prepare_v3(statement->connection->db, statement->sql, (int)statement->length, SQLITE_PREPARE_PERSISTENT, &fresh, NULL)
            != SQLITE_OK)
        return false;
    (void)sqlite3_finalize(statement->handle);
    statement->handle = fresh;
    statement->plan_checked = false;
    return true;
}

bool mc_page_plan_check(mc_statement *statement)
{
    mc_statement_reset(statement);
    if (mc_page_plan_number(statement) > 0 && !prepare_afresh(statement))
        return false;
    if (!statement->plan_checked) {
        statement->fills_pages = prove(statement);
        statement->plan_checked = true;
    }
    return statement->fills_pages;
}
