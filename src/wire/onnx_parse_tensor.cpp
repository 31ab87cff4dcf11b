#include "wire/onnx_fields.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

TensorProto Parser::tensor(Bytes bytes) {
  using namespace field::tensor;
  TensorProto tensor;
  tensor.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kDims:
        for_each_varint(field, [&](uint64_t v) { tensor.dims.push_back(static_cast<int64_t>(v)); });
        break;
      case kDataType:
        tensor.data_type = field.int32();
        break;
      case kName:
        tensor.name = parse_name(field);
        break;
      case kRawData:
        tensor.raw_data = field.bytes();
        break;
      case kExternalData:
        append(tensor.external_data, "external_data", [&] { return parse_entry(field.bytes()); });
        break;
      case kDataLocation:
        tensor.is_external = field.int32() == kExternalLocation;
        if (!tensor.is_external) keep(tensor.other, field);
        break;
      case kSegment:
        tensor.has_segment = true;
        keep(tensor.other, field);
        break;
      default:
        keep(tensor.other, field);
    }
  }
  return tensor;
}

SparseTensorProto Parser::sparse_tensor(Bytes bytes) {
  using namespace field::sparse_tensor;
  SparseTensorProto sparse;
  sparse.raw = bytes;
  bool has_values = false, has_indices = false;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kValues:
        if (std::exchange(has_values, true)) throw_given_twice("values");
        sparse.values = at("values", -1, [&] { return tensor(field.bytes()); });
        break;
      case kIndices:
        if (std::exchange(has_indices, true)) throw_given_twice("indices");
        sparse.indices = at("indices", -1, [&] { return tensor(field.bytes()); });
        break;
      case kDims:
        for_each_varint(field, [&](uint64_t v) { sparse.dims.push_back(static_cast<int64_t>(v)); });
        break;
      default:
        keep(sparse.other, field);
    }
  }
  return sparse;
}

}  // namespace tenon::wire
