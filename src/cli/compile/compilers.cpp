#include "cli/compile/compilers.h"

#include <fmt/format.h>

#include "cli/failure.h"
#include "cli/text.h"
#include "tenon/tenon.hpp"

namespace cli {

std::vector<CompilerInfo> probe_compilers() {
  std::vector<CompilerInfo> all;
  const Json compilers = Json::parse(tenon::compilers_json());
  for (const Json& one : compilers.items())
    all.push_back({one["name"].text(), one["alias"].text(), one["description"].text(), one["reason"].text()});
  return all;
}

Json compilers_json(const std::vector<CompilerInfo>& compilers) {
  Json list(Json::Array{});
  for (const CompilerInfo& info : compilers)
    list.push(Json::Object{{"name", info.name},
                           {"description", info.what},
                           {"usable", info.problem.empty()},
                           {"reason", info.problem.empty() ? Json() : Json(info.problem)}});
  return list;
}

std::string find_compiler(const std::string& name) {
  // What needs no look at the machine.
  if (name == "tenon") return name;
  for (const CompilerInfo& info : probe_compilers())
    if (!name.empty() && (name == info.name || name == info.alias)) return info.name;
  return "";
}

std::string compiler_name(const std::string& name) {
  if (std::string found = find_compiler(name); !found.empty()) return found;
  std::vector<std::string> names;
  for (const CompilerInfo& info : probe_compilers()) names.push_back(info.name);
  const std::string near = suggestion(name, names);
  throw Failure(kUsage,
                fmt::format("--compiler: unknown compiler '{}'{}", name,
                            near.empty() ? fmt::format("; the compilers are {}", fmt::join(names, ", ")) : near));
}

}  // namespace cli
