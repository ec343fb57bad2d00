int benchmark_references_version(void);
