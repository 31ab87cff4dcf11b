#include "build/find_installed.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

// The folders of a variable like PATH. Relative ones, and so the working folder, are left out: what is found is
// reported as installed.
std::vector<std::string> folders_in(const char* variable) {
  std::vector<std::string> folders;
  const char* value = std::getenv(variable);
  std::stringstream list(value ? value : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (folder.starts_with('/')) folders.push_back(folder);
  return folders;
}

// The entries of a folder, sorted; none when it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

fs::path python_on_path() {
  for (const std::string& folder : folders_in("PATH"))
    if (const std::string program = folder + "/python3"; ::access(program.c_str(), X_OK) == 0) return program;
  return {};
}

// "1.31.1" of "onnxruntime_gpu-1.31.1.dist-info"; the package itself must be there too.
std::string version_in(const fs::path& packages) {
  constexpr std::string_view kPackage = "onnxruntime", kEnd = ".dist-info";
  std::error_code ignored;
  if (!fs::exists(packages / kPackage / "__init__.py", ignored)) return "";
  for (const fs::path& entry : entries_of(packages)) {
    const std::string name = entry.filename().string();
    const size_t dash = name.find('-');
    if (!name.starts_with(kPackage) || !name.ends_with(kEnd) || dash == std::string::npos) continue;
    if (dash != kPackage.size() && name[kPackage.size()] != '_') continue;
    return name.substr(dash + 1, name.size() - kEnd.size() - dash - 1);
  }
  return "";
}

// In the folders of packages that a Python with this prefix has: lib/python3*/{site,dist}-packages.
std::string version_below(const fs::path& prefix) {
  for (const fs::path& library : entries_of(prefix / "lib")) {
    if (!library.filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      if (std::string version = version_in(library / packages); !version.empty()) return version;
  }
  return "";
}

// The value of a key in pyvenv.cfg, which makes a folder a virtual environment.
std::string setting_of(const fs::path& environment, const std::string& key) {
  std::ifstream file(environment / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos || line.substr(0, line.find_last_not_of(" \t", equals - 1) + 1) != key) continue;
    const size_t begin = line.find_first_not_of(" \t", equals + 1);
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
  }
  return "";
}

}  // namespace

std::string python_onnxruntime_version() {
  const fs::path python = python_on_path();
  if (python.empty()) return "";
  std::error_code ignored;
  fs::path prefix = python.parent_path().parent_path();
  if (fs::is_regular_file(prefix / "pyvenv.cfg", ignored)) {
    if (std::string version = version_below(prefix); !version.empty()) return version;
    if (setting_of(prefix, "include-system-site-packages") != "true") return "";
    prefix = fs::path(setting_of(prefix, "home")).parent_path();
  } else if (const fs::path program = fs::canonical(python, ignored); !program.empty()) {
    prefix = program.parent_path().parent_path();
  }
  std::vector<fs::path> prefixes = {prefix};
  if (prefix == "/usr") prefixes.emplace_back("/usr/local");
  if (const char* home = std::getenv("HOME"); home && *home == '/') prefixes.push_back(fs::path(home) / ".local");
  for (const fs::path& one : prefixes)
    if (std::string version = version_below(one); !version.empty()) return version;
  return "";
}

std::string onnxruntime_library() {
  std::vector<std::string> folders = folders_in("LD_LIBRARY_PATH");
  for (const char* folder :
       {"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    folders.emplace_back(folder);
  std::error_code ignored;
  for (const std::string& folder : folders)
    if (fs::exists(folder + "/libonnxruntime.so", ignored)) return folder + "/libonnxruntime.so";
  return "";
}

// Its headers, and for some machine the library that all programs of it load and the program that makes contexts.
std::string missing_of_qairt(const std::string& folder) {
  const auto for_some_machine = [&](const char* part, const char* file) {
    const auto machines = entries_of(fs::path(folder) / part);
    return std::any_of(machines.begin(), machines.end(), [&](const fs::path& machine) {
      std::error_code ignored;
      return fs::is_regular_file(machine / file, ignored);
    });
  };
  std::error_code ignored;
  std::vector<std::string> missing;
  if (!fs::is_regular_file(fs::path(folder) / "include/QNN/QnnInterface.h", ignored))
    missing.emplace_back("include/QNN/QnnInterface.h");
  if (!for_some_machine("lib", "libQnnSystem.so")) missing.emplace_back("lib/*/libQnnSystem.so");
  if (!for_some_machine("bin", "qnn-context-binary-generator"))
    missing.emplace_back("bin/*/qnn-context-binary-generator");
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace tenon::build
