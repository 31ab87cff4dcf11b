// Where the program is that tries results for programs that only have the library.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "build/validate.h"
#include "tenon/tenon.h"

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&tn_version), &info) == 0 || !info.dli_fname) return {};
  std::error_code problem;
  const fs::path path = fs::canonical(info.dli_fname, problem);
  return problem ? fs::path() : path.parent_path();
}

}  // namespace

Result<std::string> find_program() {
  const fs::path library = folder_of_library();
  std::string searched;
  // Beside the library; lib/ or lib/<architecture>/ of an installation; src/ of a build;
  // lib/pythonX/site-packages/tenon of an environment.
  for (const char* way : {".", "../bin", "../../bin", "../../../../bin"}) {
    const fs::path folder = (library / way).lexically_normal();
    const std::string program = (folder / "tenon").string();
    std::error_code ignored;
    if (fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) return program;
    searched += fmt::format("{}'{}'", searched.empty() ? "" : ", ", folder.string());
  }
  return error(Code::NotFound,
               "the program 'tenon', which validates the results, is in none of these folders: {}; name it with the "
               "option 'program', or set validate=0",
               searched);
}

}  // namespace tenon::build
