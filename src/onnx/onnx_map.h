#pragma once

#include <string_view>

#include "onnx/import_node.h"

namespace tenon {

class NodeDraft;

using ImportFunction = void (*)(ImportNode&);
// Turns a node with the attributes of its parameters into another form. False when the form is not for this node.
using DraftFunction = bool (*)(NodeDraft&);

// An input of a canonical op that is an attribute of the ONNX op, in old versions or in all.
struct AttributeInput {
  enum class Kind : uint8_t { Ints, Int, Floats, Float, Tensor };
  size_t input;
  std::string_view name;
  Kind kind = Kind::Ints;
};

// How ONNX spells the canonical ops.
class OnnxMap {
 public:
  // An attribute that versions from `since` on, and before `until` (0: all), cannot do without.
  struct NeededAttribute {
    std::string_view name;
    int64_t since, until;
  };
  struct Entry {
    OpId op{};
    ImportFunction import = nullptr;  // null: same inputs, outputs and attribute names in every version
    std::vector<NeededAttribute> needed{};
    std::vector<std::string_view> lacking{};

    // Sub-graphs are checked where they are read.
    Entry& needs(std::string_view attribute, int64_t since = 1, int64_t until = 0) {
      needed.push_back({attribute, since, until});
      return *this;
    }
    // A parameter of the canonical op that this ONNX op has no attribute for; other ops of its name may have one.
    Entry& lacks(std::string_view attribute) {
      lacking.push_back(attribute);
      return *this;
    }
    // An error when the node lacks an attribute that its version needs, or has one that the op lacks.
    Status check_attributes(const ImportNode& node) const;
  };
  // The ONNX op has the canonical op's inputs, outputs and attributes, in every version.
  Entry& same(std::string_view domain, std::string_view op_type, OpId op);
  // The function reads the node (of any version) and emits canonical nodes.
  Entry& custom(std::string_view domain, std::string_view op_type, OpId op, ImportFunction import);

  // The way back. A canonical node is written in each form that may be right until one is read as this node again: as
  // an edit says; as the ONNX op of its own name with the same inputs and attributes; with these inputs as attributes.
  void attribute_inputs(OpId op, std::vector<AttributeInput> inputs);
  void way_back(OpId op, std::string_view domain, std::string_view op_type, DraftFunction edit);
  // Outputs that the ONNX op always has, where the canonical op need not.
  void least_outputs(OpId op, size_t count) { ways_back_[op].least_outputs = count; }
  // The attributes that hold the bodies, in the order of the bodies. Nodes with bodies are not read again: an op that
  // is written differently by version has an edit that tells.
  void bodies(OpId op, std::vector<std::string_view> attributes);

  const Entry* find(std::string_view domain, std::string_view op_type) const;
  // Those that have an op of this name, the default one first.
  std::vector<std::string_view> domains(std::string_view op_type) const;
  struct WayBack {
    std::string_view domain, op_type;
    DraftFunction edit;
  };
  struct WaysBack {
    std::vector<AttributeInput> attribute_inputs;
    std::vector<WayBack> edits;
    std::vector<std::string_view> bodies;
    size_t least_outputs = 1;
  };
  const WaysBack& ways_back(OpId op) const;
  size_t size() const { return entries_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  std::map<OpId, WaysBack> ways_back_;
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
