#include <cstdlib>

#include "wire/onnx_tensor.h"
#include "wire/onnx_write.h"

// Reads any bytes as a model; what can be read must write and read again to the same bytes, and every tensor in it
// decodes or is refused.
namespace {

using namespace tenon;
using namespace tenon::wire;

void require(bool condition) {
  if (!condition) std::abort();
}

void decode(const TensorProto& tensor) {
  const auto decoded = decode_tensor(tensor, nullptr, nullptr);
  // Elements come from the file, so they are bounded by it; strings by one object for two bytes.
  if (decoded.ok() && decoded->dtype() != DType::String) require(decoded->bytes() <= int64_t{8} << 20);
}

void decode(const SparseTensorProto& sparse) { (void)densify(sparse, nullptr, nullptr, 1 << 16); }

void decode(const Graph& graph);
void decode(const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    for (const TensorProto& tensor : attribute.tensors) decode(tensor);
    for (const SparseTensorProto& sparse : attribute.sparse_tensors) decode(sparse);
    for (const auto& graph : attribute.graphs) decode(*graph);
  }
}

void decode(const Graph& graph) {
  for (const TensorProto& tensor : graph.initializers) decode(tensor);
  for (const SparseTensorProto& sparse : graph.sparse_initializers) decode(sparse);
  for (const Node& node : graph.nodes) decode(node.attributes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  ParseLimits limits;
  limits.max_messages = 1'000'000;
  if (const auto tensor = parse_tensor(bytes); tensor.ok()) decode(*tensor);
  const auto model = parse_model(bytes, limits);
  if (!model.ok()) return 0;
  const auto written = write_model(*model);
  require(written.ok());
  const auto again = parse_model(*written, limits);
  require(again.ok());
  require(write_model(*again).value() == *written);
  decode(model->graph);
  for (const Function& function : model->functions)
    for (const Node& node : function.nodes) decode(node.attributes);
  return 0;
}
