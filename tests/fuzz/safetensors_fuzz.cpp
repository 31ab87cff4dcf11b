#include <cstdlib>

#include "wire/safetensors.h"

// Reads any bytes as a safetensors file; every tensor in it lies inside the file or is refused.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = wire::SafetensorsFile::parse(bytes, nullptr);
  if (!file.ok()) return 0;
  for (const auto& entry : file->entries()) {
    const auto tensor = file->read(entry);
    if (tensor.ok() && tensor->bytes() > static_cast<int64_t>(size)) std::abort();
    if (file->find(entry.name) == nullptr) std::abort();
  }
  return 0;
}
