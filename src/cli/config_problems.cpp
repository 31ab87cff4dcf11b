#include "cli/config_problems.h"

#include <fmt/format.h>

#include <set>

#include "cli/failure.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

void ConfigProblems::wrong(const std::string& key, const std::string& wanted) {
  add(fmt::format("{} must be {}", key, wanted));
}

void ConfigProblems::unknown(const std::string& key, const std::vector<std::string>& known) {
  add(fmt::format("unknown key '{}'{}", key, suggestion(key, known)));
}

void ConfigProblems::check_once(const std::string& where, const Json& value) {
  std::set<std::string> seen;
  for (const auto& [key, item] : value.entries()) {
    const std::string path = where.empty() ? key : where + "." + key;
    if (!seen.insert(key).second) add(fmt::format("{} occurs twice", path));
    check_once(path, item);
  }
}

void ConfigProblems::text(const std::string& key, const Json& value, std::string& target) {
  if (!value.is_text()) return wrong(key, "text");
  target = value.text();
}

void ConfigProblems::boolean(const std::string& key, const Json& value, bool& target) {
  if (!value.is_boolean()) return wrong(key, "true or false");
  target = value.boolean();
}

void ConfigProblems::texts(const std::string& key, const Json& value, std::vector<std::string>& target) {
  if (!value.is_array()) return wrong(key, "a list of texts");
  for (const Json& item : value.items()) {
    if (!item.is_text()) return wrong(key, "a list of texts");
    target.push_back(item.text());
  }
}

void ConfigProblems::integer(const std::string& key, const Json& value, int64_t low, int64_t high, int64_t& target) {
  if (!value.is_integer() || value.integer() < low || value.integer() > high)
    return wrong(key, fmt::format("a whole number from {} to {}", low, high));
  target = value.integer();
}

void ConfigProblems::finish(const std::string& flag, const std::string& path) const {
  if (problems_.empty()) return;
  std::string message = fmt::format("{}: '{}' has errors:", flag, path);
  for (const std::string& problem : problems_) message += "\n  " + problem;
  throw Failure(kUsage, message);
}

Json read_config_file(const std::string& flag, const std::string& path) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  const std::string text = refusing(kUsage, flag, [&] { return tenon::read_file(path, kMostBytes); });
  try {
    return Json::parse(text);
  } catch (const std::exception& error) {
    throw Failure(kUsage, fmt::format("{}: '{}' is not JSON: {}", flag, path, error.what()));
  }
}

}  // namespace cli
