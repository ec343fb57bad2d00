/// mc_export_limit.h: whether a column may give a value. Internal to the exporter.
#ifndef MC_EXPORT_LIMIT_H
#define MC_EXPORT_LIMIT_H

#include "mc_export.h"
#include "rows/mc_stored_value.h"

/// Fails with MC_ERROR_TYPE for a value beyond the limits; `*problem` says then what was expected. Values that the type cannot write pass: their writer
/// refuses them.
mc_status mc_export_limit_check(const mc_export_limit *limit, const mc_stored *value, mc_column_type type, const char **problem);

/// Whether a value is within the limits for sure, which most values are: a call costs as much as the check.
static inline bool mc_export_limit_holds(const mc_export_limit *limit, const mc_stored *value, mc_column_type type)
{
    if (value->storage == SQLITE_NULL)
        return !limit->required;
    if (type >= MC_COLUMN_DATE && type <= MC_COLUMN_DATE_TIME)
        return false;
    switch (value->storage) {
    case SQLITE_INTEGER: return type != MC_COLUMN_INTEGER || (value->integer >= limit->least && value->integer <= limit->greatest);
    case SQLITE_FLOAT: return type != MC_COLUMN_REAL || !limit->is_single;
    case SQLITE_TEXT:
        // A text of fewer bytes has fewer characters.
        return type == MC_COLUMN_DECIMAL || (type == MC_COLUMN_TEXT && limit->shortest == 0 && value->length <= limit->longest);
    default: return false;
    }
}

#endif
