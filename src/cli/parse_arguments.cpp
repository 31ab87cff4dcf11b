// The whole command line: which command, its flags, the flags that all have, and what is wrong with them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/failure.h"
#include "cli/text.h"
#include "tenon/tenon.hpp"

namespace cli {

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
  arguments.choice("--format", settings.format, {"text", "json"},
                   "output format; json: one JSON document on standard output");
  arguments.flag("-v,--verbose", settings.verbose, "print more details on standard error");
  arguments.flag("-q,--quiet", settings.quiet, "print only errors on standard error");
  arguments.excludes("--quiet", "--verbose");
  arguments.flag("--no-color", settings.no_color, "print no colors; the environment variable NO_COLOR does the same");
  arguments.integer("--threads", settings.threads, 0, 1024,
                    "number of threads; 0 (default): as many as the CPU quota allows");
  app.set_help_flag("-h,--help", "show this help")->group(kCommon);
}

// The message, and where to read on.
std::string with_hint(const std::string& message, const CLI::App& app) {
  const std::string name = app.get_parent() ? "tenon " + app.get_name() : "tenon";
  return fmt::format("{}{} see '{} --help'", message, message.ends_with('?') ? "" : ";", name);
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
  if (extras.empty()) return "unexpected arguments";
  const std::string& first = extras.front();
  if (first.starts_with("-")) {
    const std::string name = first.substr(0, first.find('='));
    return fmt::format("unknown flag '{}'{}", name, suggestion(name, flag_names(app)));
  }
  if (&app != &root) {
    const bool takes_models_by_flag = app.get_option_no_throw("--model") != nullptr;
    return fmt::format("unexpected argument '{}'{}", first, takes_models_by_flag ? "; pass models with -m" : "");
  }
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  const std::string near = suggestion(first, names);
  return fmt::format("unknown command '{}'{}", first,
                     near.empty() ? "; the commands are " + CLI::detail::join(names, ", ") : near);
}

// CLI11's messages in plain words, where they are not plain already.
std::string describe_problem(const std::string& message) {
  const auto before = [&](std::string_view words) {
    const size_t at = message.find(words);
    return at == std::string::npos ? "" : message.substr(0, at);
  };
  if (const std::string name = before(" was given a disallowed flag override"); !name.empty())
    return "--" + name + " takes no value";
  if (const std::string name = before(": At Most 1 required but received"); !name.empty())
    return name + " may be given only once";
  if (const std::string name = before(": 1 required"); !name.empty()) return name + " needs a value";
  if (const std::string name = before(" is required"); !name.empty()) return "no " + name + " is given";
  return message;
}

}  // namespace

void parse_arguments(int count, char** values, const std::vector<CommandInfo>& commands, Request& request) {
  CLI::App root("Runs, compares and inspects ONNX models.");
  root.set_version_flag("--version", "tenon " + tenon::version(), "show the version")->group(kCommon);
  declare_settings(root, request.settings);
  root.footer(
      "Every command has its own help: tenon COMMAND --help\n"
      "Exit codes: 0 success; 1 failure or difference; 2 wrong command line; 3 the model cannot be loaded; 4 the model "
      "cannot be run");
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
  } catch (const TextWanted& wanted) {
    request.text = wanted.text;
    return;
  } catch (const CLI::CallForVersion& version) {
    request.text = std::string(version.what()) + "\n";
    return;
  } catch (const CLI::ExtrasError&) {
    throw Failure(kUsage, with_hint(describe_extras(root, chosen(), commands), chosen()));
  } catch (const CLI::ParseError& problem) {
    throw Failure(kUsage, with_hint(describe_problem(problem.what()), chosen()));
  }
  for (size_t i = 0; i < apps.size(); ++i)
    if (apps[i]->parsed()) request.command = std::move(made[i]);
  if (!request.command) throw Failure(kUsage, with_hint("no command is given", root));
}

}  // namespace cli
