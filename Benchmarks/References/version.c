#include "BenchmarkReferences.h"
int benchmark_references_version(void) { return 1; }
