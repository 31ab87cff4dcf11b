#pragma once

#include <optional>

#include "plan/bytes.h"
#include "tensor/type.h"

// Types as bytes. Dtypes are named, symbolic dims are in their text form.
namespace tenon {

void write_type(const Type& type, StringTableWriter& strings, ByteWriter& out);

// Reads types over one string table, and every text of a dim only once.
class TypeReader {
 public:
  explicit TypeReader(const StringTable& strings) : strings_(strings), dims_(strings.size()) {}
  Result<Type> read(ByteReader& in, int nesting = 0);
  // A dtype by its name; Undefined only where it may be.
  Result<DType> read_dtype(ByteReader& in, bool may_be_undefined);

 private:
  Result<Dim> read_dim(ByteReader& in);

  const StringTable& strings_;
  std::vector<std::optional<Dim>> dims_;  // by string
};

}  // namespace tenon
