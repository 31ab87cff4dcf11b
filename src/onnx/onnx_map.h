#pragma once

#include <string_view>

#include "onnx/import_node.h"

namespace tenon {

using ImportFunction = void (*)(ImportNode&);

// An input of a canonical op that is an attribute in older versions of the ONNX op.
struct AttributeInput {
  enum class Kind : uint8_t { Ints, Int, Floats, Float };
  size_t input;
  std::string_view name;
  Kind kind = Kind::Ints;
};

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

  // Inputs that older versions have as attributes, so that nodes can be written in these versions.
  void attribute_inputs(OpId op, std::vector<AttributeInput> inputs);

  const Entry* find(std::string_view domain, std::string_view op_type) const;
  // The ONNX ops that may become a canonical one, the one of its own name first.
  std::vector<std::pair<std::string_view, std::string_view>> spellings(OpId op) const;
  const std::vector<AttributeInput>& attribute_inputs(OpId op) const;
  size_t size() const { return entries_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  std::map<OpId, std::vector<AttributeInput>> attribute_inputs_;
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
