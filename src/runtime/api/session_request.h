#pragma once

#include "runtime/api/handles.h"

namespace tenon::api {

// What a caller wants of a session, apart from how it is compiled.
struct SessionRequest {
  SessionOptions settings;
  std::map<std::string, int64_t> dims;  // symbolic extents that become fixed
  bool keep_values = false;             // every named value comes out

  // Takes over what the context says; then reads the options that all sessions have.
  void read(tn_context* context, OptionReader& reader);
  bool changes_plan() const { return !dims.empty() || keep_values; }
  // The program as the caller wants it.
  std::shared_ptr<const Program> apply(const std::shared_ptr<const Program>& program) const;
  // For a program of this key, if it is known already, which `recompile` (or null) compiles again.
  SessionOptions settings_for(std::optional<Hash128> plan_key, Recompile recompile) const;
};

}  // namespace tenon::api
