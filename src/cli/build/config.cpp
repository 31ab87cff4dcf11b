// The configuration file of `tenon build`.
#include <filesystem>

#include "cli/build/settings.h"
#include "cli/failure.h"

namespace cli {

namespace {

class BuildConfigReader {
 public:
  BuildConfigReader(const std::string& path, BuildSettings& settings, ConfigProblems& problems)
      : folder_(std::filesystem::path(path).parent_path()), settings_(settings), problems_(problems) {}

  void read(const Json& document) {
    if (!document.is_object()) return problems_.wrong("the file", "an object");
    problems_.check_once("", document);
    for (const auto& [key, value] : document.entries()) read_key(key, value);
  }

 private:
  void read_key(const std::string& key, const Json& value) {
    if (key == "models")
      read_models(value);
    else if (key == "optimize")
      settings_.capabilities.read(key, value, problems_);
    else if (key == "analyze")
      read_analyze(value);
    else if (key == "compile")
      read_compile_section(value, settings_.compile, problems_);
    else if (key == "output")
      read_path(key, value, settings_.output);
    else
      problems_.unknown(key, {"models", "optimize", "analyze", "compile", "output"});
  }

  void read_path(const std::string& key, const Json& value, std::string& target) {
    problems_.text(key, value, target);
    if (value.is_text() && !value.text().empty()) target = (folder_ / value.text()).string();
  }

  void read_models(const Json& value) {
    if (!value.is_array()) return problems_.wrong("models", "a list");
    size_t number = 0;
    for (const Json& item : value.items()) {
      const std::string where = "models[" + std::to_string(number++) + "]";
      BuildModel model;
      if (item.is_object())
        read_model(where, item, model);
      else
        read_path(where, item, model.path);
      settings_.models.push_back(std::move(model));
    }
  }

  void read_model(const std::string& where, const Json& item, BuildModel& model) {
    if (item["path"].is_null()) problems_.wrong(where, "a path, or an object with the key 'path'");
    for (const auto& [key, value] : item.entries()) {
      const std::string name = where + "." + key;
      if (key == "path")
        read_path(name, value, model.path);
      else if (key == "name")
        problems_.text(name, value, model.name);
      else if (key == "optimize")
        read_model_optimize(name, value, model);
      else if (key == "compile")
        read_model_compile(name, value, model);
      else
        problems_.unknown(name, {where + ".path", where + ".name", where + ".optimize", where + ".compile"});
    }
    if (model.name.find('/') != std::string::npos) problems_.wrong(where + ".name", "a name, not a path");
  }

  void read_model_optimize(const std::string& where, const Json& value, BuildModel& model) {
    CapabilityFlags flags;
    flags.read(where, value, problems_);
    model.enable = flags.enable;
    model.disable = flags.disable;
  }

  void read_model_compile(const std::string& where, const Json& value, BuildModel& model) {
    if (!value.is_object()) return problems_.wrong(where, "an object");
    for (const auto& [key, item] : value.entries()) {
      if (key != "provider_options" || !item.is_object()) {
        problems_.unknown(where + "." + key, {where + ".provider_options"});
        continue;
      }
      for (const auto& [option, text] : item.entries()) {
        const std::string problem = check_provider_option(option, text.plain(), true);
        if (!problem.empty()) problems_.add(where + ".provider_options: " + problem);
        if (option == "provider") model.provider = text.plain();
      }
    }
  }

  void read_analyze(const Json& value) {
    if (!value.is_object()) return problems_.wrong("analyze", "an object");
    for (const auto& [key, item] : value.entries()) {
      if (key == "auto") {
        problems_.boolean("analyze.auto", item, settings_.auto_enable);
      } else if (key == "max_rounds") {
        problems_.integer("analyze.max_rounds", item, 0, 3, settings_.most_rounds);
      } else if (key == "fail_on") {
        settings_.fail_on_reference = item.text() == "reference";
        if (!settings_.fail_on_reference && !item.is_null())
          problems_.wrong("analyze.fail_on", "\"reference\" or null");
      } else {
        problems_.unknown("analyze." + key, {"analyze.auto", "analyze.max_rounds", "analyze.fail_on"});
      }
    }
  }

  std::filesystem::path folder_;
  BuildSettings& settings_;
  ConfigProblems& problems_;
};

}  // namespace

void read_build_config(const std::string& path, BuildSettings& settings) {
  const Json document = read_config_file("--config", path);
  ConfigProblems problems;
  BuildConfigReader(path, settings, problems).read(document);
  problems.finish("--config", path);
}

}  // namespace cli
