#include "providers/cpu/scratch.h"

#include <memory>
#include <new>

namespace tenon {

namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(float* data) const { ::operator delete[](data, kAlignment); }
};

}  // namespace

float* scratch_floats() {
  thread_local const std::unique_ptr<float[], Free> memory(new (kAlignment) float[kScratchFloats]);
  return memory.get();
}

}  // namespace tenon
