#pragma once

#include <string>

namespace tenon {

// The id that the linker gave the program or library with this address: in hex, another one for every build. "" when
// it gave none.
std::string build_id_at(const void* address);

// Of what this folder is linked into.
std::string own_build_id();

}  // namespace tenon
