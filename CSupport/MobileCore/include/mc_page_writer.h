/// mc_page_writer.h: writes the rows of a page as JSON text.
#ifndef MC_PAGE_WRITER_H
#define MC_PAGE_WRITER_H

#include "mc_json_writer.h"
#include "mc_row_page.h"
#include "mc_rows.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Writes an array with an array for each row of a page. `columns` are the rules of the page's columns as in an export (mc_export.h), as
/// many as the page has; NULL: each value is written by its storage.
/// Fails with MC_ERROR_CORRUPT, MC_ERROR_TYPE (a value that its column's rule cannot write; `row` of the error is the row's number from 1)
/// and as the functions of mc_json_writer.h do.
MC_MUST_USE mc_status mc_json_write_rows(mc_json_writer *writer, const mc_row_page *page, const mc_column *MC_NULLABLE columns,
                                         mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
