#pragma once

#include <string>
#include <vector>

#include "cli/compile/job.h"

namespace cli {

// The result of a compile as one document.
Json compile_report(const CompileSettings& settings, const OutputNames& names, const std::vector<ModelJob>& jobs,
                    const GroupResult& group, double seconds);
// For people: a table, and what is shared. Colors as the console has them.
std::string compile_report_text(const Json& report, const Console& console);
// One page that needs nothing else.
std::string compile_report_html(const Json& report);

}  // namespace cli
