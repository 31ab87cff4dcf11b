#pragma once

#include <vector>

#include "plan/artifact.h"

namespace tenon {

// The old index of each record.
struct RecordOrder {
  std::vector<size_t> packed_from, sources_from;
};

// Puts records in the one order that files have them in: packed tensors by key, sources by what they are. It does not
// depend on the order in which models were compiled, loaded or changed. Equal sources become one record.
RecordOrder order_records(ArtifactContents& contents);

}  // namespace tenon
