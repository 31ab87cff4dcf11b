#include "build/staged/write_optimized.h"

#include "build/optimize_file.h"

namespace tenon::build {

Result<Json> write_optimized(const std::string& input, const std::string& output, const CapabilityChoice& capabilities,
                             bool force) {
  OptimizeRequest request{.input = input, .output = output, .capabilities = capabilities};
  request.force = force;
  request.overwrite = true;
  TN_ASSIGN_OR_RETURN(const std::string report, optimize_file(request));
  return Json::parse(report);
}

}  // namespace tenon::build
