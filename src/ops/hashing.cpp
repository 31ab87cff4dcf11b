#include "ops/hashing.h"

#include "ops/infer.h"

namespace tenon {

template <>
OpDef op_definition<OpId::MurmurHash3>() {
  return define<MurmurHash3Params>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = [](InferContext& c) {
                                      constexpr TypeSet allowed{DType::Int32,  DType::UInt32,  DType::Int64,
                                                                DType::UInt64, DType::Float32, DType::Float64,
                                                                DType::String};
                                      TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
                                      const bool positive = c.params<MurmurHash3Params>().positive;
                                      c.out(0, positive ? DType::UInt32 : DType::Int32, c.in(0).shape);
                                      return Status();
                                    }});
}

}  // namespace tenon
