/// mc_plain_time.h: texts that are plainly times, in another form, in SQL.
///
/// SQLite's strftime reads all that may be a time and computes with it, which takes several times as long as the text of a column that is a
/// time already. Every connection of a pool has this function, without a call:
///
///     coalesce(mc_plain_time(seen, 3), strftime('%Y-%m-%dT%H:%M:%fZ', seen))
///     mc_plain_time(value, form)     the time in one of the forms below; NULL for a value that is not plainly a time, and for NULL
///
/// A plain time is a text `YYYY-MM-DD`, `YYYY-MM-DD HH:MM`, `YYYY-MM-DD HH:MM:SS` or `YYYY-MM-DD HH:MM:SS.SSS`, with a T in place of the space
/// where there is a time of day, one to three digits after the point, and a final Z or none; the date exists. In the form of a time of day, a
/// text without the date is a plain time as well. For these texts, the result is that of strftime. Only statements of the program may call it, no
/// view and no trigger.
#ifndef MC_PLAIN_TIME_H
#define MC_PLAIN_TIME_H

#define MC_PLAIN_TIME "mc_plain_time"

enum {
    MC_PLAIN_TIME_DATE = 1,       // 2026-03-31
    MC_PLAIN_TIME_OF_DAY = 2,     // 23:59:58, without the fraction
    MC_PLAIN_TIME_DATE_TIME = 3,  // 2026-03-31T23:59:58.123Z
};

#endif
