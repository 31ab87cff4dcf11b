#include "cli/loaded_session.h"

#include "cli/models.h"

namespace cli {

namespace {

tenon::Model load_with_shapes(const std::string& path, InputFlags& flags, const Console& console) {
  tenon::Model model = load_model(path, flags.options().for_loading(), console);
  flags.resolve_shapes(model);
  return model;
}

tenon::Options session_options(const InputFlags& flags, const tenon::Model& model) {
  tenon::Options options;
  flags.shapes().add_dims(model, options);
  flags.options().add_for_session(options);
  return options;
}

}  // namespace

LoadedSession::LoadedSession(const std::string& path, InputFlags& flags, const Console& console)
    : model(load_with_shapes(path, flags, console)), context(make_context(console)),
      session(make_session(context, model, path, session_options(flags, model), console)),
      inputs(flags.read(model, defaults_of(session), path, console)) {}

}  // namespace cli
