#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon {

enum class Capability : uint8_t {
#define CAPABILITY(id, name, group, default_state, exactness, description) id,
#include "passes/capabilities.def"
#undef CAPABILITY
};

enum class Exactness : uint8_t {
  Exact,     // the reference interpreter gives the same bits
  Rounding,  // results differ by rounding, within the derived tolerance
};

struct CapabilityInfo {
  enum class Default : uint8_t { Off, On };

  Capability id;
  std::string_view name, group;
  Default default_state;
  Exactness exactness;
  std::string_view description;
};

std::span<const CapabilityInfo> all_capabilities();
const CapabilityInfo& capability_info(Capability capability);
std::optional<Capability> capability_from_name(std::string_view name);

// Which capabilities are on.
class CapabilitySet {
 public:
  // Those of the normal form.
  static CapabilitySet defaults();

  bool has(Capability c) const { return bits_[static_cast<size_t>(c)]; }
  void set(Capability c, bool on) { bits_[static_cast<size_t>(c)] = on; }
  bool contains(const CapabilitySet& other) const { return (other.bits_ & ~bits_).none(); }
  friend bool operator==(const CapabilitySet&, const CapabilitySet&) = default;

 private:
  std::bitset<64> bits_;
};

// The defaults with some capabilities switched by name. An unknown name is an error that lists the nearest.
Result<CapabilitySet> chosen_capabilities(std::span<const std::string> enable, std::span<const std::string> disable);

}  // namespace tenon
