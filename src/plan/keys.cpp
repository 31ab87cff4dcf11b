#include "plan/keys.h"

#include "plan/bytes.h"
#include "plan/plan_bytes.h"

namespace tenon {

Hash128 plan_key(std::string_view program_bytes) { return hash_bytes(program_bytes); }

Hash128 plan_key(const Program& program) { return plan_key(program_to_bytes(program)); }

Hash128 packed_key(const Program& program, const WeightEntry& entry, std::span<const Hash128> contents) {
  ByteWriter out;
  out.put_block(entry.expression ? plan_to_bytes(*entry.expression) : std::string());
  out.put_block(entry.layout);
  out.put_count(entry.sources.size());
  for (const int32_t id : entry.sources) {
    const SourceInfo& source = program.sources[static_cast<size_t>(id)];
    out.put_block(dtype_name(source.dtype));
    out.put_list(source.dims);
    out.put_hash(contents[static_cast<size_t>(id)]);
  }
  return hash_bytes(out.bytes());
}

}  // namespace tenon
