#include "CTestSupport.h"

#include <sqlite3.h>

int cts_sqlite_without_counts(void)
{
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
