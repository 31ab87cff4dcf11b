#include <cstdlib>

#include "plan/plan_bytes.h"

// Reads any bytes as a program; what can be read must write and read again to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto program = program_from_bytes(bytes);
  if (!program.ok()) return 0;
  const std::string written = program_to_bytes(**program);
  const auto again = program_from_bytes(written, debug_map_to_bytes(**program));
  if (!again.ok() || program_to_bytes(**again) != written) std::abort();
  return 0;
}
