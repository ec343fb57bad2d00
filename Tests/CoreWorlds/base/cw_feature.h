/// cw_feature.h: what a world may have, and the faults of the core that are known and not repaired yet.
#ifndef CW_FEATURE_H
#define CW_FEATURE_H

#include "base/cw_text.h"

/// A feature has met another one if a world did both. The names are those of `cw_feature_name`, and of the setting
/// `has` of tables.
typedef enum cw_feature {
    CW_ROWID_KEY,
    CW_OTHER_KEY,
    CW_COMPOSITE_KEY,
    CW_WITHOUT_ROWID,
    CW_STRICT,
    CW_GENERATED,
    CW_COLLATION,
    CW_DEFAULT,
    CW_CHECK,
    CW_TRIGGER,
    CW_INDEX,
    CW_PARTIAL_INDEX,
    CW_UNIQUE_INDEX,
    CW_CONFLICT_CLAUSE,
    CW_FOREIGN_KEY,
    CW_VIEW,
    CW_ATTACHED,
    CW_TEMPORARY,
    CW_UTF16,
    CW_SCHEMA_CHANGE,
    CW_INSERT,
    CW_UPSERT,
    CW_DELETE,
    CW_MEMBERS,
    CW_TEXTS,
    CW_OBSERVED_IMPORT,
    CW_PENDING,
    CW_ON_INSERT,
    CW_DEFLATED,
    CW_SMALL_CHUNKS,
    CW_OBJECTS,
    CW_SECOND_THREAD,
    CW_COMMITS,
    CW_BIG_IMPORT,
    CW_REFUSED_IMPORT,
    CW_CANCELLED_IMPORT,
    CW_LARGE_COLUMN,
    CW_OBSERVER,
    CW_TRANSACTION,
    CW_ROLLBACK,
    CW_SAVEPOINT,
    CW_FAILED_STATEMENT,
    CW_PREPARED,
    CW_PAGE,
    CW_CURSOR,
    CW_CURSOR_JOIN,
    CW_CURSOR_VIEW,
    CW_CURSOR_UNION,
    CW_CURSOR_MIXED_ORDER,
    CW_CURSOR_CHANGES,
    CW_LARGE_VALUE,
    CW_ROLLED_BACK_WRITER,
    CW_SECOND_POOL,
    CW_NESTED,
    CW_TICKET,
    CW_SNAPSHOT,
    CW_FILE_FAILURE,
    CW_POWER_CUT,
    CW_BACKUP,
    CW_IN_MEMORY,
    CW_FEATURES
} cw_feature;

const char *cw_feature_name(cw_feature feature);
/// The feature of this name; CW_FEATURES if there is none.
cw_feature cw_feature_named(const char *name);

/// A fault that is known. A world that avoids it leaves out what leads to it.
typedef struct cw_known_fault {
    const char *name;
    const char *what;      ///< a sentence for the reader of a failure
    const char *left_out;  ///< what the draw leaves out
} cw_known_fault;

/// The numbers of the faults in `cw_known_fault_at`. None is known at present.
typedef enum cw_fault {
    CW_FAULTS
} cw_fault;

const cw_known_fault *cw_known_fault_at(cw_fault fault);

/// A set of known faults, one bit each.
typedef uint32_t cw_faults;

/// Reads "1", all of them, or names with commas. Returns false for a name that is not one.
bool cw_faults_named(const char *names, cw_faults *faults);

#endif
