#pragma once

#include <span>
#include <string>

#include "tensor/tensor.h"
#include "wire/npy_header.h"
#include "wire/proto_writer.h"

// Fixed-width text of NumPy arrays; for src/wire only.
namespace tenon::wire {

// Elements of kind U (little-endian UTF-32) or S; data holds exactly `elements` of them.
Result<Tensor> parse_fixed_text(const NpyHeader& header, int64_t elements, Bytes data,
                                const std::shared_ptr<MemoryBudget>& budget);
// Little-endian UTF-32, each string padded to the longest, whose length is set (at least 1).
Result<std::string> to_fixed_text(std::span<const std::string> strings, int64_t& characters);

}  // namespace tenon::wire
