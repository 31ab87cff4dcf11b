#include "build/optimize_file.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "build/capability_report.h"
#include "build/change_report.h"
#include "build/save_optimized.h"

namespace tenon::build {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool has_same_bytes(const fs::path& a, const fs::path& b) {
  constexpr std::streamsize kPiece = 1 << 20;
  std::error_code problem;
  if (is_same_file(a.string(), b.string())) return true;
  if (!fs::is_regular_file(b, problem) || fs::file_size(a, problem) != fs::file_size(b, problem) || problem)
    return false;
  std::ifstream left(a, std::ios::binary), right(b, std::ios::binary);
  std::string one(kPiece, '\0'), other(kPiece, '\0');
  do {
    left.read(one.data(), kPiece);
    right.read(other.data(), kPiece);
    const auto count = static_cast<size_t>(left.gcount());
    if (left.bad() || right.gcount() != left.gcount() || std::memcmp(one.data(), other.data(), count) != 0)
      return false;
  } while (left);
  return left.eof();
}

const char* copied_text(Copied copied) { return copied == Copied::Reflink ? "reflink" : "copy"; }

class Optimizing {
 public:
  explicit Optimizing(const OptimizeRequest& request) : request_(request) {}

  Result<Json> run() {
    const auto started = std::chrono::steady_clock::now();
    report_["input"] = request_.input;
    report_["output"] = request_.output;
    report_["capabilities"] = choice_json(request_.capabilities);
    TN_RETURN_IF_ERROR(check_output());
    TN_ASSIGN_OR_RETURN(model_, open_file(request_.input));
    TN_RETURN_IF_ERROR(optimize());
    report_["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return std::move(report_);
  }

 private:
  Status check_output() const {
    if (request_.check || request_.overwrite) return {};
    std::error_code problem;
    if (!fs::exists(fs::symlink_status(request_.output, problem))) return {};
    return invalid_argument("'{}' exists; set the option 'overwrite' to replace it", request_.output);
  }

  Status optimize() {
    const size_t nodes = model_->wire.graph.nodes.size();
    report_["changes"] = Json::array();
    if (!request_.force) {
      TN_ASSIGN_OR_RETURN(const bool is_done, is_stamped_as_done(model_->wire, model_->bytes, model_->external.get(),
                                                                 request_.capabilities.set));
      if (is_done) return leave("stamp", nodes);
    }
    TN_RETURN_IF_ERROR(import_opened(*model_));
    TN_ASSIGN_OR_RETURN(RewrittenModel optimized, optimize_with_report());
    if (!optimized.changed && !request_.force) return leave("no pass changes it", nodes);
    report_["nodes"] = {{"before", optimized.nodes_before}, {"after", optimized.nodes_after}};
    report_["status"] = request_.check ? "would change" : "optimized";
    report_["written"] = request_.check ? "nothing" : "model";
    if (request_.check) return {};
    TN_RETURN_IF_ERROR(take_data_files_along(optimized.exported.model));
    const SaveRequest save{request_.output, request_.capabilities, request_.overwrite, request_.most_file_bytes};
    TN_ASSIGN_OR_RETURN(const Json files, write_rewritten(*model_, optimized, save, true));
    for (const Json& file : files)
      if (text_in(file, "written") == "weights") report_["data_files"].push_back(file);
    return {};
  }

  Result<RewrittenModel> optimize_with_report() {
    std::unique_ptr<DriftMeter> drift;
    if (request_.drift) {
      TN_ASSIGN_OR_RETURN(drift, DriftMeter::start(model_, request_.seed));
    }
    TN_ASSIGN_OR_RETURN(RewrittenModel optimized,
                        optimize_model(*model_, request_.capabilities.set, drift ? drift->observer() : nullptr));
    report_["changes"] = changes_json(optimized.log, drift.get());
    if (drift) report_["drift"] = drift->total();
    if (request_.check) {
      report_["misses"] = misses_json(optimized.log);
      TN_ASSIGN_OR_RETURN(report_["effects"], effects_json(*model_, request_.capabilities.set));
    }
    return optimized;
  }

  // Nothing is to be done to the model.
  Status leave(const char* evidence, size_t nodes) {
    report_["status"] = "already normalized";
    report_["evidence"] = evidence;
    report_["nodes"] = {{"before", nodes}, {"after", nodes}};
    if (request_.check || is_same_file(request_.input, request_.output)) {
      report_["written"] = "nothing";
      return {};
    }
    TN_RETURN_IF_ERROR(take_data_files_along(model_->wire));
    TN_ASSIGN_OR_RETURN(const Copied copied, copy_file_atomically(request_.input, request_.output));
    report_["written"] = copied_text(copied);
    return {};
  }

  // In its own folder the output refers to the data files of the input; elsewhere it needs them there, and first.
  Status take_data_files_along(const wire::Model& model) {
    Json files = Json::array();
    const fs::path from = folder_of(request_.input), to = folder_of(request_.output);
    const bool is_same_folder = is_same_file(from.string(), to.string());
    for (const std::string& location : data_files(model)) {
      Json file = {{"name", location}, {"written", "nothing"}};
      if (!is_same_folder) {
        std::error_code problem;
        const bool is_there = !request_.overwrite && fs::exists(fs::symlink_status(to / location, problem));
        // Models that share a data file still share it there.
        if (is_there && has_same_bytes(from / location, to / location)) {
          files.push_back(std::move(file));
          continue;
        }
        if (is_there)
          return invalid_argument(
              "'{}' exists, and the model needs a data file of this name there; choose another "
              "folder, or set the option 'overwrite' to replace it",
              (to / location).string());
        fs::create_directories((to / location).parent_path(), problem);
        TN_ASSIGN_OR_RETURN(const Copied copied,
                            copy_file_atomically((from / location).string(), (to / location).string()));
        file["written"] = copied_text(copied);
      }
      files.push_back(std::move(file));
    }
    report_["data_files"] = std::move(files);
    return {};
  }

  const OptimizeRequest& request_;
  std::shared_ptr<ImportedModel> model_;
  Json report_;
};

}  // namespace

Result<std::string> optimize_file(const OptimizeRequest& request) {
  TN_ASSIGN_OR_RETURN(const Json report, Optimizing(request).run());
  return dump(report);
}

std::string report_of(const RewrittenModel& optimized, const CapabilityChoice& capabilities) {
  Json report;
  report["capabilities"] = choice_json(capabilities);
  report["status"] = optimized.changed ? "optimized" : "already normalized";
  report["nodes"] = {{"before", optimized.nodes_before}, {"after", optimized.nodes_after}};
  report["changes"] = changes_json(optimized.log);
  return dump(report);
}

}  // namespace tenon::build
