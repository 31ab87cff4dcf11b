#include "cli/capability_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/failure.h"
#include "cli/text.h"

namespace cli {

namespace {

void check_names(const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::vector<std::string> known;
  const Json capabilities = Json::parse(tenon::capabilities_json());
  for (const Json& item : capabilities.items()) known.push_back(item["name"].text());
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw Failure(kUsage, fmt::format("unknown capability '{}'{}; 'tenon optimize --list-capabilities' lists them",
                                        name, suggestion(name, known)));
}

}  // namespace

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
  check_names(enable);
  check_names(disable);
  tenon::Options switches;
  for (const std::string& name : enable) switches.set("capability:" + name, "1");
  for (const std::string& name : disable) switches.set("capability:" + name, "0");
  try {
    tenon::choose_capabilities(switches);
  } catch (const tenon::Error& error) {
    throw Failure(kUsage, fmt::format("{}; 'tenon optimize --list-capabilities' describes them", error.what()));
  }
}

void CapabilityFlags::read(const std::string& where, const Json& section, ConfigProblems& problems) {
  if (!section.is_object()) return problems.wrong(where, "an object");
  bool keep_functions = false;
  for (const auto& [key, item] : section.entries()) {
    if (key == "enable")
      problems.texts(where + ".enable", item, enable);
    else if (key == "disable")
      problems.texts(where + ".disable", item, disable);
    else if (key == "keep_functions")
      problems.boolean(where + ".keep_functions", item, keep_functions);
    else
      problems.unknown(where + "." + key, {where + ".enable", where + ".disable", where + ".keep_functions"});
  }
  if (keep_functions) disable.emplace_back("inline-functions");
  try {
    tenon::Options options;
    add_to(options);
  } catch (const Failure& failure) {
    problems.add(where + ": " + failure.what());
  }
}

void CapabilityFlags::override_with(const CapabilityFlags& others) {
  const auto decided = [&](const std::string& name) {
    return std::ranges::find(others.enable, name) != others.enable.end() ||
           std::ranges::find(others.disable, name) != others.disable.end();
  };
  std::erase_if(enable, decided);
  std::erase_if(disable, decided);
  enable.insert(enable.end(), others.enable.begin(), others.enable.end());
  disable.insert(disable.end(), others.disable.begin(), others.disable.end());
}

}  // namespace cli
