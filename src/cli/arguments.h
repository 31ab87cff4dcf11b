#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

// A key that a flag of KEY=VALUE pairs knows.
struct KnownKey {
  std::string name;
  std::string value;  // "N": a whole number from 1 on; "1|0"
  std::string help;
};
using KeyValues = std::map<std::string, std::string>;

// Thrown while the command line is read when it asks for text instead of work.
struct TextWanted {
  std::string text;
};

// Where a command declares what it takes. Targets keep their defaults when a flag is not given.
// `names` as people write them: "-o,--output". `value` is what the help calls the value: "FILE".
class Arguments {
 public:
  // `group` is the heading of the flags in the help.
  explicit Arguments(CLI::App& app, std::string group = "Options") : app_(app), group_(std::move(group)) {}

  void positional(const std::string& name, std::string& target, const std::string& help, bool required = true);
  void flag(const std::string& names, bool& target, const std::string& help);
  void text(const std::string& names, std::string& target, const std::string& value, const std::string& help);
  // May be given many times, one value each.
  void texts(const std::string& names, std::vector<std::string>& target, const std::string& value,
             const std::string& help);
  // The same, where the value may be left out: then it counts as "".
  void optional_texts(const std::string& names, std::vector<std::string>& target, const std::string& value,
                      const std::string& help);
  // KEY=VALUE, many times with different keys; "help" in the place of a pair shows the keys.
  void key_values(const std::string& names, KeyValues& target, const std::vector<KnownKey>& keys,
                  const std::string& help);
  void integer(const std::string& names, int64_t& target, int64_t low, int64_t high, const std::string& help);
  // Not negative and finite.
  void number(const std::string& names, double& target, const std::string& help);
  void choice(const std::string& names, std::string& target, const std::vector<std::string>& choices,
              const std::string& help);
  // The names must have been declared.
  void excludes(const std::string& name, const std::string& other);
  void needs(const std::string& name, const std::string& other);

 private:
  CLI::App& app_;
  std::string group_;
};

}  // namespace cli
