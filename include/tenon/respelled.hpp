// Models with every node written again. In libtenon only.
#pragma once

#include <string>

#include "tenon/model.hpp"

namespace tenon {
inline namespace v0 {

struct RespelledModel {
  std::string model;   // the bytes of an ONNX file
  std::string report;  // JSON, see tn_model_respell
};

// See tn_model_respell. Throws Error.
inline RespelledModel respelled(const Model& model) {
  char *data = nullptr, *report = nullptr;
  size_t size = 0;
  detail::check(tn_model_respell(model.get(), &data, &size, &report));
  const detail::Owner<char, tn_string_release> owned(data);
  return {std::string(data, size), detail::take_text(report)};
}

}  // namespace v0
}  // namespace tenon
