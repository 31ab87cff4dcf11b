#pragma once

#include <vector>

#include "wire/onnx_model.h"

namespace tenon::fuzz {

// Every message of a model that a mutation may change, whatever it is nested in.
struct ModelParts {
  std::vector<wire::Graph*> graphs;
  std::vector<std::vector<wire::Node>*> node_lists;
  std::vector<wire::Node*> nodes;
  std::vector<std::vector<wire::Attribute>*> attribute_lists;
  std::vector<wire::Attribute*> attributes;
  std::vector<wire::TensorProto*> tensors;
  std::vector<std::vector<wire::ValueInfo>*> value_lists;
  std::vector<wire::TypeProto*> types;
  std::vector<wire::OpsetImport*> opsets;
  std::vector<wire::Bytes> names;    // of values
  std::vector<wire::Bytes> strings;  // in attributes
};

// Also marks every message as edited, so that all of them are written from their fields.
ModelParts parts_of(wire::Model& model);

}  // namespace tenon::fuzz
