/// MobileCore.h: the whole C interface of the core.
#ifndef MOBILE_CORE_H
#define MOBILE_CORE_H

#include "mc_blob.h"
#include "mc_blob_reader.h"
#include "mc_blob_writer.h"
#include "mc_changes.h"
#include "mc_column_value.h"
#include "mc_cursor.h"
#include "mc_decimal.h"
#include "mc_error.h"
#include "mc_exact.h"
#include "mc_export.h"
#include "mc_import.h"
#include "mc_json.h"
#include "mc_json_writer.h"
#include "mc_message.h"
#include "mc_message_tree.h"
#include "mc_message_writer.h"
#include "mc_page_select.h"
#include "mc_page_writer.h"
#include "mc_plain_time.h"
#include "mc_pool.h"
#include "mc_row_digest.h"
#include "mc_row_page.h"
#include "mc_rows.h"
#include "mc_statement.h"
#include "mc_statement_leaves.h"
#include "mc_statistics.h"
#include "mc_text_check.h"
#include "mc_text_list.h"
#include "mc_value.h"
#include "mc_vfs.h"
#include "mc_zip.h"

/// The version of the core.
#define MC_VERSION "1.0.0"

#endif
