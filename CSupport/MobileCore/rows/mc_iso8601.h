/// mc_iso8601.h: dates and times as ISO 8601 text. Internal.
#ifndef MC_ISO8601_H
#define MC_ISO8601_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The one form in which a date and time is stored: `2026-05-17T10:00:00.000Z`. Text order is time order.
enum { MC_ISO8601_STORED = 24 };

/// Returns whether the text is a date of the Gregorian calendar, `2026-05-17`.
bool mc_iso8601_is_date(const uint8_t *text, size_t length);

/// Returns whether the text is a time of day, `10:00:00`.
bool mc_iso8601_is_time(const uint8_t *text, size_t length);

/// Returns whether the text is a date and time in UTC: `2026-05-17T10:00:00`, a fraction of any length and `Z`, the latter two optional.
bool mc_iso8601_is_date_time(const uint8_t *text, size_t length);

/// Returns whether such a text is already in the stored form.
bool mc_iso8601_is_stored(const uint8_t *text, size_t length);

/// Writes such a text in the stored form, MC_ISO8601_STORED bytes; the fraction is cut to milliseconds.
void mc_iso8601_store(const uint8_t *text, size_t length, uint8_t *out);

#endif
