// The configuration file of `tenon compile`.
#include <fmt/format.h>

#include <algorithm>

#include "cli/compile/compilers.h"
#include "cli/compile/settings.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/text.h"
#include "tenon/tenon.hpp"

namespace cli {

namespace {

// Reads the section and collects everything that is wrong with it.
class ConfigReader {
 public:
  // `prefix`: of the keys in messages.
  ConfigReader(CompileSettings& settings, ConfigProblems& problems, std::string prefix)
      : settings_(settings), problems_(problems), prefix_(std::move(prefix)) {}

  void read(const Json& document) {
    if (!document.is_object()) return problems_.wrong("the file", "an object");
    problems_.check_once("", document);
    for (const auto& [key, value] : document.entries())
      if (key != "compile" && key != "optimize" && key != "build")
        problems_.unknown(key, {"compile", "optimize", "build"});
    const Json& section = document["compile"];
    if (section.is_null()) return problems_.wrong("the file", "an object with the section 'compile'");
    read_section(section);
  }
  void read_section(const Json& section) {
    if (!section.is_object()) return problems_.wrong("compile", "an object");
    for (const auto& [key, value] : section.entries()) read_key(key, value);
  }

 private:
  void wrong(const std::string& key, const std::string& wanted) { problems_.wrong(prefix_ + key, wanted); }
  void unknown(const std::string& key, const std::vector<std::string>& known) {
    std::vector<std::string> names;
    for (const std::string& name : known) names.push_back(prefix_ + name);
    problems_.unknown(prefix_ + key, names);
  }

  void read_key(const std::string& key, const Json& value) {
    if (key == "compiler") {
      text(key, value, settings_.compiler);
      if (value.is_text() && find_compiler(value.text()).empty())
        problems_.add(fmt::format("{}compiler: unknown compiler '{}'", prefix_, value.text()));
    } else if (key == "sources") {
      text(key, value, settings_.sources);
      const std::string& s = settings_.sources;
      if (s != "reference" && s != "embed" && s != "none") wrong(key, "reference, embed or none");
    } else if (key == "embed") {
      boolean(key, value, settings_.embed);
    } else if (key == "validate") {
      boolean(key, value, settings_.validate);
    } else if (key == "threads") {
      if (!value.is_integer() || value.integer() < 0 || value.integer() > 1024)
        return wrong(key, "a whole number from 0 to 1024");
      settings_.threads = value.integer();
    } else if (key == "provider_options") {
      options(key, value, settings_.provider_options, false);
    } else if (key == "models") {
      models(value);
    } else {
      unknown(key, {"compiler", "provider_options", "models", "embed", "validate", "sources", "threads"});
    }
  }
  void text(const std::string& key, const Json& value, std::string& target) {
    if (!value.is_text()) return wrong(key, "text");
    target = value.text();
  }
  void boolean(const std::string& key, const Json& value, bool& target) {
    if (!value.is_boolean()) return wrong(key, "true or false");
    target = target || value.boolean();
    if (key == "validate") target = value.boolean();
  }
  void options(const std::string& where, const Json& value, TextMap& target, bool of_one_model) {
    if (!value.is_object()) return wrong(where, "an object");
    for (const auto& [key, item] : value.entries()) {
      if (item.is_object() || item.is_array() || item.is_null()) {
        wrong(where + "." + key, "a text, a number, true or false");
        continue;
      }
      const std::string problem = check_provider_option(key, item.plain(), of_one_model);
      if (!problem.empty()) problems_.add(prefix_ + where + ": " + problem);
      target[key] = item.plain();
    }
  }
  void models(const Json& value) {
    if (!value.is_object()) return wrong("models", "an object");
    for (const auto& [stem, settings] : value.entries()) {
      const std::string where = "models." + stem;
      if (!settings.is_object()) {
        wrong(where, "an object");
        continue;
      }
      for (const auto& [key, item] : settings.entries()) {
        if (key == "provider_options")
          options(where + "." + key, item, settings_.model_options[stem], true);
        else
          unknown(where + "." + key, {where + ".provider_options"});
      }
    }
  }

  CompileSettings& settings_;
  ConfigProblems& problems_;
  std::string prefix_;
};

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  const Json system = Json::parse(tenon::system_json());
  for (const Json& isa : system["cpu"]["isas"].items()) names.push_back(isa.text());
  return names;
}

std::string one_of(const std::string& key, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return "";
  return fmt::format("{} must be one of {}, but it is '{}'", key, fmt::join(choices, ", "), value);
}

}  // namespace

void read_config(const std::string& path, CompileSettings& settings) {
  const Json document = read_config_file("--config", path);
  ConfigProblems problems;
  ConfigReader(settings, problems, "").read(document);
  problems.finish("--config", path);
}

void read_compile_section(const Json& section, CompileSettings& settings, ConfigProblems& problems) {
  ConfigReader(settings, problems, "compile.").read_section(section);
}

std::string provider_option_help() {
  Table table({"option", "values", "meaning"});
  table.add({"provider", "cpu, cpu_exact, reference",
             "the kernels to compile for (default: cpu); cpu_exact uses no algorithm that adds roundings"});
  table.add({"cpu_isa", fmt::format("{}", fmt::join(instruction_sets(), ", ")),
             "the most advanced instruction set that validation may use; the compiled model does not depend on it"});
  return table.text();
}

std::string check_provider_option(const std::string& key, const std::string& value, bool of_one_model) {
  if (key == "provider") return one_of(key, value, {"cpu", "cpu_exact", "reference"});
  if (key == "cpu_isa" && of_one_model) return "cpu_isa applies to all models; set it outside 'models'";
  if (key == "cpu_isa") return one_of(key, value, instruction_sets());
  return fmt::format("unknown provider option '{}'{}", key, suggestion(key, {"provider", "cpu_isa"}));
}

}  // namespace cli
