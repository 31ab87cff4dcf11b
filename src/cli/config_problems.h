#pragma once

#include <string>
#include <vector>

#include "cli/json.h"

namespace cli {

// Everything that is wrong with a configuration file, so that people hear of it at once.
class ConfigProblems {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  void wrong(const std::string& key, const std::string& wanted);
  void unknown(const std::string& key, const std::vector<std::string>& known);
  // JSON allows a key twice; which one would count is anybody's guess.
  void check_once(const std::string& where, const Json& value);

  // Sets the target if the value is of its kind.
  void text(const std::string& key, const Json& value, std::string& target);
  void boolean(const std::string& key, const Json& value, bool& target);
  void texts(const std::string& key, const Json& value, std::vector<std::string>& target);
  void integer(const std::string& key, const Json& value, int64_t low, int64_t high, int64_t& target);

  // Failure(kUsage) with all of them, if there are any.
  void finish(const std::string& flag, const std::string& path) const;

 private:
  std::vector<std::string> problems_;
};

// A JSON file. Failure(kUsage) when it cannot be read or is none.
Json read_config_file(const std::string& flag, const std::string& path);

}  // namespace cli
