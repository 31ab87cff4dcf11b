#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// Reading JSON that this library wrote itself: what is missing or of another kind reads as nothing, so lookups chain.
namespace tenon::build {

using Json = nlohmann::ordered_json;

const Json& member(const Json& object, std::string_view key);
std::string text_in(const Json& object, std::string_view key);
int64_t integer_in(const Json& object, std::string_view key);
double number_in(const Json& object, std::string_view key);
bool flag_in(const Json& object, std::string_view key);
// An empty list when there is none.
const Json& list_in(const Json& object, std::string_view key);

// "0.5", "3", "oak", "true", "[a, b]", "-": a value as people read it.
std::string plain_text(const Json& value);
// "oak, ash and 3 more": the members of a list.
std::string joined_text(const Json& list, const char* separator = ", ", size_t most = SIZE_MAX);
// Indented; text that is not UTF-8 is replaced, numbers that are not finite become null.
std::string dump(const Json& value);

}  // namespace tenon::build
