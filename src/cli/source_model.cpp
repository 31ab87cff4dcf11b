#include "cli/source_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "tenon/tenon.hpp"

namespace cli {

std::string why_not_source(const Json& model, const std::string& path) {
  try {
    const Json described = Json::parse(tenon::Model::load(path).describe("content"));
    if (described["content"].text() == model["source_content"].text()) return "";
    return fmt::format("'{}' has changed since the model was compiled", path);
  } catch (const tenon::Error& error) {
    return error.what();
  }
}

std::string find_source(const Json& model, const std::vector<std::string>& folders, const std::string& remedy,
                        std::string& reason) {
  const std::string& name = model["source_file"].text();
  reason = fmt::format("'{}' was not found; {}", name, remedy);
  if (name.empty()) reason = "the model was loaded from memory, not from a file";
  for (const std::string& folder : folders) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    std::error_code ignored;
    if (name.empty() || !std::filesystem::is_regular_file(path, ignored)) continue;
    reason = why_not_source(model, path);
    if (reason.empty()) return path;
  }
  return "";
}

}  // namespace cli
