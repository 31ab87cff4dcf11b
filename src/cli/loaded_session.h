#pragma once

#include "cli/inputs.h"

namespace cli {

class Console;

// A model that is ready to run with the inputs that the flags say.
struct LoadedSession {
  LoadedSession(const std::string& path, InputFlags& flags, const Console& console);

  tenon::Model model;
  tenon::Context context;
  tenon::Session session;
  std::vector<tenon::Value> inputs;
};

}  // namespace cli
