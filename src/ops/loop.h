#pragma once

#include "ops/op.h"

namespace tenon {

struct ScanParams {
  int64_t num_scan_inputs = 0;
  std::vector<int64_t> scan_input_axes, scan_input_directions;    // empty: 0, forward
  std::vector<int64_t> scan_output_axes, scan_output_directions;  // empty: 0, forward
  void fields(FieldVisitor& v) {
    v.field("num_scan_inputs", num_scan_inputs);
    v.field("scan_input_axes", scan_input_axes);
    v.field("scan_input_directions", scan_input_directions);
    v.field("scan_output_axes", scan_output_axes);
    v.field("scan_output_directions", scan_output_directions);
  }
};

// BatchScan: Scan as version 8 has it, over a batch of sequences that may end early.
struct BatchScanParams {
  int64_t num_scan_inputs = 0;
  std::vector<int64_t> directions;  // empty: forward
  void fields(FieldVisitor& v) {
    v.field("num_scan_inputs", num_scan_inputs);
    v.field("directions", directions);
  }
};

}  // namespace tenon
