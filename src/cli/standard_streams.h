#pragma once

#include <string_view>

namespace cli {

// Opens /dev/null in the place of closed standard streams, so that no file gets their numbers. Call first in main.
void occupy_standard_streams();
bool stdout_was_closed();

// False, with errno, when the descriptor does not take it all.
bool write_all(int descriptor, std::string_view text);

}  // namespace cli
