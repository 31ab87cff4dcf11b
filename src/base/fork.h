#pragma once

#include <cstdint>

namespace tenon {

// How many forks lie between the start of the program and this process. Threads, and locks that were held, do not come
// along with a fork, so what was made under another number cannot be used. Cheap enough to ask in every run.
uint64_t fork_count();

}  // namespace tenon
