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
};

}  // namespace tenon::api
