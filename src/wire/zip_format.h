#pragma once

#include <cstdint>

// Facts of the zip format, shared by reader and writer.
namespace tenon::wire::zip {

inline constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
inline constexpr uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
inline constexpr uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56;
inline constexpr uint64_t kEnd64LocatorBytes = 20;
inline constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
inline constexpr uint16_t kExtra64 = 1;        // the extra field of 64-bit sizes
inline constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the number is in that field
inline constexpr uint16_t kEntriesIn64 = 0xFFFF;

}  // namespace tenon::wire::zip
