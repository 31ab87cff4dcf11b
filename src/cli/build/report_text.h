#pragma once

#include <string>

#include "cli/console.h"

namespace cli {

// What a staged build did, for people.
std::string build_report_text(const Json& report, const Console& console);

}  // namespace cli
