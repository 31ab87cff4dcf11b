#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::build {

// Whether the bytes are text as ONNX and JSON have it.
bool is_utf8(std::string_view text);
// The text with control characters made visible. Line ends stay.
std::string printable(std::string_view text);
// "7.0 KiB".
std::string human_bytes(int64_t bytes);
// "12.3 ms".
std::string human_seconds(double seconds);
// "<file>: <message>", with the file once.
std::string in_file(const std::string& file, const std::string& message);

}  // namespace tenon::build
