#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tenon {

// The weights files that the context nodes of an ONNX model name; none for other models, and for weights that are
// embedded. Walks the structure of the file only, whatever its size, and trusts nothing else in it: who deletes what
// nobody names must not overlook a name because something beside it is damaged. InvalidModel when the bytes are no
// model that can be walked from end to end.
Result<std::set<std::string>> weights_named_in(std::string_view model);

}  // namespace tenon
