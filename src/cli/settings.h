#pragma once

#include <cstdint>
#include <string>

namespace cli {

// Flags that every command has.
struct Settings {
  std::string format = "text";
  bool verbose = false;
  bool quiet = false;
  bool no_color = false;
  int64_t threads = -1;  // -1: not given
};

}  // namespace cli
