#pragma once

#include <memory>
#include <string>

#include "build/compiler.h"

namespace tenon::build {

// The compiler of this name or alias. tenon::Error with TN_INVALID_ARGUMENT when there is none, with TN_UNSUPPORTED and
// the reason when it cannot be used here.
std::unique_ptr<Compiler> make_compiler(const std::string& name);

}  // namespace tenon::build
