#pragma once

#include <string>

#include "base/status.h"

namespace tenon {

// What a mode of stat says a file is: "a regular file", "a folder", "a symbolic link", "a named pipe", "a device",
// "a socket".
const char* file_kind(unsigned mode);

// Whether a new file may take a name in an opened folder (or AT_FDCWD): nothing has the name, or a regular file does.
// Everything that puts a file under its name asks this first. A link is refused like folders, pipes and devices:
// whoever wants the file it leads to replaced can name that one. `path` is for the message.
Status check_replaceable(int folder, const std::string& name, const std::string& path);
Status check_replaceable(const std::string& path);

}  // namespace tenon
