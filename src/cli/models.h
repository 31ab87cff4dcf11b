#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/failure.h"
#include "tenon/tenon.hpp"

namespace cli {

// "<file>: <message>", with the file once.
std::string in_file(const std::string& file, const std::string& message);

// The first few, or all with -v.
void show_warnings(const std::string& path, const std::vector<std::string>& warnings, const Console& console);

// Reads a model and shows its warnings. Failure(kCannotLoad) when that is not possible.
tenon::Model load_model(const std::string& path, const tenon::Options& options, const Console& console);

tenon::Context make_context(const Console& console);

// Failure(kCannotLoad) when what is missing or wrong is in the model or its files, else Failure(kCannotRun).
tenon::Session make_session(const tenon::Context& context, const tenon::Model& model, const std::string& path,
                            const tenon::Options& options, const Console& console);

// By input, whether it has a default. The file of a compiled model does not tell; the session knows for every model.
std::vector<bool> defaults_of(const tenon::Session& session);

// Calls f; what the library refuses becomes a Failure with this code that names the file.
template <class F>
auto refusing(Exit code, const std::string& file, F&& f) {
  try {
    return f();
  } catch (const tenon::Error& error) {
    throw Failure(code, in_file(file, error.what()));
  }
}

}  // namespace cli
