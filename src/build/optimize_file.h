#pragma once

#include <string>

#include "base/status.h"
#include "passes/optimize_model.h"
#include "wire/onnx_write.h"

namespace tenon::build {

struct OptimizeRequest {
  std::string input;
  std::string output;  // may be the input
  CapabilityChoice capabilities = {};
  bool force = false;      // does the work even where the stamp says that it is done
  bool overwrite = false;  // an output that exists
  bool check = false;      // says what would be done, and writes nothing
  // Of the output. Where weights inside would make it larger, they go to a data file.
  uint64_t most_file_bytes = wire::kMaxMessageBytes;
  bool drift = false;  // measures what changes that are not exact do to the outputs
  uint64_t seed = 0;   // of the inputs for that
};

// Takes a model file through the passes. The report is one JSON object:
//   status        "optimized", "already normalized", or with check "would change"
//   evidence      of what is already normalized: "stamp" or "no pass changes it"
//   input, output, seconds
//   written       "model", "reflink", "copy" or "nothing"
//   data_files    the external data the output refers to
//   capabilities  {on, added}, as choice_json says
//   nodes         {before, after}
//   changes       as changes_json has them
//   drift         with drift: of all changes together, as DriftMeter says
//   misses        with check: why rules did not fire, as misses_json has them
//   effects       with check: of each capability alone, as effects_json has them
Result<std::string> optimize_file(const OptimizeRequest& request);

// What the passes did to a model in memory: {capabilities, status, nodes, changes} as above.
std::string report_of(const RewrittenModel& optimized, const CapabilityChoice& capabilities);

}  // namespace tenon::build
