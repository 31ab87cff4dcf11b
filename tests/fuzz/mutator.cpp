#include <cstring>

#include "model_mutation.h"
#include "wire/onnx_write.h"

// libFuzzer's hooks: most changes are made to the model that the bytes hold, the rest to the bytes.
using namespace tenon;
using namespace tenon::wire;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

Bytes view(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// 0 when the model cannot be written or is too large.
size_t write(const Model& model, uint8_t* out, size_t max_size) {
  const auto written = write_model(model);
  if (!written.ok() || written->empty() || written->size() > max_size) return 0;
  std::memcpy(out, written->data(), written->size());
  return written->size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  // Views into `data` must not change under the writer's hands.
  const std::string copy(view(data, size));
  auto model = parse_model(copy);
  if (!model.ok() || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  MessageBuilder strings;
  fuzz::ModelMutation mutation(strings, seed);
  for (unsigned changes = 1 + seed / 16 % 3; changes-- > 0;) mutation.change(*model);
  const size_t written = write(*model, data, max_size);
  return written ? written : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2, size_t size2,
                                            uint8_t* out, size_t max_out_size, unsigned int seed) {
  auto model = parse_model(view(data1, size1));
  auto other = parse_model(view(data2, size2));
  if (!model.ok() || !other.ok()) return 0;
  MessageBuilder strings;
  fuzz::ModelMutation(strings, seed).cross(*model, *other);
  return write(*model, out, max_out_size);
}
