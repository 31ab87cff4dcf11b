#pragma once

#include <string>

namespace cli {

// A message of a build with the flags of `tenon compile` where the library speaks of its options.
std::string in_words_of_flags(std::string message);

}  // namespace cli
