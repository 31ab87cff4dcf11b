#pragma once

#include <string_view>

// How the EPContext operator of com.microsoft calls its parts.
namespace tenon::context_names {

inline constexpr std::string_view kOpType = "EPContext", kDomain = "com.microsoft";
inline constexpr std::string_view kTenon = "tenon";

inline constexpr std::string_view kSource = "source";         // who made it
inline constexpr std::string_view kMain = "main_context";     // 1: the node holds the whole context
inline constexpr std::string_view kEmbedMode = "embed_mode";  // 1: kData is the context, 0: the name of its file
inline constexpr std::string_view kData = "ep_cache_context";
inline constexpr std::string_view kPartition = "partition_name";
inline constexpr std::string_view kVersion = "ep_sdk_version";
inline constexpr std::string_view kArchitecture = "hardware_architecture";
inline constexpr std::string_view kSourceModel = "onnx_model_filename";
inline constexpr std::string_view kNotes = "notes";

// The key, in the metadata of the context model, of how its comparison with the source ended.
inline constexpr std::string_view kValidation = "tenon.validation";

}  // namespace tenon::context_names
