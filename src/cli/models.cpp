#include "cli/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/option_flags.h"
#include "cli/stopwatch.h"
#include "cli/text.h"

namespace cli {

namespace {

// What people get wrong most often, in words about the file and not about its contents.
void check_is_file(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) throw Failure(kCannotLoad, "the name of the model is empty");
  if (std::filesystem::is_directory(path, ignored))
    throw Failure(kCannotLoad, path + ": this is a folder; name an ONNX file");
  if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) == 0)
    throw Failure(kCannotLoad, path + ": the file is empty");
}

}  // namespace

void show_warnings(const std::string& path, const std::vector<std::string>& warnings, const Console& console) {
  constexpr size_t kShown = 10;
  const size_t shown = console.settings().verbose ? warnings.size() : std::min(warnings.size(), kShown);
  for (size_t i = 0; i < shown; ++i) console.warning(in_file(path, warnings[i]));
  if (shown < warnings.size())
    console.warning(fmt::format("{}: {} more; -v shows them all", path, warnings.size() - shown));
}

std::string in_file(const std::string& file, const std::string& message) {
  if (message.starts_with(file + ":") || message.find("'" + file + "'") != std::string::npos)
    return with_flags(message);
  return file + ": " + with_flags(message);
}

tenon::Model load_model(const std::string& path, const tenon::Options& options, const Console& console) {
  const Stopwatch watch;
  check_is_file(path);
  console.progress("reading " + path);
  tenon::Model model = refusing(kCannotLoad, path, [&] { return tenon::Model::load(path, options); });
  show_warnings(path, model.warnings(), console);
  console.detail(fmt::format("loaded {} in {}", path, human_seconds(watch.seconds())));
  return model;
}

tenon::Context make_context(const Console& console) {
  tenon::Context context(tenon::Options{{"threads", std::to_string(std::max<int64_t>(console.settings().threads, 0))}});
  console.detail(fmt::format("using {}", counted(context.threads(), "thread")));
  return context;
}

tenon::Session make_session(const tenon::Context& context, const tenon::Model& model, const std::string& path,
                            const tenon::Options& options, const Console& console) {
  const Stopwatch watch;
  console.progress("compiling " + path);
  try {
    tenon::Session session(context, model, options);
    console.detail(fmt::format("compiled {} in {}", path, human_seconds(watch.seconds())));
    return session;
  } catch (const tenon::Error& error) {
    // Weights in other files are read now.
    const bool is_file = error.code() == TN_NOT_FOUND || error.code() == TN_INVALID_MODEL || error.code() == TN_IO ||
                         error.code() == TN_INCOMPATIBLE;
    throw Failure(is_file ? kCannotLoad : kCannotRun, in_file(path, error.what()));
  }
}

std::vector<bool> defaults_of(const tenon::Session& session) {
  std::vector<bool> defaults;
  for (size_t i = 0; i < session.input_count(); ++i) defaults.push_back(session.input_has_default(i));
  return defaults;
}

}  // namespace cli
