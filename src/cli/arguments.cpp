#include "cli/arguments.h"

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

[[noreturn]] void bad_value(const std::string& names, const std::string& text, const std::string& wanted) {
  throw CLI::ValidationError(fmt::format("{} must be {}, it is '{}'", main_name(names), wanted, text),
                             CLI::ExitCodes::ValidationError);
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
            if (text.empty()) bad_value(names, text, "something");
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

void Arguments::integer(const std::string& names, int64_t& target, int64_t low, int64_t high, const std::string& help) {
  app_.add_option_function<std::string>(
          names,
          [=, &target](const std::string& text) {
            int64_t value = 0;
            if (!parse_number(text, value) || value < low || value > high)
              bad_value(names, text,
                        high == INT64_MAX
                            ? low == INT64_MIN ? "a whole number" : fmt::format("a whole number from {} on", low)
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

namespace {

constexpr const char* kCommon = "Common options";

// Flags without CLI11's remarks on what needs or excludes what; the messages say that when it matters.
class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() { column_width(34); }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_type_name();
    return value.empty() || option->get_positional() ? "" : " " + value;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (!app->get_parent()) return "Usage: tenon COMMAND [OPTIONS]\n";
    std::string usage = "Usage: tenon " + name + " [OPTIONS]";
    for (const CLI::Option* option : app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
      usage += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
    return usage + "\n";
  }
  std::string make_footer(const CLI::App* app) const override { return "\n" + app->get_footer() + "\n"; }
};

void declare_settings(CLI::App& app, Settings& settings) {
  Arguments arguments(app, kCommon);
  arguments.choice("--format", settings.format, {"text", "json"}, "json: one JSON document on standard output");
  arguments.flag("-v,--verbose", settings.verbose, "say more on standard error");
  arguments.flag("-q,--quiet", settings.quiet, "only errors on standard error");
  arguments.excludes("--quiet", "--verbose");
  arguments.flag("--no-color", settings.no_color, "no colors; NO_COLOR in the environment means the same");
  arguments.integer("--threads", settings.threads, 0, 1024, "threads to use; 0 (default): what the CPU quota allows");
  app.set_help_flag("-h,--help", "show this help")->group(kCommon);
}

std::string usage_hint(const CLI::App& app) {
  const std::string name = app.get_parent() ? "tenon " + app.get_name() : "tenon";
  return fmt::format("; see '{} --help'", name);
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// What is wrong with arguments that nobody takes.
std::string describe_extras(const CLI::App& root, const CLI::App& app, const std::vector<CommandInfo>& commands) {
  std::vector<std::string> extras = app.remaining();
  if (extras.empty()) extras = root.remaining(true);
  if (extras.empty()) return "there are arguments nobody expects";
  const std::string& first = extras.front();
  if (first.starts_with("-")) {
    const std::string name = first.substr(0, first.find('='));
    return fmt::format("there is no flag '{}' here{}", name, suggestion(name, flag_names(app)));
  }
  if (&app != &root) return fmt::format("'{}' is one argument too many", first);
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  const std::string near = suggestion(first, names);
  return fmt::format("there is no command '{}'{}", first,
                     near.empty() ? "; there are " + CLI::detail::join(names, ", ") : near);
}

// "random was given a disallowed flag override" in plain words; other messages are plain already.
std::string describe_problem(const std::string& message) {
  const size_t at = message.find(" was given a disallowed flag override");
  return at == std::string::npos ? message : "--" + message.substr(0, at) + " takes no value";
}

}  // namespace

void parse_arguments(int count, char** values, const std::vector<CommandInfo>& commands, Request& request) {
  CLI::App root("Compiles, runs and inspects ONNX models.");
  root.set_version_flag("--version", "tenon " + tenon::version(), "show the version")->group(kCommon);
  declare_settings(root, request.settings);
  root.footer("Every command has its own help: tenon COMMAND --help");
  root.formatter(std::make_shared<HelpFormat>());
  root.get_formatter()->label("Positionals", "Arguments");
  root.require_subcommand(0, 1);
  std::vector<std::unique_ptr<Command>> made;
  std::vector<CLI::App*> apps;
  for (const CommandInfo& info : commands) {
    CLI::App* app = root.add_subcommand(info.name, info.summary)->group("Commands");
    app->footer("Examples:\n" + info.examples);
    made.push_back(info.make());
    Arguments arguments(*app);
    made.back()->declare(arguments);
    declare_settings(*app, request.settings);
    apps.push_back(app);
  }
  auto chosen = [&]() -> const CLI::App& {
    for (const CLI::App* app : apps)
      if (app->parsed()) return *app;
    return root;
  };
  try {
    root.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    request.text = chosen().help();
    // CLI11 leaves two empty lines between some of its parts.
    for (size_t at; (at = request.text.find("\n\n\n")) != std::string::npos;) request.text.erase(at, 1);
    return;
  } catch (const CLI::CallForVersion& version) {
    request.text = std::string(version.what()) + "\n";
    return;
  } catch (const CLI::ExtrasError&) {
    throw Failure(kUsage, describe_extras(root, chosen(), commands) + usage_hint(chosen()));
  } catch (const CLI::ParseError& problem) {
    throw Failure(kUsage, describe_problem(problem.what()) + usage_hint(chosen()));
  }
  for (size_t i = 0; i < apps.size(); ++i)
    if (apps[i]->parsed()) request.command = std::move(made[i]);
  if (!request.command) throw Failure(kUsage, "no command is given" + usage_hint(root));
}

}  // namespace cli
