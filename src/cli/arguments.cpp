#include "cli/arguments.h"

#include <fmt/format.h>
#include <tenon/tenon.hpp>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "cli/failure.h"
#include "cli/text.h"

namespace cli {

namespace {

// A number that is the whole text.
template <class T>
bool parse_number(const std::string& text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

// The longest of the names, for messages: "--output" of "-o,--output".
std::string main_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

CLI::ValidationError wrong(const std::string& message) { return {message, CLI::ExitCodes::ValidationError}; }

[[noreturn]] void bad_value(const std::string& names, const std::string& text, const std::string& wanted) {
  throw wrong(fmt::format("{} must be {}, but it is '{}'", main_name(names), wanted, text));
}

std::string keys_help(const std::string& names, const std::vector<KnownKey>& keys) {
  Table table({"", ""});
  for (const KnownKey& key : keys) table.add({key.name + "=" + key.value, key.help});
  return fmt::format("Keys of {}:\n{}", main_name(names), table.text());
}

std::pair<std::string, std::string> checked_key_value(const std::string& names, const std::string& text,
                                                      const std::vector<KnownKey>& keys) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  std::vector<std::string> known;
  for (const KnownKey& key : keys) known.push_back(key.name);
  const auto key = std::find(known.begin(), known.end(), name);
  if (key == known.end() && equals != std::string::npos) {
    const std::string near = suggestion(name, known);
    throw wrong(fmt::format("{}: unknown key '{}'{}", main_name(names), name,
                            near.empty() ? fmt::format("; '{} help' lists the keys", main_name(names)) : near));
  }
  if (equals == std::string::npos) bad_value(names, text, "KEY=VALUE or help");
  const std::string value = text.substr(equals + 1);
  const std::string& wanted = keys[static_cast<size_t>(key - known.begin())].value;
  int64_t number = 0;
  if (wanted == "1|0" ? value != "1" && value != "0" : !parse_number(value, number) || number < 1)
    throw wrong(fmt::format("{}: {} must be {}, but it is '{}'", main_name(names), name,
                            wanted == "1|0" ? "1 or 0" : "a whole number of at least 1", value));
  return {name, value};
}

}  // namespace

void Arguments::positional(const std::string& name, std::string& target, const std::string& help, bool required) {
  app_.add_option(name, target, help)->required(required)->type_name("");
}

void Arguments::flag(const std::string& names, bool& target, const std::string& help) {
  app_.add_flag(names, target, help)->disable_flag_override()->group(group_);
}

void Arguments::text(const std::string& names, std::string& target, const std::string& value, const std::string& help) {
  app_.add_option_function<std::string>(
          names,
          [names, &target](const std::string& text) {
            if (text.empty()) bad_value(names, text, "a text that is not empty");
            target = text;
          },
          help)
      ->type_name(value)
      ->group(group_);
}

void Arguments::texts(const std::string& names, std::vector<std::string>& target, const std::string& value,
                      const std::string& help) {
  app_.add_option(names, target, help)->type_name(value)->allow_extra_args(false)->group(group_);
}

void Arguments::optional_texts(const std::string& names, std::vector<std::string>& target, const std::string& value,
                               const std::string& help) {
  app_.add_option_function<std::string>(
          names, [&target](const std::string& text) { target.push_back(text); }, help)
      ->type_name(value)
      ->expected(0, 1)
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(group_);
}

void Arguments::key_values(const std::string& names, KeyValues& target, const std::vector<KnownKey>& keys,
                           const std::string& help) {
  app_.add_option_function<std::vector<std::string>>(
          names,
          [=, &target](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              if (text == "help") throw TextWanted{keys_help(names, keys)};
              auto [key, value] = checked_key_value(names, text, keys);
              if (!target.emplace(key, value).second)
                throw wrong(fmt::format("{}: '{}' is given twice", main_name(names), key));
            }
          },
          help)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group_);
}

void Arguments::integer(const std::string& names, int64_t& target, int64_t low, int64_t high, const std::string& help) {
  app_.add_option_function<std::string>(
          names,
          [=, &target](const std::string& text) {
            int64_t value = 0;
            if (!parse_number(text, value) || value < low || value > high)
              bad_value(names, text,
                        high == INT64_MAX
                            ? low == INT64_MIN ? "a whole number" : fmt::format("a whole number of at least {}", low)
                            : fmt::format("a whole number from {} to {}", low, high));
            target = value;
          },
          help)
      ->type_name("N")
      ->group(group_);
}

void Arguments::number(const std::string& names, double& target, const std::string& help) {
  app_.add_option_function<std::string>(
          names,
          [names, &target](const std::string& text) {
            double value = 0;
            if (!parse_number(text, value) || !std::isfinite(value) || value < 0)
              bad_value(names, text, "a number that is not negative");
            target = value;
          },
          help)
      ->type_name("X")
      ->group(group_);
}

void Arguments::choice(const std::string& names, std::string& target, const std::vector<std::string>& choices,
                       const std::string& help) {
  const std::string listed = CLI::detail::join(choices, "|");
  app_.add_option_function<std::string>(
          names,
          [=, &target](const std::string& text) {
            if (std::find(choices.begin(), choices.end(), text) == choices.end())
              bad_value(names, text, "one of " + CLI::detail::join(choices, ", "));
            target = text;
          },
          help)
      ->type_name(listed)
      ->group(group_);
}

void Arguments::excludes(const std::string& name, const std::string& other) {
  app_.get_option(name)->excludes(app_.get_option(other));
}
void Arguments::needs(const std::string& name, const std::string& other) {
  app_.get_option(name)->needs(app_.get_option(other));
}

}  // namespace cli
