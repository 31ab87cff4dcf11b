#pragma once

#include <string>

#include "base/status.h"

namespace tenon {

// How a file came to have the bytes of another one.
enum class Cloned { Reflink, HardLink, Copy };

// Gives `to`, which must not exist, the bytes of the regular file `from`, with as few bytes written as the file system
// allows. A hard link is the same file: whoever uses `to` later must check that nobody has written to it.
Result<Cloned> clone_or_link_file(const std::string& from, const std::string& to);

}  // namespace tenon
