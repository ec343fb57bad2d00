/// mc_text_check.c: the check of texts, in C and as SQLite calls it.
#include "mc_text_check.h"

#include <stdint.h>
#include <string.h>

#include "base/mc_fail.h"
#include "json/mc_json_scan.h"
#include "json/mc_text_check_register.h"

bool mc_text_is_utf8(const char *text, size_t length)
{
    const uint8_t *at = (const uint8_t *)text, *const end = at + length;
    mc_json_stop stop;
    while (at < end) {
        uint64_t word;
        if (end - at >= 8 && (memcpy(&word, at, 8), (word & UINT64_C(0x8080808080808080)) == 0)) {
            at += 8;
        } else if (*at < 0x80) {
            at++;
        } else {
            at = mc_json_utf8_end(at, end, &stop);
            if (at == NULL)
                return false;
        }
    }
    return true;
}

static void check(sqlite3_context *context, int count, sqlite3_value **values)
{
    for (int i = 0; i < count; i++) {
        const int type = sqlite3_value_type(values[i]);
        if (type == SQLITE_BLOB) {
            sqlite3_result_error(context, "bytes where a text is expected", -1);
            return;
        }
        if (type != SQLITE_TEXT)
            continue;
        const char *const text = (const char *)sqlite3_value_text(values[i]);
        if (text == NULL) {
            sqlite3_result_error_nomem(context);
            return;
        }
        if (!mc_text_is_utf8(text, (size_t)sqlite3_value_bytes(values[i]))) {
            sqlite3_result_error(context, "a text that is not UTF-8", -1);
            return;
        }
    }
    sqlite3_result_int(context, 1);
}

mc_status mc_text_check_register(sqlite3 *db, mc_error *error)
{
    const int code = sqlite3_create_function_v2(db, MC_TEXT_CHECK, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, check,
                                                NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register the check of texts");
}
