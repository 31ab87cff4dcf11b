#pragma once

#include <string>

// Some of it is in build/input_files.h as well: the command is made of the public interface, which is not the place for
// questions about files of the machine.
namespace cli {

// Whether two paths lead to one file. Files that do not exist yet are compared by their full names.
bool same_file(const std::string& a, const std::string& b);

// "" for a folder that is there, else why it is not: "there is no folder 'x'", "'x' cannot be reached: ...".
// The current folder for "".
std::string folder_problem(const std::string& folder);

}  // namespace cli
