#include "cli/compile/compilers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/compile/find_installed.h"
#include "cli/failure.h"
#include "cli/text.h"

namespace cli {

namespace {

struct Known {
  const char *name, *alias, *what;
};
constexpr Known kCompilers[] = {
    {"tenon", "", "Tenon's own compiler"},
    {"ort", "", "onnxruntime, compiling ahead of time for its execution providers"},
    {"ort_session", "ort_jit", "onnxruntime, through a session that writes its context"},
    {"qairt", "", "Qualcomm AI Runtime"},
};

constexpr const char* kNotBuiltIn = "driving it is not built into this version of Tenon";

std::string onnxruntime_problem() {
  const std::string version = python_onnxruntime_version(), library = onnxruntime_library();
  if (version.empty() && library.empty())
    return fmt::format("no onnxruntime was found, neither for python3 nor as libonnxruntime.so; and {}", kNotBuiltIn);
  std::string found;
  if (!version.empty()) found = fmt::format("onnxruntime {} was found for python3", version);
  if (!library.empty()) found += fmt::format("{}'{}' was found", found.empty() ? "" : " and ", library);
  return fmt::format("{}, but {}", found, kNotBuiltIn);
}

std::string qairt_problem() {
  const char* root = std::getenv("QNN_SDK_ROOT");
  if (!root || !*root) return fmt::format("QNN_SDK_ROOT does not say where its SDK is; and {}", kNotBuiltIn);
  std::error_code ignored;
  if (!std::filesystem::is_directory(root, ignored))
    return fmt::format("QNN_SDK_ROOT is '{}', which is no folder; and {}", root, kNotBuiltIn);
  if (const std::string missing = missing_of_qairt(root); !missing.empty())
    return fmt::format("QNN_SDK_ROOT is '{}', which is no complete SDK: it lacks {}; and {}", root, missing,
                       kNotBuiltIn);
  return fmt::format("its SDK was found in '{}', but {}", root, kNotBuiltIn);
}

std::string problem_of(const std::string& name) {
  if (name == "tenon") return "";
  return name == "qairt" ? qairt_problem() : onnxruntime_problem();
}

}  // namespace

std::vector<CompilerInfo> probe_compilers() {
  std::vector<CompilerInfo> all;
  for (const Known& known : kCompilers) all.push_back({known.name, known.alias, known.what, problem_of(known.name)});
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
  for (const Known& known : kCompilers)
    if (name == known.name || (*known.alias && name == known.alias)) return known.name;
  return "";
}

std::string compiler_name(const std::string& name) {
  if (std::string found = find_compiler(name); !found.empty()) return found;
  std::vector<std::string> names;
  for (const Known& known : kCompilers) names.emplace_back(known.name);
  const std::string near = suggestion(name, names);
  throw Failure(kUsage, fmt::format("--compiler: there is no '{}'{}", name,
                                    near.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : near));
}

void require_compiler(const std::string& name) {
  if (const std::string problem = problem_of(name); !problem.empty())
    throw Failure(kFailed, fmt::format("the compiler '{}' cannot be used: {}", name, problem));
}

}  // namespace cli
