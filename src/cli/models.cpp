#include "cli/models.h"

#include "cli/text.h"

namespace cli {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

std::string in_file(const std::string& file, const std::string& message) {
  if (message.starts_with(file + ":") || message.find("'" + file + "'") != std::string::npos) return message;
  return file + ": " + message;
}

tenon::Model load_model(const std::string& path, const Console& console) {
  const auto start = Clock::now();
  tenon::Model model = refusing(kCannotLoad, path, [&] { return tenon::Model::load(path); });
  for (const std::string& warning : model.warnings()) console.warning(in_file(path, warning));
  console.detail(fmt::format("loaded {} in {}", path, human_seconds(seconds_since(start))));
  return model;
}

tenon::Context make_context(const Console& console) {
  tenon::Context context(tenon::Options{{"threads", std::to_string(console.settings().threads)}});
  console.detail(fmt::format("using {}", counted(context.threads(), "thread")));
  return context;
}

tenon::Session make_session(const tenon::Context& context, const tenon::Model& model, const std::string& path,
                            const tenon::Options& options, const Console& console) {
  const auto start = Clock::now();
  tenon::Session session = refusing(kCannotRun, path, [&] { return tenon::Session(context, model, options); });
  console.detail(fmt::format("compiled {} in {}", path, human_seconds(seconds_since(start))));
  return session;
}

}  // namespace cli
