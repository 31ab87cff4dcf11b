#pragma once

#include <string>
#include <vector>

#include "build/job.h"

namespace tenon::build {

// The result of a build as one document.
Json build_report(const BuildRequest& request, const OutputNames& names, const std::vector<ModelJob>& jobs,
                  const GroupResult& group, double seconds);
// The same as one page that needs nothing else.
std::string report_html(const Json& report);

}  // namespace tenon::build
