// Weights apart from the model: where new ones come from, and the ones that a session has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenon/value.hpp"

namespace tenon {
inline namespace v0 {

// Where new weights come from: tensors by name.
class Source {
 public:
  // Tensors in memory.
  Source() : handle_(tn_source_create()) {}
  // An ONNX model, a .safetensors or .npz file, or a folder of the layout that the weights came from.
  static Source open(const std::string& path) {
    tn_source* source = nullptr;
    detail::check(tn_source_open(detail::c_text(path, "the path of weights"), &source));
    return Source(source);
  }
  Source& add(const std::string& name, const Value& value) {
    detail::check(tn_source_add(get(), detail::c_text(name, "the name of a weight"), value.get()));
    return *this;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tn_source_count(get()); ++i) names.emplace_back(tn_source_name(get(), i));
    return names;
  }
  tn_source* get() const { return handle_.get(); }

 private:
  explicit Source(tn_source* handle) : handle_(handle) {}
  detail::Owner<tn_source, tn_source_release> handle_;
};

// The weights of a session at one moment. Copying shares them.
class Weights {
 public:
  explicit Weights(tn_weights* handle) : handle_(handle, tn_weights_release) {}
  const tn_weights* get() const { return handle_.get(); }

 private:
  std::shared_ptr<tn_weights> handle_;
};

}  // namespace v0
}  // namespace tenon
