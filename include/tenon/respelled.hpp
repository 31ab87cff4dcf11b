// Models with every node written again, on top of <tenon/tenon.hpp>.
#pragma once

#include <string>

#include <tenon/tenon.hpp>

namespace tenon {

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

}  // namespace tenon
