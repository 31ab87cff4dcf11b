#pragma once

#include <cstdint>

// Field numbers of the ONNX protobuf messages, shared by reader and writer.
namespace tenon::wire::field {

namespace model {
enum : uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kDoc = 6,
  kGraph = 7,
  kOpset = 8,
  kMetadata = 14,
  kTrainingInfo = 20,
  kFunction = 25,
};
}
namespace graph {
enum : uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kDoc = 10,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kQuantization = 14,
  kSparseInitializer = 15,
  kMetadata = 16,
};
}
namespace node {
enum : uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDoc = 6,
  kDomain = 7,
  kOverload = 8,
  kMetadata = 9
};
}
namespace attribute {
enum : uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kType = 14,
  kTypes = 15,
  kAttributeType = 20,
  kRefAttrName = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
}
namespace tensor {
enum : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUInt64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};
inline constexpr int32_t kExternalLocation = 1;
}  // namespace tensor
namespace sparse_tensor {
enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
}
namespace type {
enum : uint32_t { kTensor = 1, kSequence = 4, kMap = 5, kOpaque = 7, kSparseTensor = 8, kOptional = 9 };
// Inside the kinds: tensors have an element type and a shape, the others an element (after a key for maps).
enum : uint32_t { kElementType = 1, kShape = 2, kElement = 1, kKeyType = 1, kMapValue = 2 };
}  // namespace type
namespace shape {
enum : uint32_t { kDim = 1 };
enum : uint32_t { kDimValue = 1, kDimParam = 2, kDimDenotation = 3 };
}  // namespace shape
namespace value_info {
enum : uint32_t { kName = 1, kType = 2, kDoc = 3 };
}
namespace opset {
enum : uint32_t { kDomain = 1, kVersion = 2 };
}
namespace entry {
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace function {
enum : uint32_t {
  kName = 1,
  kInput = 4,
  kOutput = 5,
  kAttributeName = 6,
  kNode = 7,
  kDoc = 8,
  kOpset = 9,
  kDomain = 10,
  kAttributeDefault = 11,
  kValueInfo = 12,
  kOverload = 13,
};
}

}  // namespace tenon::wire::field
