/// mc_export_value.h: writes one value of a row as JSON. Internal to the exporter.
#ifndef MC_EXPORT_VALUE_H
#define MC_EXPORT_VALUE_H

#include <sqlite3.h>

#include "json/mc_byte_buffer.h"
#include "mc_rows.h"

/// Appends the value. On a failure other than MC_ERROR_NO_MEMORY `*problem` says what was found.
/// Fails with MC_ERROR_TYPE, MC_ERROR_CORRUPT, MC_ERROR_NO_MEMORY.
mc_status mc_export_append_value(mc_byte_buffer *buffer, sqlite3_value *value, const mc_column *rule, const char **problem);

#endif
