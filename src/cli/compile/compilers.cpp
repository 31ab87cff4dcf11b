#include "cli/compile/compilers.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

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

// The version of onnxruntime that a Python on the PATH has, with the Python's name; "" when there is none.
std::string python_onnxruntime() {
  constexpr const char* kAsk =
      "python3 -c \"import importlib.metadata as m; print(m.version('onnxruntime'))\" 2>/dev/null </dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(kAsk, "r"), ::pclose);
  std::array<char, 128> line{};
  if (!pipe || !std::fgets(line.data(), static_cast<int>(line.size()), pipe.get())) return "";
  std::string version = line.data();
  version.erase(version.find_last_not_of(" \n") + 1);
  return version;
}

std::string onnxruntime_library() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    std::stringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.push_back(folder);
  }
  for (const char* folder :
       {"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    folders.emplace_back(folder);
  std::error_code ignored;
  for (const std::string& folder : folders)
    if (std::filesystem::exists(folder + "/libonnxruntime.so", ignored)) return folder + "/libonnxruntime.so";
  return "";
}

std::string onnxruntime_problem() {
  const std::string version = python_onnxruntime(), library = onnxruntime_library();
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
  return fmt::format("its SDK was found in '{}', but {}", root, kNotBuiltIn);
}

std::string problem_of(const std::string& name) {
  if (name == "tenon") return "";
  return name == "qairt" ? qairt_problem() : onnxruntime_problem();
}

}  // namespace

std::vector<CompilerInfo> probe_compilers() {
  std::vector<CompilerInfo> all;
  std::string onnxruntime;  // asked once: it takes a process
  for (const Known& known : kCompilers) {
    const bool is_onnxruntime = std::string_view(known.name).starts_with("ort");
    if (is_onnxruntime && onnxruntime.empty()) onnxruntime = onnxruntime_problem();
    all.push_back({known.name, known.alias, known.what, is_onnxruntime ? onnxruntime : problem_of(known.name)});
  }
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
