#pragma once

#include <string>

// Other compilers on this machine, found by looking at files alone: no program is started for it.
namespace tenon::build {

// Of the onnxruntime package that the python3 on the PATH would import; "" when there is none.
std::string python_onnxruntime_version();
// The path of libonnxruntime.so where the linker would look for it; "" when it is not there.
std::string onnxruntime_library();
// What is missing in a folder for it to be a Qualcomm AI Runtime SDK; "" when nothing is.
std::string missing_of_qairt(const std::string& folder);

}  // namespace tenon::build
