#include "tensor/not_finite.h"

#include <algorithm>

namespace tenon {

namespace {

// All exponent bits set. A plain loop without branches inside a block, which compilers turn into vector code.
template <class Bits>
bool any_with_exponent(const TensorView& view, Bits exponent) {
  constexpr size_t kBlock = 4096;
  const auto elements = view.as<const Bits>();
  for (size_t begin = 0; begin < elements.size(); begin += kBlock) {
    const size_t end = std::min(elements.size(), begin + kBlock);
    Bits found = 0;
    for (size_t i = begin; i < end; ++i) found |= (elements[i] & exponent) == exponent ? Bits{1} : Bits{0};
    if (found) return true;
  }
  return false;
}

}  // namespace

bool has_not_finite(const TensorView& view) {
  switch (view.dtype) {
    case DType::Float32:
      return any_with_exponent<uint32_t>(view, 0x7f800000u);
    case DType::Float16:
      return any_with_exponent<uint16_t>(view, 0x7c00);
    case DType::BFloat16:
      return any_with_exponent<uint16_t>(view, 0x7f80);
    case DType::Float64:
      return any_with_exponent<uint64_t>(view, 0x7ff0000000000000ull);
    default:
      return false;
  }
}

}  // namespace tenon
