#include "cli/capability_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/failure.h"

namespace cli {

void CapabilityFlags::declare(Arguments& arguments) {
  arguments.texts("--enable", enable, "NAME", "switch a capability on; may be repeated");
  arguments.texts("--disable", disable, "NAME", "switch a capability off; may be repeated");
}

void CapabilityFlags::add_to(tenon::Options& options) const {
  for (const std::string& name : enable) {
    if (std::ranges::find(disable, name) != disable.end())
      throw Failure(kUsage, fmt::format("'{}' is both enabled and disabled", name));
    options.set("capability:" + name, "1");
  }
  for (const std::string& name : disable) options.set("capability:" + name, "0");
  tenon::Options switches;
  for (const std::string& name : enable) switches.set("capability:" + name, "1");
  for (const std::string& name : disable) switches.set("capability:" + name, "0");
  try {
    tenon::choose_capabilities(switches);
  } catch (const tenon::Error& error) {
    throw Failure(kUsage, fmt::format("{}; 'tenon optimize --list-capabilities' describes them", error.what()));
  }
}

}  // namespace cli
