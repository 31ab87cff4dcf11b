#pragma once

#include <string>
#include <vector>

namespace tenon::build {

// Whether two paths lead to one file. Files that do not exist yet are compared by their full names.
bool same_file(const std::string& a, const std::string& b);

// The files beside an ONNX model that hold its external data, in the order they are named; none for other files.
std::vector<std::string> external_files(const std::string& model);

// The first of `inputs`, or of the files their models refer to, that writing `output` would replace; "" when none is.
std::string replaced_input(const std::string& output, const std::vector<std::string>& inputs);

// "" for a folder that is there, else why it is not: "there is no folder 'x'", "'x' cannot be reached: ...".
// The current folder for "".
std::string folder_problem(const std::string& folder);

}  // namespace tenon::build
