#include "base/cw_feature.h"

#include <string.h>

#include "base/cw_program.h"

const char *cw_feature_name(cw_feature feature)
{
    static const char *const names[CW_FEATURES] = {
        [CW_ROWID_KEY] = "rowidKey",
        [CW_OTHER_KEY] = "otherKey",
        [CW_COMPOSITE_KEY] = "compositeKey",
        [CW_WITHOUT_ROWID] = "withoutRowid",
        [CW_STRICT] = "strict",
        [CW_GENERATED] = "generated",
        [CW_COLLATION] = "collation",
        [CW_DEFAULT] = "default",
        [CW_CHECK] = "check",
        [CW_TRIGGER] = "trigger",
        [CW_INDEX] = "index",
        [CW_PARTIAL_INDEX] = "partialIndex",
        [CW_UNIQUE_INDEX] = "uniqueIndex",
        [CW_CONFLICT_CLAUSE] = "conflictClause",
        [CW_FOREIGN_KEY] = "foreignKey",
        [CW_VIEW] = "view",
        [CW_ATTACHED] = "attached",
        [CW_TEMPORARY] = "temporary",
        [CW_UTF16] = "utf16",
        [CW_SCHEMA_CHANGE] = "schemaChange",
        [CW_INSERT] = "insert",
        [CW_UPSERT] = "upsert",
        [CW_DELETE] = "delete",
        [CW_MEMBERS] = "members",
        [CW_TEXTS] = "texts",
        [CW_OBSERVED_IMPORT] = "observedImport",
        [CW_PENDING] = "pending",
        [CW_ON_INSERT] = "onInsert",
        [CW_DEFLATED] = "deflated",
        [CW_SMALL_CHUNKS] = "smallChunks",
        [CW_OBJECTS] = "objects",
        [CW_SECOND_THREAD] = "secondThread",
        [CW_COMMITS] = "commits",
        [CW_BIG_IMPORT] = "bigImport",
        [CW_REFUSED_IMPORT] = "refusedImport",
        [CW_CANCELLED_IMPORT] = "cancelledImport",
        [CW_LARGE_COLUMN] = "largeColumn",
        [CW_OBSERVER] = "observer",
        [CW_TRANSACTION] = "transaction",
        [CW_ROLLBACK] = "rollback",
        [CW_SAVEPOINT] = "savepoint",
        [CW_FAILED_STATEMENT] = "failedStatement",
        [CW_PREPARED] = "prepared",
        [CW_PAGE] = "page",
        [CW_CURSOR] = "cursor",
        [CW_CURSOR_JOIN] = "cursorJoin",
        [CW_CURSOR_VIEW] = "cursorView",
        [CW_CURSOR_UNION] = "cursorUnion",
        [CW_CURSOR_MIXED_ORDER] = "cursorMixedOrder",
        [CW_CURSOR_CHANGES] = "cursorChanges",
        [CW_LARGE_VALUE] = "largeValue",
        [CW_ROLLED_BACK_WRITER] = "rolledBackWriter",
        [CW_SECOND_POOL] = "secondPool",
        [CW_NESTED] = "nested",
        [CW_TICKET] = "ticket",
        [CW_SNAPSHOT] = "snapshot",
        [CW_FILE_FAILURE] = "fileFailure",
        [CW_POWER_CUT] = "powerCut",
        [CW_BACKUP] = "backup",
        [CW_IN_MEMORY] = "inMemory",
    };
    return names[feature];
}

cw_feature cw_feature_named(const char *name)
{
    int feature = 0;
    while (feature < CW_FEATURES && strcmp(cw_feature_name((cw_feature)feature), name) != 0)
        feature++;
    return (cw_feature)feature;
}

const cw_known_fault *cw_known_fault_at(cw_fault fault)
{
    // The last one is the end.
    static const cw_known_fault faults[CW_FAULTS + 1] = {
        [CW_FAULTS] = {"none", "no fault is known", "nothing"},
    };
    return &faults[fault];
}

bool cw_faults_named(const char *names, cw_faults *faults)
{
    char name[64];
    *faults = 0;
    if (strcmp(names, "1") == 0) {
        *faults = (1u << CW_FAULTS) - 1;
        return true;
    }
    while (cw_next_element(&names, name, sizeof name)) {
        int fault = 0;
        while (fault < CW_FAULTS && strcmp(cw_known_fault_at((cw_fault)fault)->name, name) != 0)
            fault++;
        if (fault == CW_FAULTS)
            return false;
        *faults |= 1u << fault;
    }
    return true;
}
