#include "build/tenon_compiler.h"

#include <filesystem>

namespace tenon::build {

namespace {

class TenonStaged final : public StagedGroup {
 public:
  explicit TenonStaged(Publication publication) : publication_(std::move(publication)) {}
  std::string path(size_t model) const override { return publication_.path(model); }
  std::string weights_name() const override { return publication_.weights_name(); }
  int64_t weights_bytes() const override { return publication_.weights_bytes(); }
  void publish() override { publication_.publish(); }

 private:
  Publication publication_;
};

class TenonGroup final : public CompiledGroup {
 public:
  TenonGroup(Artifact artifact, const GroupToCompile& group) : artifact_(std::move(artifact)), group_(group) {}

  std::vector<std::string> names() const override { return artifact_.models(); }
  std::unique_ptr<StagedGroup> stage(bool overwrite) override {
    std::vector<std::string> files;
    for (const std::string& name : names())
      for (const ModelToCompile& model : group_.models)
        if (model.name == name) files.push_back(model.file);
    Options options{{"overwrite", overwrite ? "1" : "0"}, {"embed", group_.request.embed ? "1" : "0"}};
    options.set("weights_name", group_.names.weights_name);
    return std::make_unique<TenonStaged>(artifact_.stage(group_.names.folder, files, options));
  }
  Json describe() const override { return Json::parse(artifact_.describe("models,packed,sources")); }

 private:
  Artifact artifact_;
  GroupToCompile group_;
};

// Whether a context file has its weights where this build would put them.
bool has_same_place(const Json& context, const GroupToCompile& group) {
  if (flag_in(context, "embedded") != group.request.embed) return false;
  const std::string weights = text_in(context, "weights_file");
  return group.request.embed || weights.substr(0, weights.rfind('-')) == group.names.weights_name;
}

void set_common(const GroupToCompile& group, Options& options) {
  options.set("sources", group.request.sources);
  options.set("defer_weights", group.request.defer_weights ? "1" : "0");
  for (const std::string& name : group.pins) options.set("pin:" + name, "1");
}

}  // namespace

std::string TenonCompiler::key(const ModelToCompile& model, const GroupToCompile& group) const {
  // A model has no name there.
  Options options{{"provider", model.provider}};
  set_common(group, options);
  return compile_key(*model.model, options);
}

std::optional<ExistingResults> TenonCompiler::find_existing(const GroupToCompile& group, const Listener& tell) const {
  std::vector<std::string> paths;
  for (const ModelToCompile& model : group.models) {
    paths.push_back(group.names.path(model.file));
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(paths.back(), ignored)) return std::nullopt;
  }
  try {
    const Json context = Json::parse(describe_context_file(paths[0]));
    if (!has_same_place(context, group)) return std::nullopt;
    const Artifact old = Artifact::load(paths, {{"verify_weights", "1"}});
    ExistingResults found{text_in(context, "weights_file"), Json::parse(old.describe("models,packed,sources")), {}};
    for (const std::string& path : paths)
      found.validations.push_back(text_in(Json::parse(describe_context_file(path)), "validation"));
    const Json& models = list_in(found.described, "models");
    for (size_t i = 0; i < group.models.size(); ++i)
      if (text_in(models[i], "name") != group.models[i].name ||
          text_in(models[i], "made_from") != key(group.models[i], group))
        return std::nullopt;
    return found;
  } catch (const Error& error) {
    tell(Event::Detail, kNoModel, std::string("not up to date: ") + error.what());
    return std::nullopt;
  }
}

std::unique_ptr<CompiledGroup> TenonCompiler::compile(const GroupToCompile& group) const {
  Options options{{"jobs", std::to_string(group.request.jobs)}};
  set_common(group, options);
  std::vector<std::pair<std::string, const Model*>> models;
  for (const ModelToCompile& model : group.models) {
    models.emplace_back(model.name, model.model);
    options.set("provider:" + model.name, model.provider);
  }
  return std::make_unique<TenonGroup>(Artifact::compile(models, options, &group.context), group);
}

void TenonCompiler::note_validation(const std::string& path, const std::string& verdict) const {
  tenon::note_validation(path, verdict);
}

}  // namespace tenon::build
