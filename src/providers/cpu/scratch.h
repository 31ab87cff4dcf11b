#pragma once

#include <cstdint>

namespace tenon {

// Working memory of a chunk: a few blocks of floats on the calling thread, aligned to 64 bytes, valid until the next
// call on this thread. Every thread keeps one piece of kScratchFloats, whatever the model; a chunk must not ask for
// more, nor run another kernel meanwhile.
inline constexpr int64_t kScratchFloats = 64 * 1024;
float* scratch_floats();

}  // namespace tenon
