#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The first argument that makes the program check one staged result.
inline constexpr std::string_view kCheckStaged = "--check-staged";

// What the process does that builds start for it: reads the request, compares, writes the result to standard output.
// The exit code of the program. The library of the same version starts it; nobody else should.
int check_staged(const std::string& request, const std::string& model, const std::string& context,
                 const std::vector<std::string>& flags);

}  // namespace cli
