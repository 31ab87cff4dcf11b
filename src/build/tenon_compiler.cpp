#include "build/tenon_compiler.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "build/cached_compile.h"
#include "build/in_parallel.h"
#include "build/job.h"

namespace tenon::build {

namespace {

void throw_if_failed(const Status& status) {
  if (!status.ok()) throw Error(static_cast<tn_code>(status.code()), status.to_string());
}

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
  TenonGroup(std::unique_ptr<const CachedCompile> compiled, const GroupToCompile& group)
      : compiled_(std::move(compiled)), group_(group) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const ModelToCompile& model : group_.models) names.push_back(model.name);
    return names;
  }
  std::unique_ptr<StagedGroup> stage(bool overwrite) override {
    std::vector<std::string> files;
    for (const ModelToCompile& model : group_.models) files.push_back(model.file);
    const std::vector<const char*> texts = detail::c_texts(files, "the name of a file");
    Options options{{"overwrite", overwrite ? "1" : "0"}, {"embed", group_.request.embed ? "1" : "0"}};
    options.set("weights_name", group_.names.weights_name);
    tn_publication* publication = nullptr;
    detail::check(tn_artifact_stage(compiled_->artifact(), detail::c_text(group_.names.folder, "the path of a folder"),
                                    texts.data(), texts.size(), options.get(), &publication));
    return std::make_unique<TenonStaged>(Publication(publication));
  }
  Json describe() const override {
    char* text = nullptr;
    detail::check(tn_artifact_describe(compiled_->artifact(), "models,packed,sources", &text));
    return Json::parse(detail::take_text(text));
  }
  bool is_cached(size_t model) const override { return compiled_->is_cached(model); }
  std::string earlier_verdict(size_t model) const override { return compiled_->earlier_verdict(model); }
  void keep(const StagedGroup& staged, const std::vector<std::string>& verdicts) const override {
    const std::string weights = staged.weights_name();
    throw_if_failed(compiled_->keep(weights.empty() ? "" : group_.names.path(weights), verdicts));
  }

 private:
  std::unique_ptr<const CachedCompile> compiled_;
  GroupToCompile group_;
};

// Whether a context file has its weights where this build would put them.
bool has_same_place(const Json& context, const GroupToCompile& group) {
  if (flag_in(context, "embedded") != group.request.embed) return false;
  const std::string weights = text_in(context, "weights_file");
  return group.request.embed || weights.substr(0, weights.rfind('-')) == group.names.weights_name;
}

// Of the weights that no swap may change, those that the model has.
std::vector<std::string> pins_in(const Model& model, const std::vector<std::string>& pins) {
  if (pins.empty()) return {};
  std::set<std::string> names;
  const Json described = Json::parse(model.describe("weights"));
  for (const Json& weight : list_in(described, "weights")) names.insert(text_in(weight, "name"));
  std::vector<std::string> result;
  std::ranges::copy_if(pins, std::back_inserter(result), [&](const std::string& pin) { return names.contains(pin); });
  return result;
}

Options options_of(const ModelToCompile& model, const GroupToCompile& group) {
  Options options{{"provider", model.provider},
                  {"sources", group.request.sources},
                  {"defer_weights", group.request.defer_weights ? "1" : "0"}};
  for (const std::string& name : pins_in(*model.model, group.pins)) options.set("pin:" + name, "1");
  return options;
}

// A folder that somebody named must work; without the user's own, things only take longer.
void open_cache(CachedCompile& compiled, const GroupToCompile& group) {
  const CacheOptions& options = group.request.cache;
  if (!options.is_on) return;
  const Status status = compiled.open_cache(options);
  if (!options.folder.empty()) throw_if_failed(status);
  if (!status.ok()) group.tell(Event::Detail, kNoModel, "there is no cache: " + status.to_string());
}

}  // namespace

std::string TenonCompiler::key(const ModelToCompile& model, const GroupToCompile& group) const {
  return compile_key(*model.model, options_of(model, group));
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
    const Artifact old = Artifact::load(paths);
    ExistingResults found{text_in(context, "weights_file"), Json::parse(old.describe("models,packed,sources")), {}};
    for (const std::string& path : paths)
      found.validations.push_back(text_in(Json::parse(describe_context_file(path)), "validation"));
    const Json& models = list_in(found.described, "models");
    for (size_t i = 0; i < group.models.size(); ++i)
      if (text_in(models[i], "name") != group.models[i].name ||
          text_in(models[i], "made_from") != key(group.models[i], group))
        return std::nullopt;
    // This reads every weight, so it comes last.
    (void)Artifact::load(paths, {{"verify_weights", "1"}});
    return found;
  } catch (const Error& error) {
    tell(Event::Detail, kNoModel, std::string("not up to date: ") + error.what());
    return std::nullopt;
  }
}

std::unique_ptr<CompiledGroup> TenonCompiler::compile(const GroupToCompile& group) const {
  auto compiled = std::make_unique<CachedCompile>(group.models.size(), group.context.get());
  open_cache(*compiled, group);
  for_each_parallel(group.models.size(), group.request.jobs, [&](size_t i) {
    const ModelToCompile& model = group.models[i];
    const Options options = options_of(model, group);
    throw_if_failed(
        compiled->add(i, {model.model->get(), model.name, std::filesystem::path(model.path).filename().string(),
                          options.get(), compile_key(*model.model, options)}));
  });
  compiled->join();
  return std::make_unique<TenonGroup>(std::move(compiled), group);
}

void TenonCompiler::note_validation(const std::string& path, const std::string& verdict) const {
  tenon::note_validation(path, verdict);
}

}  // namespace tenon::build
