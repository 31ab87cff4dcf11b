#pragma once

#include <string_view>

#include "onnx/import_node.h"

namespace tenon {

using ImportFunction = void (*)(ImportNode&);

// How ONNX spells the canonical ops.
class OnnxMap {
 public:
  struct Entry {
    OpId op{};
    ImportFunction import = nullptr;  // null: same inputs, outputs and attribute names in every version
  };
  // The ONNX op has the canonical op's inputs, outputs and attributes, in every version.
  void same(std::string_view domain, std::string_view op_type, OpId op);
  // The function reads the node (of any version) and emits canonical nodes.
  void custom(std::string_view domain, std::string_view op_type, OpId op, ImportFunction import);

  const Entry* find(std::string_view domain, std::string_view op_type) const;
  size_t size() const { return entries_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

inline constexpr std::string_view kOnnxDomain = "";
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";
inline constexpr std::string_view kPreviewDomain = "ai.onnx.preview";
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";

// Each op's mapping file specialises this for its id: every ONNX spelling that becomes this op.
template <OpId>
void onnx_mapping(OnnxMap& map);

const OnnxMap& onnx_map();

}  // namespace tenon
