#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/nesting.h"
#include "base/status.h"

// ONNX messages as views into the bytes they were read from. Nothing is copied; the bytes must outlive the views.
// `raw` is the message as it was read: an untouched message is written back from it. Whoever edits a message sets
// its `raw` and that of every message around it to {} (not Graph and Model, whose `raw` is informational: they are
// always written from their fields). Fields that are not decoded here, unknown ones too, are kept as bytes in `other`,
// so that reading and writing loses nothing. A string field is present when its view has a data pointer.
namespace tenon::wire {

using Bytes = std::string_view;
// Encoded fields (key and value), in the order of the file.
using Pieces = std::vector<Bytes>;

struct StringEntry {
  Bytes key, value;
  Bytes raw = {};
};

struct TensorProto {
  Bytes raw;
  Bytes name;
  int64_t data_type = 0;
  std::vector<int64_t> dims;
  std::optional<Bytes> raw_data;
  bool is_external = false;
  bool has_segment = false;
  std::vector<StringEntry> external_data;
  Pieces other;  // the typed data fields (float_data, ...), doc_string, metadata, segment
};

struct SparseTensorProto {
  Bytes raw;
  TensorProto values, indices;
  std::vector<int64_t> dims;
  Pieces other;
};

struct DimensionProto {
  std::optional<int64_t> value;
  std::optional<Bytes> param;
  Pieces other;  // denotation
};

// What a dimension stands for ("DATA_BATCH"), if the file says so.
Bytes denotation(const DimensionProto& dim);

// tensor, sparse tensor: elem_type and shape; sequence, optional: element; map: key_type and element.
struct TypeProto {
  enum class Kind { None, Tensor, Sparse, Sequence, Map, Optional, Opaque };
  Bytes raw;
  Kind kind = Kind::None;
  int64_t elem_type = 0;
  std::optional<std::vector<DimensionProto>> shape;
  int64_t key_type = 0;
  std::shared_ptr<TypeProto> element;
  Pieces other;        // denotation, the whole field of an opaque type
  Pieces kind_other;   // unknown fields of the message inside (Tensor, Sequence, ...)
  Pieces shape_other;  // unknown fields of the shape
};

struct ValueInfo {
  Bytes raw;
  Bytes name, doc;
  TypeProto type;
  bool has_type = false;
  Pieces other;  // metadata
};

struct Graph;

enum class AttributeType : int {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  TypeProto = 13,
  TypeProtos = 14,
};

struct Attribute {
  Bytes raw;
  Bytes name, ref_attr_name;
  AttributeType type =
      AttributeType::Undefined;  // inferred from the fields present when the file (IR < 2) leaves it out
  float f = 0;
  int64_t i = 0;
  Bytes s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<Bytes> strings;
  std::vector<TensorProto> tensors;  // one for Tensor
  std::vector<SparseTensorProto> sparse_tensors;
  std::vector<std::shared_ptr<Graph>> graphs;  // one for Graph
  std::vector<TypeProto> types;
  Pieces other;  // doc_string, and value fields that do not belong to the type
};

struct Node {
  Bytes raw;
  Bytes name, op_type, domain, overload;
  std::vector<Bytes> inputs, outputs;
  std::vector<Attribute> attributes;
  Pieces other;  // doc_string, metadata, device configurations
};

// What a node's metadata says under a key, if anything.
std::optional<Bytes> metadata_of(const Node& node, Bytes key);

struct Graph {
  Bytes raw;
  Bytes name, doc;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseTensorProto> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs, value_infos;
  std::vector<Bytes> quantization_annotations;  // raw messages
  std::vector<StringEntry> metadata;
  Pieces other;
};

struct OpsetImport {
  Bytes domain;
  int64_t version = 0;
  Bytes raw = {};
};

struct Function {
  Bytes raw;
  Bytes name, domain, overload, doc;
  std::vector<Bytes> inputs, outputs, attribute_names;
  std::vector<Attribute> attribute_defaults;
  std::vector<Node> nodes;
  std::vector<OpsetImport> opsets;
  std::vector<ValueInfo> value_infos;
  Pieces other;  // metadata
};

struct Model {
  Bytes raw;
  int64_t ir_version = 0;
  Bytes producer_name, producer_version, domain, doc;
  std::optional<int64_t> model_version;
  std::vector<OpsetImport> opsets;
  Graph graph;
  bool has_graph = false;
  std::vector<StringEntry> metadata;
  std::vector<Function> functions;
  std::vector<Bytes> training_info;  // raw messages
  Pieces other;                      // device configurations
};

struct ParseLimits {
  int max_nesting = kDefaultNesting;  // graphs in nodes of graphs, sequences of sequences; at most kMostNesting
  int64_t max_nodes = 10'000'000;     // over the whole model
  int64_t max_messages = 50'000'000;  // nodes, attributes, tensors, types, ...: bounds memory for tiny messages
};

// Reads a whole model. A wrong wire type, an overlong varint, a bad length or invalid nesting is an invalid model.
Result<Model> parse_model(Bytes bytes, const ParseLimits& limits = {});
// A single TensorProto file (.pb), as the ONNX test data has them.
Result<TensorProto> parse_tensor(Bytes bytes);

}  // namespace tenon::wire
