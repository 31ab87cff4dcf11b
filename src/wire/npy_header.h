#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

// The header of a .npy file; for src/wire only.
namespace tenon::wire {

// As NumPy itself has it.
inline constexpr size_t kMaxNpyRank = 64;

struct NpyHeader {
  char kind = 0;           // b i u f c U S V, as NumPy has them
  int64_t item_bytes = 0;  // of one element
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;
};

Result<NpyHeader> parse_npy_header(std::string_view bytes);
// Magic, version and dictionary, padded so that the elements start at a multiple of 64.
std::string make_npy_header(std::string_view descr, const std::vector<int64_t>& shape);

}  // namespace tenon::wire
