#include "build/program_compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "build/child_process.h"
#include "build/staging_folder.h"

namespace tenon::build {

namespace {

namespace fs = std::filesystem;

void check(const Status& status) {
  if (!status.ok()) throw Error(static_cast<tn_code>(status.code()), status.to_string());
}

template <class T>
T checked(Result<T> result) {
  check(result.status());
  return std::move(result).value();
}

class ProgramGroup final : public CompiledGroup {
 public:
  ProgramGroup(std::shared_ptr<StagingFolder> folder, Json described, std::vector<std::string> names,
               std::vector<std::string> files)
      : folder_(std::move(folder)), described_(std::move(described)), names_(std::move(names)),
        files_(std::move(files)) {}

  std::vector<std::string> names() const override { return names_; }
  Json describe() const override { return described_; }
  std::unique_ptr<StagedGroup> stage(bool overwrite) override {
    return std::make_unique<Staged>(folder_, files_, overwrite);
  }

 private:
  class Staged final : public StagedGroup {
   public:
    Staged(std::shared_ptr<StagingFolder> folder, std::vector<std::string> files, bool overwrite)
        : folder_(std::move(folder)), files_(std::move(files)), overwrite_(overwrite) {
      const auto others = checked(folder_->other_files(files_));
      std::error_code ignored;
      for (const std::string& file : others)
        bytes_ += static_cast<int64_t>(fs::file_size(fs::path(folder_->path()) / file, ignored));
      if (!others.empty()) weights_ = others[0];
    }
    std::string path(size_t model) const override { return folder_->path() + "/" + files_[model]; }
    std::string weights_name() const override { return weights_; }
    int64_t weights_bytes() const override { return bytes_; }
    void publish() override { check(folder_->publish(files_, overwrite_)); }

   private:
    std::shared_ptr<StagingFolder> folder_;
    std::vector<std::string> files_;
    std::string weights_;
    int64_t bytes_ = 0;
    bool overwrite_;
  };

  std::shared_ptr<StagingFolder> folder_;
  Json described_;
  std::vector<std::string> names_, files_;
};

Json request_for(const GroupToCompile& group) {
  Json names = Json::array();
  for (const ModelToCompile& model : group.models) names.push_back(model.name);
  return Json::object({{"parent", static_cast<int64_t>(::getpid())},
                       {"provider", group.request.provider},
                       {"embed", group.request.embed},
                       {"weights_name", group.names.weights_name},
                       {"models", std::move(names)},
                       {"jobs", group.request.jobs},
                       {"threads", group.request.threads}});
}

}  // namespace

std::string ProgramCompiler::key(const ModelToCompile& model, const GroupToCompile& group) const {
  Options options{{"sources", group.request.sources}};
  for (const std::string& name : group.pins) options.set("pin:" + name, "1");
  return name_ + ":" + compile_key(*model.model, options);
}

void ProgramCompiler::run(const GroupToCompile& group, const std::string& folder) const {
  std::vector<std::string> arguments = command_.arguments;
  arguments.insert(arguments.end(), {dump(request_for(group)), folder});
  for (const ModelToCompile& model : group.models) arguments.insert(arguments.end(), {model.path, model.file});
  const ChildResult child =
      run_child(command_.program, std::move(arguments), group.request.compile_limit, &group.cancelled);
  if (child.timed_out)
    throw Error(
        TN_RESOURCE_LIMIT,
        fmt::format(
            "the compiler '{}' printed nothing for more than {} s and was stopped; raise the option 'compile_seconds'",
            name_, std::chrono::duration<double>(group.request.compile_limit).count()));
  if (!child.problem.empty())
    throw Error(TN_UNSUPPORTED, fmt::format("the compiler '{}' {}{}{}", name_, child.problem,
                                            child.output.empty() ? "" : ": ", child.output));
}

std::unique_ptr<CompiledGroup> ProgramCompiler::compile(const GroupToCompile& group) const {
  const auto start = std::chrono::steady_clock::now();
  Json models = Json::array();
  std::vector<std::string> names, files;
  // Before it starts: a file that changes while it reads is noticed.
  for (const ModelToCompile& model : group.models) {
    models.push_back(Json::object({{"name", model.name}, {"steps", 0}, {"made_from", key(model, group)}}));
    names.push_back(model.name);
    files.push_back(model.file);
  }
  std::shared_ptr<StagingFolder> folder = checked(StagingFolder::make(group.names.folder));
  run(group, folder->path());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (Json& model : models) model["seconds_spent"] = seconds / static_cast<double>(models.size());
  Json described = Json::object({{"models", std::move(models)}, {"packed", Json::array()}, {"sources", Json::array()}});
  return std::make_unique<ProgramGroup>(std::move(folder), std::move(described), std::move(names), std::move(files));
}

}  // namespace tenon::build
