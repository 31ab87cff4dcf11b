#pragma once

#include <optional>
#include <string>

#include "base/hash.h"
#include "passes/capability.h"
#include "wire/onnx_model.h"

namespace tenon {

// The note in a model's metadata that it is in normal form: under which version of the passes, with which capabilities,
// and of which content. It is believed only when the content is still the same.
inline constexpr std::string_view kStampKey = "tenon.normal_form";

struct Stamp {
  std::string passes;  // pass_set_version()
  CapabilitySet capabilities;
  Hash128 content;
};

std::string stamp_text(const Stamp& stamp);
// Nothing when there is none, or one that this version cannot read.
std::optional<Stamp> read_stamp(const wire::Model& model);

}  // namespace tenon
