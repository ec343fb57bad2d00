/// BenchmarkReferences.h: the C side of the benchmarks: the data sets and the references.
#ifndef BENCHMARK_REFERENCES_H
#define BENCHMARK_REFERENCES_H

#include "br_bulk.h"
#include "br_chunks.h"
#include "br_columns.h"
#include "br_data_set.h"
#include "br_http.h"
#include "br_insert.h"
#include "br_jansson.h"
#include "br_keyset.h"
#include "br_listeners.h"
#include "br_merge.h"
#include "br_message.h"
#include "br_object.h"
#include "br_open.h"
#include "br_scan.h"
#include "br_table.h"
#include "br_texts.h"

#endif
