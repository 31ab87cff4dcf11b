#include "build/compilers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "build/build.h"
#include "build/find_installed.h"
#include "build/tenon_compiler.h"

namespace tenon::build {

namespace {

struct Known {
  const char *name, *alias, *what;
};
constexpr Known kCompilers[] = {
    {"tenon", "", "Tenon's own compiler"},
    {"ort", "", "onnxruntime, compiling ahead of time for its execution providers"},
    {"ort_session", "ort_jit", "onnxruntime, using a session that writes its context"},
    {"qairt", "", "Qualcomm AI Runtime"},
};

constexpr const char* kNotBuiltIn = "this version of Tenon cannot use it yet";

std::string onnxruntime_problem() {
  const std::string version = python_onnxruntime_version(), library = onnxruntime_library();
  if (version.empty() && library.empty())
    return fmt::format("onnxruntime was found neither for python3 nor as libonnxruntime.so, and {}", kNotBuiltIn);
  std::string found;
  if (!version.empty()) found = fmt::format("onnxruntime {} was found for python3", version);
  if (!library.empty()) found += fmt::format("{}'{}' was found", found.empty() ? "" : " and ", library);
  return fmt::format("{}, but {}", found, kNotBuiltIn);
}

std::string qairt_problem() {
  const char* root = std::getenv("QNN_SDK_ROOT");
  if (!root || !*root) return fmt::format("QNN_SDK_ROOT does not name the folder of its SDK, and {}", kNotBuiltIn);
  std::error_code ignored;
  if (!std::filesystem::is_directory(root, ignored))
    return fmt::format("QNN_SDK_ROOT is '{}', which is not a folder, and {}", root, kNotBuiltIn);
  if (const std::string missing = missing_of_qairt(root); !missing.empty())
    return fmt::format("QNN_SDK_ROOT is '{}', which is not a complete SDK because it lacks {}, and {}", root, missing,
                       kNotBuiltIn);
  return fmt::format("its SDK was found in '{}', but {}", root, kNotBuiltIn);
}

std::string problem_of(const std::string& name) {
  if (name == "tenon") return "";
  return name == "qairt" ? qairt_problem() : onnxruntime_problem();
}

}  // namespace

std::string compilers_json() {
  Json list = Json::array();
  for (const Known& known : kCompilers) {
    const std::string problem = problem_of(known.name);
    list.push_back(Json::object({{"name", known.name},
                                 {"alias", *known.alias ? Json(known.alias) : Json()},
                                 {"description", known.what},
                                 {"usable", problem.empty()},
                                 {"reason", problem.empty() ? Json() : Json(problem)}}));
  }
  return dump(list);
}

std::unique_ptr<Compiler> make_compiler(const std::string& name) {
  std::vector<std::string> names;
  for (const Known& known : kCompilers) {
    names.emplace_back(known.name);
    if (name != known.name && (!*known.alias || name != known.alias)) continue;
    if (const std::string problem = problem_of(known.name); !problem.empty())
      throw Error(TN_UNSUPPORTED, fmt::format("the compiler '{}' cannot be used: {}", known.name, problem));
    return std::make_unique<TenonCompiler>();
  }
  throw Error(TN_INVALID_ARGUMENT, fmt::format("option 'compiler': unknown compiler '{}'; it must be one of {}", name,
                                               fmt::join(names, ", ")));
}

}  // namespace tenon::build
